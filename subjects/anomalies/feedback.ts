/** Users' feedback about anomalies adjusts the threshold for similar anomalies in the same series. */

import type { AnomalyFeedback, AnomalyMark } from '../../schemas/resources/anomaly-feedback.ts';
import type { Direction } from './scores/anomaly-text.ts';

/**
 * Required size of a change, relative to a false one: after the first, which may be chance, and after more similar
 * ones.
 */
const beyond = { once: 0.9, again: 2 };
/** A change above this fraction of a true one is relevant. */
const below = 0.8;
/** Factor by which a true anomaly raises the allowed number of similar ones, at most three times. */
const more = 2;
const maxDoublings = 3;

export interface Moved {
  /** Minimum relevant change, and the factor of the allowed false alarms. */
  readonly minChange: Readonly<Record<Direction, number>>;
  readonly factor: Readonly<Record<Direction, number>>;
}

const ofDirection = (marks: readonly AnomalyMark[]): { minChange: number; factor: number } => {
  let [minChange, falses, trues] = [0, 0, 0];
  for (const { verdict, change } of marks.toSorted((one, other) => one.atMs - other.atMs)) {
    const size = Math.abs(change);
    if (verdict === 'false') {
      falses++;
      minChange = Math.max(minChange, size * (falses === 1 ? beyond.once : beyond.again));
    } else {
      trues++;
      falses = 0;
      minChange = Math.min(minChange, below * size);
    }
  }
  return { minChange, factor: more ** Math.min(maxDoublings, trues) };
};

/** Returns the adjustments from the marks of a series. Without marks nothing changes. */
export const adjustmentsOf = (feedback: Pick<AnomalyFeedback, 'marks'> | undefined): Moved => {
  const of = (direction: Direction) =>
    ofDirection((feedback?.marks ?? []).filter((mark) => mark.direction === direction));
  const [up, down, other] = [of('up'), of('down'), of('other')];
  return {
    minChange: { up: up.minChange, down: down.minChange, other: other.minChange },
    factor: { up: up.factor, down: down.factor, other: other.factor },
  };
};
