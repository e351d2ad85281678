/** Complete steps for scores and forecasts: the context of the query, and its values by step. */
import type { Answer, QueryContext } from './answer.ts';
import { listSignals } from './freshness.ts';
import type { Query } from './query.ts';
import { getQueryKind, isAtStepEnds } from './query-kind.ts';
import { getRetentionDays } from './range.ts';
import type { Reading } from './reading.ts';

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

/** Returns the values of one series by step; null for none. */
export const stepValues = (
  query: Query,
  points: Answer['series'][number]['points'],
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

/** Returns the earliest start of steps for a query now, with a margin of an hour; older data is not retained. */
export const retentionStartMs = (query: Query, { plan, nowMs }: Pick<Reading, 'plan' | 'nowMs'>): number =>
  Math.trunc(nowMs) -
  Math.min(...listSignals(query).map((signal) => getRetentionDays(plan, signal))) * 24 * hourMs +
  hourMs;

/** Replaces the zeros before the first record with null: a new group did not exist then. */
export const clearBeforeFirst = (query: Query, values: readonly (number | null)[]): (number | null)[] => {
  const first = getQueryKind(query).hasZeros === true ? values.findIndex((value) => value !== null && value !== 0) : 0;
  return values.map((value, index) => (index < first ? null : value));
};
