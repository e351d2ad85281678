/** Warnings about rules that can be evaluated, but are probably wrong. */
import type { Query } from '../../queries/query.ts';
import { getQueryKind } from '../../queries/query-kind.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { parseDurationMs } from './durations.ts';
import type { AlertRule } from './rule.ts';
import type { Problem } from './rule-problems.ts';
import type { RuleQueryResult } from './rule-query-result.ts';
import { queryRule } from './run-query.ts';

/** Time after which received data is normally stored and can be queried. */
const ingestionDelayMs = 10_000;

/**
 * Time after the end of a step until a detector's scores can be queried: its delay, its evaluation and the storage of
 * the scores.
 */
const scoringDelayMs = 60_000;

/**
 * Warns about a delay that is too short for the scores of a detector. Other predictions are computed when they are
 * queried.
 */
const findScoreDelayWarnings = (query: Query, delay: string): Problem[] =>
  !('detectorId' in query) || query.detectorId === undefined || parseDurationMs(delay) >= scoringDelayMs
    ? []
    : [
        {
          path: 'delay',
          message: `is shorter than the minute that scores take to arrive: set it to ${scoringDelayMs / 1000}s, so that a backtest matches the evaluation`,
        },
      ];

const findWindowWarnings = ({ condition, interval, delay }: AlertRule): Problem[] => {
  if (condition.kind === 'composite') return [];
  if (getQueryKind(condition.query).isPrediction === true) return findScoreDelayWarnings(condition.query, delay);
  const windowMs = parseDurationMs(condition.window);
  const path = 'condition.window';
  if (windowMs < parseDurationMs(interval))
    return [
      { path, message: `is shorter than the interval of ${interval}: data between two windows is not evaluated` },
    ];
  if (windowMs > parseDurationMs(interval) || parseDurationMs(delay) >= ingestionDelayMs) return [];
  const message = `is as long as the interval: a record that arrives after the evaluation is in no window; use a longer window, or set delay to ${ingestionDelayMs / 1000}s or to the delay of the records`;
  return [{ path, message }];
};

/** Warns about a grouping label that no record has, if there is data. */
const findGroupingWarnings = async (
  rule: AlertRule,
  reader: TenantReader,
  result: RuleQueryResult,
  nowMs: number,
): Promise<Problem[]> => {
  const { condition } = rule;
  if (condition.kind === 'composite' || result.kind !== 'groups') return [];
  const { query } = condition;
  if (!('groupBy' in query) || query.groupBy.length === 0) return [];
  const missingLabels = query.groupBy
    .map((name, index) => ({ name, at: index }))
    .filter(({ name }) => !result.groups.some(({ labels }) => labels[name] !== undefined));
  if (missingLabels.length === 0) return [];
  if (result.groups.length === 0) {
    const ungrouped = { ...rule, condition: { ...condition, query: { ...query, groupBy: [] } } };
    const ungroupedResult = await queryRule(ungrouped, reader, { nowMs });
    const hasData =
      ungroupedResult.kind === 'groups' &&
      ungroupedResult.groups.some(({ points }) => points.some((point) => point !== null && point !== 0));
    if (!hasData) return [];
  }
  return missingLabels.map(({ name, at: index }) => ({
    path: `condition.query.groupBy.${index}`,
    message: `${name} is in no record of the window: check the name for typos`,
  }));
};

/** Returns warnings, each with its path in the rule. `result` is the result of the rule's query at `nowMs`. */
export const findRuleWarnings = async (
  rule: AlertRule,
  reader: TenantReader,
  result: RuleQueryResult,
  nowMs: number,
): Promise<Problem[]> => [...findWindowWarnings(rule), ...(await findGroupingWarnings(rule, reader, result, nowMs))];
