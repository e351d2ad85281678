/** Computes suggestions, each kind independently: a failed read only affects its own kind */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { canRead } from '../../queries/entitlement.ts';
import { estimateAttributeCosts } from '../../queries/fields/costs.ts';
import { findUnreferencedAttributes } from '../../queries/fields/uses.ts';
import { findMetricsUses } from '../../queries/metrics/uses.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import type { Range } from '../../queries/range.ts';
import { seriesSeenCondition, toSeriesSeenParameters } from '../../queries/series-first-seen.ts';
import { iterateDocuments } from '../../runtime/documents-in.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { alertAcknowledgements, alertRules } from '../../schemas/resources/alert-rule.ts';
import { anomalyDetectors, maxDetectors } from '../../schemas/resources/anomaly-detector.ts';
import { templateUses } from '../../schemas/resources/dashboard-template.ts';
import { slos } from '../../schemas/resources/slo.ts';
import { type AlertRule, parseStoredRule } from '../alerts/rule.ts';
import type { Labels } from '../alerts/state.ts';
import { parseStoredDetector } from '../anomalies/detector.ts';
import { assessPanels, collectNeeds, readAvailableData } from '../dashboards/templates/fit.ts';
import { rankTemplates } from '../dashboards/templates/rank-templates.ts';
import { loadTemplates } from '../dashboards/templates/templates.ts';
import { readCachedCatalogue } from '../questions/read-catalogue.ts';
import { minutesCondition, toMinutesParameters } from '../services/minutes.ts';
import { suggestDashboards } from './dashboards.ts';
import { suggestDetectors } from './detectors.ts';
import { type PastValues, suggestThreshold } from './noisy-rules.ts';
import { type ServiceActivity, suggestForServices } from './services.ts';
import type { Suggestion } from './suggestion.ts';
import {
  findLargeAttributes,
  type MetricCost,
  suggestAttributeRemoval,
  suggestMetricRemoval,
  suggestPatternReduction,
} from './unused-telemetry.ts';

const dayMs = 86_400_000;
const noisyPeriodDays = 7;
/**
 * Maximum number of noisy rules to analyze, in descending order of alerts; the next constant limits the values per
 * rule
 */
const maxNoisyRules = 3;
const maxValues = 30_000;
const minFired = 10;
const maxMetrics = 50;
const maxServices = 1000;

export interface SuggestionContext {
  readonly documents: TenantDocuments;
  readonly reader: QueryReader;
  readonly log: Pick<Log, 'warn'>;
}

const hasEntitlement = ({ reader }: SuggestionContext, entitlement: string): boolean => canRead(reader, entitlement);

const getLastDayRange = (nowMs: number): Range => ({
  from: BigInt(nowMs - dayMs) * 1_000_000n,
  to: BigInt(nowMs) * 1_000_000n,
});

const readEnabledRules = async (context: SuggestionContext): Promise<readonly AlertRule[]> => {
  const rules: AlertRule[] = [];
  for await (const stored of iterateDocuments(context.documents.collection(alertRules))) {
    const rule = parseStoredRule(stored);
    // Rules of an SLO or check are changed through that SLO or check.
    if (rule?.enabled === true && !stored.managedBy) rules.push(rule);
  }
  return rules;
};

const readServiceActivity = async (context: SuggestionContext): Promise<ServiceActivity[]> => {
  const { columns, nowMs } = context.reader;
  const minutes = toMinutesParameters(getLastDayRange(nowMs));
  const [requestRows, errorRows] = await Promise.all([
    hasEntitlement(context, 'traces')
      ? columns.query<{ name: string; answered: string; failed: string }>(
          `SELECT toString(service) AS name, toString(sum(requests)) AS answered, toString(sum(errors)) AS failed FROM resource_activity
          WHERE tenant_id = {tenant:String} AND ${minutesCondition} AND service != ''
          GROUP BY name ORDER BY sum(requests) DESC, name LIMIT ${maxServices}`,
          minutes,
        )
      : [],
    hasEntitlement(context, 'logs')
      ? columns.query<{ name: string; records: string }>(
          `SELECT toString(service) AS name, toString(sum(count)) AS records FROM log_pattern_counts
          WHERE tenant_id = {tenant:String} AND ${minutesCondition} AND service != '' AND severity IN ('error', 'fatal')
          GROUP BY name ORDER BY sum(count) DESC, name LIMIT ${maxServices}`,
          minutes,
        )
      : [],
  ]);
  const errorsByService = new Map(errorRows.map(({ name, records }) => [name, Number(records)]));
  const requestsByService = new Map(requestRows.map((row) => [row.name, row]));
  return [...new Set([...requestsByService.keys(), ...errorsByService.keys()])].map((name) => ({
    name,
    requests: Number(requestsByService.get(name)?.answered ?? 0),
    failed: Number(requestsByService.get(name)?.failed ?? 0),
    errorLogs: errorsByService.get(name) ?? 0,
  }));
};

