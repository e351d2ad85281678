/**
 * Deltas as counters. A counter grows within an hour (UTC) and begins anew with the next, so that it is the same for every query,
 * whatever its range: what was before the hour does not count. An hour that follows one with points begins with a 0 of its own, so that
 * a reset is always seen, and functions of counters give exactly what was added.
 */
const hourMs = 3_600_000;

/** The hour to which a point counts: it says what was added until its time. */
const hourOf = (timeMs: number): number => Math.ceil(timeMs / hourMs);

const staleBits = new Float64Array(new BigUint64Array([0x7ff0000000000002n]).buffer);

/** The mark of a series that ended. Assign it from array to array alone, since its bits matter. */
export const stale: Float64Array = staleBits;

const words = new Float64Array(1);
const wordsAsBits = new BigUint64Array(words.buffer);

export const isStale = (values: Float64Array, at: number): boolean => {
  const value = values[at] as number;
  if (!Number.isNaN(value)) return false;
  words.set(values.subarray(at, at + 1));
  return wordsAsBits[0] === 0x7ff0000000000002n;
};

export interface Points {
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** Counters of deltas. The first hour is there to see whether the second follows one; leave out what was made of it. */
export const cumulative = ({ times, values }: Points): Points => {
  const outTimes = new Float64Array(times.length * 2);
  const outValues = new Float64Array(times.length * 2);
  let size = 0;
  let sum = 0;
  let hour = Number.NaN;
  for (let at = 0; at < times.length; at++) {
    const time = times[at] as number;
    const own = hourOf(time);
    if (own !== hour) {
      const begins = (own - 1) * hourMs + 1;
      if (own === hour + 1 && begins < time) {
        outTimes[size] = begins;
        outValues[size++] = 0;
      }
      hour = own;
      sum = 0;
    }
    outTimes[size] = time;
    if (isStale(values, at)) outValues.set(stale, size++);
    else {
      sum += values[at] as number;
      outValues[size++] = sum;
    }
  }
  return { times: outTimes.subarray(0, size), values: outValues.subarray(0, size) };
};

/** Whether the second point begins a new counter. */
export const startsNewCounter = (beforeMs: number, timeMs: number): boolean => hourOf(beforeMs) !== hourOf(timeMs);
