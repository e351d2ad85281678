/**
 * Converts deltas to counters. A counter grows within one hour (UTC) and restarts from 0 in the next hour. Values
 * before the hour do not matter, so the counter is equal for every query range. If the previous hour has points, the
 * hour begins with a point of value 0, so that the reset is visible and counter functions return the exact increase.
 */
const hourMs = 3_600_000;

/** Returns the hour of a point, which contains the increase up to its time. */
const hourNumber = (timeMs: number): number => Math.ceil(timeMs / hourMs);

const staleBits = new Float64Array(new BigUint64Array([0x7ff0000000000002n]).buffer);

/** Marker of a series that ended. Assign it only from array to array, because its bits matter. */
export const staleMarker: Float64Array = staleBits;

const words = new Float64Array(1);
const wordsAsBits = new BigUint64Array(words.buffer);

export const isStale = (values: Float64Array, at: number): boolean => {
  const value = values[at] as number;
  if (!Number.isNaN(value)) return false;
  words.set(values.subarray(at, at + 1));
  return wordsAsBits[0] === 0x7ff0000000000002n;
};

export interface FloatPoints {
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/**
 * Converts deltas to counters. The first hour is only needed to know whether an hour with points precedes the second;
 * discard its result.
 */
export const toCumulative = ({ times, values }: FloatPoints): FloatPoints => {
  const outTimes = new Float64Array(times.length * 2);
  const outValues = new Float64Array(times.length * 2);
  let size = 0;
  let sum = 0;
  let hour = Number.NaN;
  for (let at = 0; at < times.length; at++) {
    const time = times[at] as number;
    const pointHour = hourNumber(time);
    if (pointHour !== hour) {
      const hourStartMs = (pointHour - 1) * hourMs + 1;
      if (pointHour === hour + 1 && hourStartMs < time) {
        outTimes[size] = hourStartMs;
        outValues[size++] = 0;
      }
      hour = pointHour;
      sum = 0;
    }
    outTimes[size] = time;
    if (isStale(values, at)) outValues.set(staleMarker, size++);
    else {
      sum += values[at] as number;
      outValues[size++] = sum;
    }
  }
  return { times: outTimes.subarray(0, size), values: outValues.subarray(0, size) };
};

/** Returns whether the second point starts a new counter. */
export const startsNewCounter = (beforeMs: number, timeMs: number): boolean =>
  hourNumber(beforeMs) !== hourNumber(timeMs);