const suggestFromServiceActivity = async (context: SuggestionContext): Promise<Suggestion[]> => {
  const [services, rules] = await Promise.all([readServiceActivity(context), readEnabledRules(context)]);
  const objectives: { service: string; query: unknown }[] = [];
  for await (const { enabled, query, ...rest } of iterateDocuments(context.documents.collection(slos)))
    if (enabled) objectives.push({ service: String((rest as { service?: unknown }).service ?? ''), query });
  const ruleQueries = rules.flatMap(({ condition }) =>
    condition.kind === 'composite' ? [] : [{ query: condition.query }],
  );
  return suggestForServices(services, { objectives, rules: ruleQueries });
};

const suggestForNoisyRules = async (context: SuggestionContext): Promise<Suggestion[]> => {
  const { columns, nowMs } = context.reader;
  const since = { since: String(nowMs - noisyPeriodDays * dayMs) };
  const firingRules = await columns.query<{ rule: string }>(
    `SELECT toString(rule_id) AS rule FROM alert_transitions
    WHERE tenant_id = {tenant:String} AND time >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND to_state = 'firing' AND from_state != 'recovering' AND NOT is_test
    GROUP BY rule HAVING uniqExact(id) >= ${minFired} ORDER BY uniqExact(id) DESC, rule LIMIT 20`,
    since,
  );
  if (firingRules.length === 0) return [];
  const rules = new Map((await readEnabledRules(context)).map((rule) => [rule.id, rule]));
  const suggestions: Suggestion[] = [];
  for (const rule of firingRules.flatMap(({ rule: id }) => rules.get(id) ?? []).slice(0, maxNoisyRules)) {
    const rows = await columns.query<{ ms: string; labels: Labels; value: number | null }>(
      `SELECT toString(toUnixTimestamp64Milli(time)) AS ms, labels, value FROM alert_evaluations
      WHERE tenant_id = {tenant:String} AND rule_id = {rule:String} AND rule_version = {version:UInt32} AND alert_id != ''
        AND time >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
      ORDER BY time DESC, alert_id LIMIT 1 BY time, alert_id LIMIT ${maxValues}`,
      { ...since, rule: rule.id, version: String(rule.version) },
      { maxResultRows: maxValues },
    );
    const acknowledged: { alertId: string; startedAtMs: number }[] = [];
    const acknowledgements = context.documents.collection(alertAcknowledgements);
    for await (const { id, startedAtMs } of iterateDocuments(acknowledgements, { filter: { ruleId: rule.id } }))
      acknowledged.push({ alertId: id, startedAtMs });
    const history = { rule, tenantId: context.documents.tenantId, evaluations: groupByTime(rows), acknowledged };
    const suggestion = suggestThreshold(history, noisyPeriodDays);
    if (suggestion !== undefined) suggestions.push(suggestion);
    await yieldToEventLoop();
  }
  return suggestions;
};

const groupByTime = (
  rows: readonly { readonly ms: string; readonly labels: Labels; readonly value: number | null }[],
): PastValues[] =>
  [...Map.groupBy(rows, ({ ms }) => ms)]
    .map(([ms, groups]) => ({
      atMs: Number(ms),
      groups: groups.map(({ labels, value }) => ({ labels: { ...labels }, value })),
    }))
    .sort((left, right) => left.atMs - right.atMs);

const suggestForMetrics = async (context: SuggestionContext): Promise<Suggestion[]> => {
  const { columns, nowMs, promql } = context.reader;
  if (!hasEntitlement(context, 'metrics') || promql === undefined) return [];
  const rows = await columns.query<{ name: string; held: string }>(
    `SELECT toString(series.metric) AS name, toString(uniqExact(series_id)) AS held FROM series
    WHERE tenant_id = {tenant:String} AND ${seriesSeenCondition} GROUP BY name ORDER BY uniqExact(series_id) DESC, name LIMIT ${maxMetrics}`,
    toSeriesSeenParameters(getLastDayRange(nowMs)),
  );
  const costs = rows.map(({ name, held }): MetricCost => ({ metric: name, series: Number(held) }));
  const reader = { documents: context.documents, columns, translation: promql.translation };
  return suggestMetricRemoval(
    costs,
    await findMetricsUses(
      reader,
      costs.map(({ metric }) => metric),
    ),
  );
};

