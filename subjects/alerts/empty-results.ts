/** Whether a rule has had data, for rules that would otherwise stay silent without any. */
import { getQueryKind } from '../../queries/query-kind.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import { createNoDataEvent } from '../empty-results/empty-results.ts';
import { type AlertRule, isCountCompared, isPresenceBased } from './rule.ts';
import type { RuleQueryResult } from './rule-query-result.ts';

/**
 * Returns whether a result has data; undefined if that is unknown, or if the absence of data is not missing data for the
 * rule: it is the healthy state in Prometheus' conditions and of predictions that still learn, a count of 0, or reported
 * by an alert of the rule (`noData`).
 */
export const findHasData = (
  rule: Pick<AlertRule, 'condition' | 'noData'>,
  result: RuleQueryResult,
): boolean | undefined => {
  const { condition, noData } = rule;
  if (result.kind !== 'groups') return undefined;
  if (result.groups.some(({ points }) => points.some((point) => point !== null))) return true;
  const isReportedOtherwise = noData === 'alert' || noData === 'unknown' || condition.kind === 'absence';
  if (isReportedOtherwise || isPresenceBased(rule) || (noData === undefined && isCountCompared(rule))) return undefined;
  const isPrediction = condition.kind === 'threshold' && getQueryKind(condition.query).isPrediction === true;
  return isPrediction ? undefined : false;
};

/** Returns the event that a rule has had no data so far. */
export const createRuleNoDataEvent = (
  { id, name, projectId }: Pick<AlertRule, 'id' | 'name' | 'projectId'>,
  context: { readonly tenantId: string; readonly atMs: number; readonly form: string },
): PlatformEvent =>
  createNoDataEvent(
    {
      title: `No data for the alert rule ${name}`,
      text: 'Its query has returned no data so far, so it cannot fire. Check the names in its query, or set noData if that is expected.',
      details: { ruleId: id },
    },
    {
      tenantId: context.tenantId,
      atMs: context.atMs,
      projectId,
      version: context.form,
      actorId: 'alert-evaluation',
    },
  );
