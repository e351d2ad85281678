/** Steps of series: they begin at multiples of the step since the epoch, whatever the range, so that series of several queries fit. */
import { invalid } from './errors.ts';
import type { Range } from './range.ts';

/** More points than a screen has columns several times over; as many as Prometheus answers. */
export const mostSteps = 11_000;
const msNs = 1_000_000n;

export interface Steps {
  readonly stepNs: bigint;
  /** Nanoseconds at which the first step begins: not after the range. */
  readonly beginNs: bigint;
  readonly count: number;
  /** Starts in epoch milliseconds. */
  readonly starts: readonly number[];
  /** Starts of those that the range covers only in part. */
  readonly partial: readonly number[];
  /** Seconds of a step that lie in the range. */
  secondsOf(index: number): number;
}

/** Length of a range in seconds. Both ends belong to it, so that one of a single instant has a nanosecond. */
export const secondsIn = ({ from, to }: Range): number => Number(to - from + 1n) / 1e9;

/** The steps of a range. Throws `VALIDATION_FAILED` where there are too many. */
export const stepsOf = (range: Range, stepMs: number): Steps => {
  if (!Number.isSafeInteger(stepMs) || stepMs < 1) throw invalid('step', 'must be at least a millisecond');
  const stepNs = BigInt(stepMs) * msNs;
  const floor = (point: bigint): bigint => point - (((point % stepNs) + stepNs) % stepNs);
  const beginNs = floor(range.from);
  const count = Number((floor(range.to) - beginNs) / stepNs) + 1;
  if (count > mostSteps)
    throw invalid('step', `gives ${count} steps in this range, at most ${mostSteps} are answered: take a larger one`);
  const covered = (index: number): bigint => {
    const begin = beginNs + BigInt(index) * stepNs;
    const first = begin < range.from ? range.from : begin;
    const last = begin + stepNs - 1n > range.to ? range.to : begin + stepNs - 1n;
    return last - first + 1n;
  };
  const starts = Array.from({ length: count }, (_, index) => Number(beginNs / msNs) + index * stepMs);
  const partial = [...new Set([0, count - 1])].filter((index) => covered(index) < stepNs);
  return {
    ...{ stepNs, beginNs, count, starts },
    partial: partial.map((index) => starts[index] as number),
    secondsOf: (index) => Number(covered(index)) / 1e9,
  };
};
