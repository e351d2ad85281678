/** Past values of a rule's condition, for charts: one for each window or step of a time range. */

import { getMeasureName } from '../../queries/aggregate/measures.ts';
import { withMaxGroups } from '../../queries/all-groups.ts';
import { runOverWindow } from '../../queries/over-window.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import { getQueryKind, isAtStepEnds } from '../../queries/query-kind.ts';
import type { Range } from '../../queries/range.ts';
import type { Incompleteness, Series } from '../../queries/result.ts';
import { runWithoutCost } from '../../queries/run.ts';
import { parseDurationMs } from './durations.ts';
import { type AlertRule, findComparedMeasure } from './rule.ts';
import { getConversionFactor } from './units.ts';

/** Maximum number of series, because more are not distinguishable on a chart. */
const maxSeries = 20;
export const maxValues = 500;

type Condition = AlertRule['condition'];
type QueryCondition = Exclude<Condition, { kind: 'composite' }>;

/** A threshold in the unit of the values. */
export interface ConvertedThreshold {
  readonly severity: string;
  readonly operator: string;
  readonly value: number;
  readonly upper: number | null;
}

export interface PastValues {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  /**
   * Series with the largest values first. A point is at the end of its window, which is when the rule would have
   * evaluated it.
   */
  readonly series: readonly Series[];
  readonly thresholds: readonly ConvertedThreshold[];
  readonly partial: readonly Incompleteness[];
}

/**
 * Returns whether a condition has values over time. SLOs and checks have only a current value, and conditions over
 * other rules have none.
 */
export const hasPastValues = (condition: Condition): condition is QueryCondition =>
  condition.kind !== 'composite' && getQueryKind(condition.query).isCurrentOnly !== true;

/**
 * Returns windows that end with the range. If there are too many, the first ones are omitted. Windows of PromQL may
 * overlap.
 */
export const splitIntoWindows = (
  condition: QueryCondition,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): { readonly stepMs: number; readonly count: number } => {
  const conditionStepMs = parseDurationMs(
    (condition.kind === 'threshold' ? condition.step : undefined) ?? condition.window,
  );
  const rangeMs = Math.max(1, toMs - fromMs);
  const stepMs = isAtStepEnds(condition.query)
    ? Math.max(1000, Math.ceil(rangeMs / maxValues / 1000) * 1000)
    : conditionStepMs;
  return { stepMs, count: Math.max(1, Math.min(maxValues, Math.floor(rangeMs / stepMs))) };
};

const convertThresholds = (condition: QueryCondition, unit: string): ConvertedThreshold[] => {
  if (condition.kind !== 'threshold') return [];
  const valueUnit = unit === '' ? (condition.queryUnit ?? '') : unit;
  return condition.thresholds.flatMap(({ severity, operator, value, upper, unit: thresholdUnit }) => {
    const factor = thresholdUnit === undefined ? 1 : getConversionFactor(thresholdUnit, valueUnit);
    if (value === undefined || factor === undefined) return [];
    const convert = (thresholdValue: number): number => Number((thresholdValue * factor).toPrecision(15));
    return [{ severity, operator, value: convert(value), upper: upper === undefined ? null : convert(upper) }];
  });
};

/** Returns the past values of a condition. Throws the same errors as running the query. */
export const pastValues = async (
  rule: Pick<AlertRule, 'delay'> & { readonly condition: QueryCondition },
  reader: QueryReader,
  { range, signal }: { readonly range: Range; readonly signal: AbortSignal },
): Promise<PastValues> => {
  const { condition } = rule;
  const delayMs = parseDurationMs(rule.delay);
  const toMs = Math.min(Number(range.to / 1_000_000n), reader.nowMs);
  const { stepMs, count } = splitIntoWindows(condition, { fromMs: Number(range.from / 1_000_000n), toMs });
  const fromMs = toMs - stepMs * count;
  const window = { fromMs: fromMs - delayMs, toMs: toMs - delayMs, stepMs };
  const result = await runOverWindow(withMaxGroups(condition.query, maxSeries), window, (windowQuery, context) =>
    runWithoutCost(windowQuery, reader, { ...context, signal }),
  );
  const measure = findComparedMeasure(condition);
  const measureName = condition.kind === 'threshold' ? condition.measure : undefined;
  const name = measureName ?? (measure === undefined ? undefined : getMeasureName(measure));
  const compared = result.series.filter((each) => name === undefined || each.name === name).slice(0, maxSeries);
  const shiftMs = delayMs + stepMs;
  return {
    fromMs,
    toMs,
    stepMs,
    partial: result.partial,
    series: compared.map((each) => ({ ...each, points: each.points.map(([at, value]) => [at + shiftMs, value]) })),
    thresholds: convertThresholds(condition, compared[0]?.unit ?? ''),
  };
};
