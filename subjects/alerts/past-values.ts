/** Past values of a rule's condition, for charts: one for each window or step of a range, as its query returns them. */

import { defaultName } from '../../queries/aggregate/measures.ts';
import { everyGroup } from '../../queries/all-groups.ts';
import { answerOver } from '../../queries/over-window.ts';
import type { QueryReading } from '../../queries/promql/reading.ts';
import { isAtStepEnds, kindOf } from '../../queries/query-kind.ts';
import type { Range } from '../../queries/range.ts';
import type { Incompleteness, Series } from '../../queries/result.ts';
import { answerOnly } from '../../queries/run.ts';
import { msOf } from './durations.ts';
import { type AlertRule, comparedMeasure } from './rule.ts';
import { conversion } from './units.ts';

/** More series are not distinguishable on a chart. */
const maxSeries = 20;
export const maxValues = 500;

type Condition = AlertRule['condition'];
type QueryCondition = Exclude<Condition, { kind: 'composite' }>;

/** A threshold in the unit of the values. */
export interface Limit {
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
  readonly limits: readonly Limit[];
  readonly partial: readonly Incompleteness[];
}

/**
 * Returns whether a condition has values over time. SLOs and checks have only a current value, and conditions over
 * other rules have none.
 */
export const hasPast = (condition: Condition): condition is QueryCondition =>
  condition.kind !== 'composite' && kindOf(condition.query).isCurrentOnly !== true;

/**
 * Returns windows that end with the range. If there are too many, the first ones are omitted. Windows of PromQL may
 * overlap.
 */
export const windowsOf = (
  condition: QueryCondition,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): { readonly stepMs: number; readonly count: number } => {
  const own = msOf((condition.kind === 'threshold' ? condition.step : undefined) ?? condition.window);
  const spanMs = Math.max(1, toMs - fromMs);
  const stepMs = isAtStepEnds(condition.query) ? Math.max(1000, Math.ceil(spanMs / maxValues / 1000) * 1000) : own;
  return { stepMs, count: Math.max(1, Math.min(maxValues, Math.floor(spanMs / stepMs))) };
};

const limitsOf = (condition: QueryCondition, unit: string): Limit[] => {
  if (condition.kind !== 'threshold') return [];
  const valuesIn = unit === '' ? (condition.queryUnit ?? '') : unit;
  return condition.thresholds.flatMap(({ severity, operator, value, upper, unit: own }) => {
    const factor = own === undefined ? 1 : conversion(own, valuesIn);
    if (value === undefined || factor === undefined) return [];
    const converted = (figure: number): number => Number((figure * factor).toPrecision(15));
    return [{ severity, operator, value: converted(value), upper: upper === undefined ? null : converted(upper) }];
  });
};

/** Returns the past values of a condition. Throws the same errors as `run`. */
export const pastValues = async (
  rule: Pick<AlertRule, 'delay'> & { readonly condition: QueryCondition },
  reading: QueryReading,
  { range, signal }: { readonly range: Range; readonly signal: AbortSignal },
): Promise<PastValues> => {
  const { condition } = rule;
  const delayMs = msOf(rule.delay);
  const toMs = Math.min(Number(range.to / 1_000_000n), reading.nowMs);
  const { stepMs, count } = windowsOf(condition, { fromMs: Number(range.from / 1_000_000n), toMs });
  const fromMs = toMs - stepMs * count;
  const window = { fromMs: fromMs - delayMs, toMs: toMs - delayMs, stepMs };
  const answer = await answerOver(everyGroup(condition.query, maxSeries), window, (part, context) =>
    answerOnly(part, reading, { ...context, signal }),
  );
  const measure = comparedMeasure(condition);
  const named = condition.kind === 'threshold' ? condition.measure : undefined;
  const name = named ?? (measure === undefined ? undefined : (measure.as ?? defaultName(measure)));
  const compared = answer.series.filter((each) => name === undefined || each.name === name).slice(0, maxSeries);
  const laterMs = delayMs + stepMs;
  return {
    fromMs,
    toMs,
    stepMs,
    partial: answer.partial,
    series: compared.map((each) => ({ ...each, points: each.points.map(([at, value]) => [at + laterMs, value]) })),
    limits: limitsOf(condition, compared[0]?.unit ?? ''),
  };
};
