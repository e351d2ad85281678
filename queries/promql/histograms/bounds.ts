import { boundFractions } from './exponential-bounds.ts';

/** Schema of histograms with custom bounds. */
export const customSchema = -53;

/** Returns the upper bound of an exponential bucket. The highest bucket ends with the highest finite value. */
export const computeExponentialBound = (index: number, schema: number): number => {
  if (schema < 0) {
    const exponent = index * 2 ** -schema;
    return exponent === 1024 ? Number.MAX_VALUE : 2 ** exponent;
  }
  const steps = 2 ** schema;
  const exponent = Math.floor(index / steps) + 1;
  const subindex = index - Math.floor(index / steps) * steps;
  const fraction = boundFractions[(subindex * 256) / steps] as number;
  if (fraction === 0.5 && exponent === 1025) return Number.MAX_VALUE;
  // In two steps, so that neither factor exceeds the range of numbers.
  return fraction * 2 ** Math.trunc(exponent / 2) * 2 ** (exponent - Math.trunc(exponent / 2));
};

/** Returns the upper bound of a bucket: +Inf for the last custom one, -Inf for the one before the first. */
export const getUpperBound = (index: number, schema: number, bounds: readonly number[]): number => {
  if (schema !== customSchema) return computeExponentialBound(index, schema);
  if (index >= bounds.length) return Number.POSITIVE_INFINITY;
  return index < 0 ? Number.NEGATIVE_INFINITY : (bounds[index] as number);
};

/** Returns the index of a bucket in a lower resolution. */
export const reduceIndex = (index: number, from: number, to: number): number =>
  Math.floor((index - 1) / 2 ** (from - to)) + 1;
