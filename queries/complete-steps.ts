/** Queries over complete steps, for scores and forecasts: builds the query context, and returns the values by step. */

import { listSignals } from './freshness.ts';
import type { Query } from './query.ts';
import { getQueryKind, isAtStepEnds } from './query-kind.ts';
import type { QueryContext, ResultData } from './query-result.ts';
import { getRetentionDays } from './range.ts';
import type { TenantReader } from './tenant-reader.ts';

/** Steps from the start of the first to the end of the last. */
export interface StepRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

const msToNs = (ms: number): bigint => BigInt(ms) * 1_000_000n;

/** Returns the context of a query that returns these steps. */
export const buildStepsContext = (query: Query, { fromMs, toMs, stepMs }: StepRange): QueryContext => ({
  range: isAtStepEnds(query)
    ? { from: msToNs(fromMs + stepMs), to: msToNs(toMs) }
    : { from: msToNs(fromMs), to: msToNs(toMs) - 1n },
  stepMs,
});

const parseFiniteValue = (value: number | string | null): number | null => {
  const number = typeof value === 'string' ? Number(value) : value;
  return number !== null && Number.isFinite(number) ? number : null;
};

/** Returns the values of one series by step; null for a step without a value. */
export const toValuesByStep = (
  query: Query,
  points: ResultData['series'][number]['points'],
  { fromMs, toMs, stepMs }: StepRange,
): (number | null)[] => {
  const shiftMs = isAtStepEnds(query) ? stepMs : 0;
  const values = new Array<number | null>((toMs - fromMs) / stepMs).fill(null);
  for (const [timeMs, value] of points) {
    const index = (timeMs - shiftMs - fromMs) / stepMs;
    if (index in values) values[index] = parseFiniteValue(value);
  }
  return values;
};

const hourMs = 3_600_000;

/** Returns the earliest possible start of steps: one hour after the start of the retention. */
export const getRetentionStartMs = (query: Query, { plan, nowMs }: Pick<TenantReader, 'plan' | 'nowMs'>): number =>
  Math.trunc(nowMs) -
  Math.min(...listSignals(query).map((signal) => getRetentionDays(plan, signal))) * 24 * hourMs +
  hourMs;

/** Replaces the zeros before the first record with null: a new group did not exist then. */
export const clearLeadingZeros = (query: Query, values: readonly (number | null)[]): (number | null)[] => {
  const firstIndex =
    getQueryKind(query).hasZeros === true ? values.findIndex((value) => value !== null && value !== 0) : 0;
  return values.map((value, index) => (index < firstIndex ? null : value));
};
