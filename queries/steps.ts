/**
 * Steps of series. By default they begin at multiples of the step since the epoch, so that the series of several
 * queries align. Optionally the first step begins at the start of the range, so that it is not partial.
 */
import { z } from 'zod';
import { createValidationError } from './errors.ts';
import type { Range } from './range.ts';
import { parseDuration } from './time.ts';

/** Maximum number of steps: several times the pixel columns of a screen, and equal to Prometheus' limit. */
export const maxSteps = 11_000;
const msNs = 1_000_000n;

/** Parameter of the step of series. */
export const stepParameter = {
  step: z
    .string()
    .max(32)
    .optional()
    .describe('Length of a step: 30s, 5m, 1h …; default: a round one that gives about 60 to 150 steps'),
};

/** Round lengths in milliseconds: a second up to a week. */
const roundStepsMs = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 604_800,
].map((seconds) => seconds * 1000);
const defaultStepCount = 150;

/** Returns the requested step, or a round one for the range; in milliseconds, a multiple of `minMs`. */
export const resolveStepMs = (
  text: string | undefined,
  range: Range,
  { minMs: minStepMs = 1 }: { minMs?: number } = {},
): number => {
  if (text === undefined) {
    const targetMs = (getRangeSeconds(range) * 1000) / defaultStepCount;
    return (
      roundStepsMs.find((step) => step >= targetMs && step % minStepMs === 0) ??
      Math.ceil(targetMs / 604_800_000) * 604_800_000
    );
  }
  const ns = parseDuration(text);
  if (ns === undefined || ns < msNs) throw createValidationError('step', 'must be a duration such as 30s, 5m or 1h');
  const step = Number(ns / msNs);
  if (step % minStepMs !== 0)
    throw createValidationError('step', `must be a multiple of ${minStepMs / 1000} seconds here`);
  return step;
};

/** Returns a round step with at most this many steps in a range, and at least two. */
export const chooseStepForPoints = (range: Range, maxPoints: number): number => {
  const shortestMs = (getRangeSeconds(range) * 1000) / Math.max(1, maxPoints - 1);
  return roundStepsMs.find((step) => step >= shortestMs) ?? Math.ceil(shortestMs / 604_800_000) * 604_800_000;
};

export interface SeriesSteps {
  readonly stepNs: bigint;
  /** Nanoseconds of the start of the first step, which is not after the start of the range. */
  readonly beginNs: bigint;
  readonly count: number;
  /** Starts in epoch milliseconds. */
  readonly starts: readonly number[];
  /** Starts of the steps that the range covers only partly. */
  readonly partial: readonly number[];
  /** Returns the seconds of a step within the range. */
  getSeconds(index: number): number;
}

/** Returns the length of a range in seconds. Both ends are included, so a single instant has one nanosecond. */
export const getRangeSeconds = ({ from, to }: Range): number => Number(to - from + 1n) / 1e9;

/** Returns the steps of a range. Throws `VALIDATION_FAILED` if there are too many. */
export const buildSteps = (range: Range, stepMs: number, begin: 'epoch' | 'range' = 'epoch'): SeriesSteps => {
  if (!Number.isSafeInteger(stepMs) || stepMs < 1)
    throw createValidationError('step', 'must be at least a millisecond');
  const stepNs = BigInt(stepMs) * msNs;
  const originNs = begin === 'range' ? range.from : 0n;
  const floorToStep = (point: bigint): bigint => point - ((((point - originNs) % stepNs) + stepNs) % stepNs);
  const beginNs = floorToStep(range.from);
  const count = Number((floorToStep(range.to) - beginNs) / stepNs) + 1;
  if (count > maxSteps)
    throw createValidationError(
      'step',
      `gives ${count} steps in this range, the maximum is ${maxSteps}: use a larger step`,
    );
  const getCoveredNs = (index: number): bigint => {
    const begin = beginNs + BigInt(index) * stepNs;
    const first = begin < range.from ? range.from : begin;
    const last = begin + stepNs - 1n > range.to ? range.to : begin + stepNs - 1n;
    return last - first + 1n;
  };
  const starts = Array.from({ length: count }, (_, index) => Number(beginNs / msNs) + index * stepMs);
  const partialIndexes = [...new Set([0, count - 1])].filter((index) => getCoveredNs(index) < stepNs);
  return {
    stepNs,
    beginNs,
    count,
    starts,
    partial: partialIndexes.map((index) => starts[index] as number),
    getSeconds: (index) => Number(getCoveredNs(index)) / 1e9,
  };
};
