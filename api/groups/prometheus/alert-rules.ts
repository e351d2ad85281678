/** Rules and alerts in the format of Prometheus */

import { documentsIn } from '../../../runtime/documents-in.ts';
import { alertRules } from '../../../schemas/resources/alert-rule.ts';
import { recordingGroups } from '../../../schemas/resources/recording-group.ts';
import { readAlerts, readRuleStates } from '../../../subjects/alerts/history.ts';
import {
  listedRules,
  prometheusAlerts,
  prometheusRules,
  type RulesOfBoth,
} from '../../../subjects/alerts/prometheus-shape.ts';
import { createTextQuery } from '../../../subjects/alerts/query-text.ts';
import { type AlertRule, readRule } from '../../../subjects/alerts/rule.ts';
import { type Queried, withTextAnswers } from '../../../subjects/alerts/templates/queries.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Ports } from '../../kernel/ports.ts';
import { readingOf } from '../../kernel/reading.ts';
import { byGet } from './answer.ts';
import { chosenRules, pageOfGroups, ruleParameters, shouldIncludeAlerts } from './rule-filters.ts';

const maxAlerts = 10_000;

const rulesOf = async (caller: Caller, { documents }: Ports): Promise<AlertRule[]> => {
  const stored = documents.of(caller.tenantId).collection(alertRules);
  const rules: AlertRule[] = [];
  for await (const document of documentsIn(stored, { filter: { enabled: true }, sort: { name: 1 } })) {
    const rule = readRule(document);
    if (rule !== undefined) rules.push(rule);
  }
  return rules;
};

const recordingOf = async (caller: Caller, { documents }: Ports): Promise<RulesOfBoth['recording']> => {
  const stored = documents.of(caller.tenantId).collection(recordingGroups);
  const groups: RulesOfBoth['recording'][number][] = [];
  for await (const group of documentsIn(stored, { filter: { enabled: true }, sort: { name: 1 } })) groups.push(group);
  return groups;
};

const activeAlerts = (caller: Caller, ports: Ports) =>
  readAlerts(readingOf(caller, ports), { states: ['pending', 'firing', 'recovering'] }, maxAlerts);

type Group = ReturnType<typeof prometheusRules>[number];

/** Queries in texts that are not displayed. */
const noSamples: Queried = () => ({ samples: [] });

const withoutAlerts = (group: Group): Group => ({
  ...group,
  rules: group.rules.map((rule) => (rule.type === 'alerting' ? { ...rule, alerts: [] } : rule)),
});

export const listRules = byGet({
  path: 'rules',
  operationId: 'listPrometheusRules',
  summary: 'List alert and recording rules in the format of Prometheus',
  parameters: ruleParameters,
  async answer({ caller, given, signal }, ports) {
    const isWithAlerts = shouldIncludeAlerts(given);
    const [alerting, recording] = await Promise.all([rulesOf(caller, ports), recordingOf(caller, ports)]);
    const rules = chosenRules(given, listedRules({ alerting, recording }));
    const ids = rules.map(({ id }) => id);
    const [ruleStates, alerts] = await Promise.all([
      readRuleStates(readingOf(caller, ports), ids),
      activeAlerts(caller, ports),
    ]);
    if (!isWithAlerts)
      return { data: pageOfGroups(given, prometheusRules(rules, ruleStates, alerts, noSamples).map(withoutAlerts)) };
    const groups = await withTextAnswers(
      (queried) => prometheusRules(rules, ruleStates, alerts, queried),
      createTextQuery(readingOf(caller, ports), { signal }),
    );
    return { data: pageOfGroups(given, groups) };
  },
});

export const listAlerts = byGet({
  path: 'alerts',
  operationId: 'listPrometheusAlerts',
  summary: 'List alerts in the format of Prometheus',
  parameters: {},
  async answer({ caller, signal }, ports) {
    const [rules, found] = await Promise.all([rulesOf(caller, ports), activeAlerts(caller, ports)]);
    const byId = new Map(rules.map((rule) => [rule.id, rule]));
    const alerts = await withTextAnswers(
      (queried) => prometheusAlerts(byId, found, queried),
      createTextQuery(readingOf(caller, ports), { signal }),
    );
    return { data: { alerts } };
  },
});
