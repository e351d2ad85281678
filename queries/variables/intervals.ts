/** Durations in interval variables, and steps that fit a range. */
import { createValidationError } from '../errors.ts';

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  M: 2_592_000_000,
  y: 31_536_000_000,
};

/** Returns the milliseconds of `30s`, `5m` and the like. */
export const parseIntervalMs = (text: string): number => {
  const [, amount = '', unit = ''] = /^(\d{1,9})(ms|[smhdwMy])$/.exec(text) ?? [];
  const length = Number(amount) * (units[unit] ?? 0);
  if (length <= 0)
    throw createValidationError('variables', `${text} is not an interval: use a number and ms, s, m, h, d, w, M or y`);
  return length;
};

const { s: second = 0, m: minute = 0, h: hour = 0, d: day = 0 } = units;
const commonStepsMs = [1, 2, 5, 10, 20, 50, 100, 200, 500]
  .concat([1, 2, 5, 10, 15, 20, 30].map((count) => count * second))
  .concat([1, 2, 5, 10, 15, 20, 30].map((count) => count * minute))
  .concat([1, 2, 3, 6, 12].map((count) => count * hour))
  .concat([1, 7, 30, 365].map((count) => count * day));

/** Returns the common step nearest to a length, and at least the minimum. */
export const chooseStepMs = (ms: number, minMs: number): number => {
  if (ms <= minMs) return minMs;
  const nearestStepMs = commonStepsMs.reduce((best, step) =>
    Math.abs(Math.log(step / ms)) < Math.abs(Math.log(best / ms)) ? step : best,
  );
  return Math.max(nearestStepMs, minMs);
};