const suggestForAttributes = async (context: SuggestionContext): Promise<Suggestion[]> => {
  const suggestions = (['logs', 'traces'] as const)
    .filter((signal) => hasEntitlement(context, signal))
    .map(async (signal) => {
      const { sampleSize: scannedRecords, costs } = await estimateAttributeCosts(
        context.reader,
        signal,
        getLastDayRange(context.reader.nowMs),
      );
      const keys = findLargeAttributes(scannedRecords, costs).map(({ key }) => key);
      if (keys.length === 0) return [];
      return suggestAttributeRemoval(
        signal,
        scannedRecords,
        costs,
        await findUnreferencedAttributes(context.documents, keys),
      );
    });
  return (await Promise.all(suggestions)).flat();
};

const suggestForPatterns = async (context: SuggestionContext): Promise<Suggestion[]> => {
  if (!hasEntitlement(context, 'logs')) return [];
  const { columns, nowMs } = context.reader;
  const counts = await columns.query<{ id: string; name: string; records: string; loud: string; total: string }>(
    `SELECT toString(pattern_id) AS id, toString(service) AS name, toString(sum(count)) AS records,
      toString(sumIf(count, severity IN ('warn', 'error', 'fatal'))) AS loud, toString(sum(sum(count)) OVER ()) AS total
    FROM log_pattern_counts WHERE tenant_id = {tenant:String} AND ${minutesCondition}
    GROUP BY id, name ORDER BY sum(count) DESC, id, name LIMIT 10`,
    toMinutesParameters(getLastDayRange(nowMs)),
  );
  const infoPatterns = counts.filter(({ loud }) => loud === '0');
  if (infoPatterns.length === 0) return [];
  const templateRows = await columns.query<{ id: string; template: string }>(
    `SELECT pattern_id AS id, argMax(template, last_seen) AS template FROM log_patterns
    WHERE tenant_id = {tenant:String} AND pattern_id IN {ids:Array(String)} GROUP BY id`,
    { ids: infoPatterns.map(({ id }) => id) },
  );
  const templatesById = new Map(templateRows.map(({ id, template }) => [id, template]));
  const costs = infoPatterns.flatMap(({ id, name: service, records }) => {
    const template = templatesById.get(id);
    return template === undefined ? [] : [{ id, service, template, records: Number(records) }];
  });
  return suggestPatternReduction(costs, Number(counts[0]?.total ?? 0));
};

const suggestForDetectors = async (context: SuggestionContext): Promise<Suggestion[]> => {
  const existingDetectors = [];
  for await (const stored of iterateDocuments(context.documents.collection(anomalyDetectors))) {
    const detector = parseStoredDetector(stored);
    if (detector !== undefined) existingDetectors.push(detector);
  }
  if (existingDetectors.length >= maxDetectors) return [];
  return suggestDetectors(await readCachedCatalogue(context.reader), existingDetectors);
};

const suggestForDashboards = async (context: SuggestionContext): Promise<Suggestion[]> => {
  const allTemplates = await loadTemplates();
  const availableData = await readAvailableData(
    context.reader,
    allTemplates.flatMap(({ panels }) => collectNeeds(panels)),
  );
  const dashboardCounts = new Map<string, number>();
  for await (const { templateId } of iterateDocuments(context.documents.collection(templateUses)))
    dashboardCounts.set(templateId, (dashboardCounts.get(templateId) ?? 0) + 1);
  const rankings = allTemplates.map((template) => ({
    template,
    panels: assessPanels(template.panels, availableData),
    dashboards: dashboardCounts.get(template.id) ?? 0,
    favourites: 0,
  }));
  return suggestDashboards(rankTemplates(rankings));
};

const suggestionSources: Readonly<Record<string, (context: SuggestionContext) => Promise<Suggestion[]>>> = {
  'noisy rules': suggestForNoisyRules,
  services: suggestFromServiceActivity,
  detectors: suggestForDetectors,
  dashboards: suggestForDashboards,
  'unused metrics': suggestForMetrics,
  'unused attributes': suggestForAttributes,
  'large log patterns': suggestForPatterns,
};

export interface SuggestionResult {
  readonly suggestions: readonly Suggestion[];
  /** Kinds that could not be read */
  readonly missing: readonly string[];
}

/** Returns all current suggestions, including dismissed ones. */
export const suggestNow = async (context: SuggestionContext): Promise<SuggestionResult> => {
  const missing: string[] = [];
  const suggestionLists = await Promise.all(
    Object.entries(suggestionSources).map(async ([suggestionKind, suggest]) => {
      try {
        return await suggest(context);
      } catch (error) {
        context.log.warn({ error: String(error), what: suggestionKind }, 'the data for suggestions cannot be read');
        missing.push(suggestionKind);
        return [];
      }
    }),
  );
  return { suggestions: suggestionLists.flat(), missing: missing.sort() };
};
