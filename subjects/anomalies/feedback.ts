/** What people said of anomalies moves the threshold for what looks like them in the same series. */

import type { Direction } from '../../queries/anomalies/anomaly-text.ts';
import type { AnomalyFeedback, AnomalyMark } from '../../schemas/resources/anomaly-feedback.ts';

/** How large a change must be, in parts of one that was false: after the first, which may have been chance, and after more of its kind. */
const beyond = { once: 0.9, again: 2 };
/** A change that is so much of one that was no false alarm matters. */
const below = 0.8;
/** One that was no false alarm lets so many more through that look like it, three times at most. */
const more = 2;
const maxDoublings = 3;

export interface Moved {
  /** The least change that matters, and by what the false alarms that are allowed are multiplied. */
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

/** What the marks of a series come to. Without any nothing is moved. */
export const movedBy = (feedback: Pick<AnomalyFeedback, 'marks'> | undefined): Moved => {
  const of = (direction: Direction) =>
    ofDirection((feedback?.marks ?? []).filter((mark) => mark.direction === direction));
  const [up, down, other] = [of('up'), of('down'), of('other')];
  return {
    minChange: { up: up.minChange, down: down.minChange, other: other.minChange },
    factor: { up: up.factor, down: down.factor, other: other.factor },
  };
};
