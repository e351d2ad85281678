/** Adjusts the thresholds for anomalies of a series by users' feedback about similar anomalies. */

import type { AnomalyFeedback, AnomalyMark } from '../../schemas/resources/anomaly-feedback.ts';
import type { Direction } from './scores/anomaly-text.ts';

/**
 * Factor from the size of a false alarm to the minimum size of a reported change: after the first false alarm, which
 * may be chance, and after further ones.
 */
const falseAlarmFactors = { once: 0.9, again: 2 };
/** A change above this fraction of a true alarm is always reported. */
const trueAlarmFactor = 0.8;
/** Factor by which each true alarm raises the allowed number of similar alarms, at most three times. */
const allowanceFactor = 2;
const maxAllowanceSteps = 3;

export interface ThresholdAdjustments {
  /** Minimum relevant change, and the factor of the allowed false alarms. */
  readonly minChange: Readonly<Record<Direction, number>>;
  readonly factor: Readonly<Record<Direction, number>>;
}

const computeAdjustment = (marks: readonly AnomalyMark[]): { minChange: number; factor: number } => {
  let [minChange, falseAlarms, trueAlarms] = [0, 0, 0];
  for (const { verdict, change } of marks.toSorted((left, right) => left.atMs - right.atMs)) {
    const size = Math.abs(change);
    if (verdict === 'false') {
      falseAlarms++;
      minChange = Math.max(minChange, size * (falseAlarms === 1 ? falseAlarmFactors.once : falseAlarmFactors.again));
    } else {
      trueAlarms++;
      falseAlarms = 0;
      minChange = Math.min(minChange, trueAlarmFactor * size);
    }
  }
  return { minChange, factor: allowanceFactor ** Math.min(maxAllowanceSteps, trueAlarms) };
};

/** Returns the adjustments from the marks of a series. Without marks nothing changes. */
export const computeAdjustments = (feedback: Pick<AnomalyFeedback, 'marks'> | undefined): ThresholdAdjustments => {
  const adjustDirection = (direction: Direction) =>
    computeAdjustment((feedback?.marks ?? []).filter((mark) => mark.direction === direction));
  const [up, down, other] = [adjustDirection('up'), adjustDirection('down'), adjustDirection('other')];
  return {
    minChange: { up: up.minChange, down: down.minChange, other: other.minChange },
    factor: { up: up.factor, down: down.factor, other: other.factor },
  };
};
