/** Rules and alerts in the format of Prometheus */

import { iterateDocuments } from '../../../runtime/documents-in.ts';
import { alertRules } from '../../../schemas/resources/alert-rule.ts';
import { recordingGroups } from '../../../schemas/resources/recording-group.ts';
import { readAlerts, readRuleStates } from '../../../subjects/alerts/history.ts';
import {
  listedRules,
  type StoredRules,
  toPrometheusAlerts,
  toPrometheusRules,
} from '../../../subjects/alerts/prometheus-shape.ts';
import { createTemplateQuery } from '../../../subjects/alerts/query-text.ts';
import { type AlertRule, parseStoredRule } from '../../../subjects/alerts/rule.ts';
import { type QueryResultLookup, renderWithQueries } from '../../../subjects/alerts/templates/queries.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { defineGetOperation } from './define-operation.ts';
import { filterRules, paginateGroups, ruleParameters, shouldIncludeAlerts } from './rule-filters.ts';

const maxAlerts = 10_000;

const readEnabledRules = async (caller: Caller, { documents }: Ports): Promise<AlertRule[]> => {
  const stored = documents.forTenant(caller.tenantId).collection(alertRules);
  const rules: AlertRule[] = [];
  for await (const document of iterateDocuments(stored, { filter: { enabled: true }, sort: { name: 1 } })) {
    const rule = parseStoredRule(document);
    if (rule !== undefined) rules.push(rule);
  }
  return rules;
};

const readRecordingGroups = async (caller: Caller, { documents }: Ports): Promise<StoredRules['recording']> => {
  const stored = documents.forTenant(caller.tenantId).collection(recordingGroups);
  const groups: StoredRules['recording'][number][] = [];
  for await (const group of iterateDocuments(stored, { filter: { enabled: true }, sort: { name: 1 } }))
    groups.push(group);
  return groups;
};

const readActiveAlerts = (caller: Caller, ports: Ports) =>
  readAlerts(createQueryReader(caller, ports), { states: ['pending', 'firing', 'recovering'] }, maxAlerts);

type RuleGroup = ReturnType<typeof toPrometheusRules>[number];

/** Returns no samples for the queries in annotations, because the annotations are not in the response. */
const skipTextQueries: QueryResultLookup = () => ({ samples: [] });

const removeAlerts = (group: RuleGroup): RuleGroup => ({
  ...group,
  rules: group.rules.map((rule) => (rule.type === 'alerting' ? { ...rule, alerts: [] } : rule)),
});

export const listRules = defineGetOperation({
  path: 'rules',
  operationId: 'listPrometheusRules',
  summary: 'List alert and recording rules in the format of Prometheus',
  parameters: ruleParameters,
  async run({ caller, parameterValues, signal }, ports) {
    const includesAlerts = shouldIncludeAlerts(parameterValues);
    const [alerting, recording] = await Promise.all([
      readEnabledRules(caller, ports),
      readRecordingGroups(caller, ports),
    ]);
    const rules = filterRules(parameterValues, listedRules({ alerting, recording }));
    const ids = rules.map(({ id }) => id);
    const [ruleStates, alerts] = await Promise.all([
      readRuleStates(createQueryReader(caller, ports), ids),
      readActiveAlerts(caller, ports),
    ]);
    if (!includesAlerts)
      return {
        data: paginateGroups(
          parameterValues,
          toPrometheusRules(rules, ruleStates, alerts, skipTextQueries).map(removeAlerts),
        ),
      };
    const groups = await renderWithQueries(
      (getQueryResult) => toPrometheusRules(rules, ruleStates, alerts, getQueryResult),
      createTemplateQuery(createQueryReader(caller, ports), { signal }),
    );
    return { data: paginateGroups(parameterValues, groups) };
  },
});

export const listAlerts = defineGetOperation({
  path: 'alerts',
  operationId: 'listPrometheusAlerts',
  summary: 'List alerts in the format of Prometheus',
  parameters: {},
  async run({ caller, signal }, ports) {
    const [rules, storedAlerts] = await Promise.all([readEnabledRules(caller, ports), readActiveAlerts(caller, ports)]);
    const byId = new Map(rules.map((rule) => [rule.id, rule]));
    const alerts = await renderWithQueries(
      (getQueryResult) => toPrometheusAlerts(byId, storedAlerts, getQueryResult),
      createTemplateQuery(createQueryReader(caller, ports), { signal }),
    );
    return { data: { alerts } };
  },
});
