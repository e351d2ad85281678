/**
 * Converts deltas to counters. A counter grows within one hour (UTC) and restarts from 0 in the next hour. Values
 * before the hour do not matter, so the counter is equal for every query range. If the previous hour has points, the
 * hour begins with a point of value 0, so that the reset is visible and counter functions return the exact increase.
 */
const hourMs = 3_600_000;

/** Returns the hour of a point, which contains the increase up to its time. */
const toHourNumber = (timeMs: number): number => Math.ceil(timeMs / hourMs);

const staleBits = new Float64Array(new BigUint64Array([0x7ff0000000000002n]).buffer);

/** Marker of a series that ended. Assign it only from array to array, because its bits matter. */
export const staleMarker: Float64Array = staleBits;

const scratchValue = new Float64Array(1);
const scratchBits = new BigUint64Array(scratchValue.buffer);

export const isStale = (values: Float64Array, index: number): boolean => {
  const value = values[index] as number;
  if (!Number.isNaN(value)) return false;
  scratchValue.set(values.subarray(index, index + 1));
  return scratchBits[0] === 0x7ff0000000000002n;
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
  const resultTimes = new Float64Array(times.length * 2);
  const resultValues = new Float64Array(times.length * 2);
  let resultLength = 0;
  let sum = 0;
  let hour = Number.NaN;
  for (let index = 0; index < times.length; index++) {
    const time = times[index] as number;
    const pointHour = toHourNumber(time);
    if (pointHour !== hour) {
      const hourStartMs = (pointHour - 1) * hourMs + 1;
      if (pointHour === hour + 1 && hourStartMs < time) {
        resultTimes[resultLength] = hourStartMs;
        resultValues[resultLength++] = 0;
      }
      hour = pointHour;
      sum = 0;
    }
    resultTimes[resultLength] = time;
    if (isStale(values, index)) resultValues.set(staleMarker, resultLength++);
    else {
      sum += values[index] as number;
      resultValues[resultLength++] = sum;
    }
  }
  return { times: resultTimes.subarray(0, resultLength), values: resultValues.subarray(0, resultLength) };
};

/** Returns whether the second point starts a new counter. */
export const startsNewCounter = (previousMs: number, timeMs: number): boolean =>
  toHourNumber(previousMs) !== toHourNumber(timeMs);
