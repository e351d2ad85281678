/** Queries for stored alert states, evaluations and transitions. */

import type { TenantReader } from '../../queries/tenant-reader.ts';
import { addToList } from '../../schemas/add-to-list.ts';
import type { AlertSeverity, AlertState } from '../../schemas/alerts.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { createHistoryCondition, type HistoryPage } from '../events/history-page.ts';
import type { Labels } from './state.ts';

type OpenTenantReader = Pick<TenantReader, 'columns'>;

/** Returns the labels of the alerts that were firing at a time, by rule ID. */
export const readFiringLabels = async (
  { columns }: OpenTenantReader,
  ruleIds: readonly string[],
  atMs: number,
): Promise<ReadonlyMap<string, readonly Labels[]>> => {
  const rows = await columns.query<{ rule: string; labels: Labels }>(
    `SELECT rule_id AS rule, argMax(labels, time) AS labels FROM alert_transitions
    WHERE tenant_id = {tenant:String} AND rule_id IN {rules:Array(String)} AND NOT is_test
      AND time <= fromUnixTimestamp64Milli({at:Int64}, 'UTC')
    GROUP BY rule_id, alert_id HAVING argMax(to_state, time) IN ('firing', 'recovering')`,
    { rules: [...new Set(ruleIds)], at: String(atMs) },
  );
  const byRule = new Map<string, Labels[]>();
  for (const { rule, labels } of rows) addToList(byRule, rule, { ...labels });
  return byRule;
};

/** State of an alert after its last evaluation; if `alertId` is empty, state of the rule. */
export interface ActiveAlert {
  readonly ruleId: string;
  readonly alertId: string;
  readonly projectId: string;
  /** Labels of the group. */
  readonly labels: Labels;
  readonly state: AlertState;
  readonly severity: AlertSeverity | null;
  readonly value: number | null;
  readonly reason: string;
  readonly error: string;
  readonly evaluatedMs: number;
  readonly sinceMs: number | null;
  readonly startedAtMs: number | null;
  readonly durationMs: number;
  readonly lateMs: number;
  readonly groups: number;
  readonly firing: number;
}

interface AlertStateRow {
  readonly rule_id: string;
  readonly alert_id: string;
  readonly project: string;
  readonly labels: Labels;
  readonly state: AlertState;
  readonly severity: AlertSeverity | '';
  readonly value: number | null;
  readonly reason: string;
  readonly error: string;
  readonly evaluated: string;
  readonly since: string;
  readonly started: string;
  readonly duration_ms: number;
  readonly late_ms: number;
  readonly groups: number;
  readonly firing: number;
}

const toMsOrNull = (text: string): number | null => (text === '0' ? null : Number(text));

const toActiveAlert = (row: AlertStateRow): ActiveAlert => ({
  ruleId: row.rule_id,
  alertId: row.alert_id,
  projectId: row.project,
  labels: { ...row.labels },
  state: row.state,
  severity: row.severity === '' ? null : row.severity,
  value: row.value,
  reason: row.reason,
  error: row.error,
  evaluatedMs: Number(row.evaluated),
  durationMs: row.duration_ms,
  lateMs: row.late_ms,
  sinceMs: toMsOrNull(row.since),
  startedAtMs: toMsOrNull(row.started),
  groups: row.groups,
  firing: row.firing,
});

const alertStateColumns = `rule_id, alert_id, project_id AS project, labels, state, severity, value, reason, error,
  toString(evaluated_ms) AS evaluated, toString(since_ms) AS since, toString(started_ms) AS started, duration_ms, late_ms, groups, firing`;

/** Returns the states of rules after their last evaluation, by ID. */
export const readRuleStates = async (
  { columns }: OpenTenantReader,
  ruleIds: readonly string[],
): Promise<ReadonlyMap<string, ActiveAlert>> => {
  if (ruleIds.length === 0) return new Map();
  const rows = await columns.query<AlertStateRow>(
    `SELECT ${alertStateColumns} FROM alert_states FINAL
    WHERE tenant_id = {tenant:String} AND rule_id IN {rules:Array(String)} AND alert_id = ''`,
    { rules: [...ruleIds] },
  );
  return new Map(rows.map((row) => [row.rule_id, toActiveAlert(row)]));
};

/**
 * Returns the time of each rule's last evaluation by organization and rule: a read by the platform for all
 * organizations.
 */
export const readLastEvaluations = async (
  columns: Pick<Columns, 'query'>,
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> => {
  const rows = await columns.query<{ tenant: string; rule: string; evaluated: string }>(
    `SELECT tenant_id AS tenant, rule_id AS rule, toString(max(evaluated_ms)) AS evaluated
    FROM alert_states WHERE alert_id = '' GROUP BY tenant_id, rule_id`,
    {},
    { maxExecutionSeconds: 20, maxResultRows: 1_000_000 },
  );
  const byTenant = new Map<string, Map<string, number>>();
  for (const { tenant, rule, evaluated } of rows) {
    const evaluatedByRule = byTenant.get(tenant) ?? new Map<string, number>();
    byTenant.set(tenant, evaluatedByRule.set(rule, Number(evaluated)));
  }
  return byTenant;
};

export interface AlertFilter {
  readonly ruleIds?: readonly string[] | undefined;
  readonly alertId?: string | undefined;
  readonly alertIds?: readonly string[];
  readonly states: readonly AlertState[];
  /** Cursor: return only alerts after this one. */
  readonly after?: { readonly sinceMs: string; readonly alertId: string } | undefined;
}

/**
 * Returns alert states after the last evaluation, most recently started first. Alerts that their rule no longer reports
 * are omitted.
 */
export const readAlerts = async (
  { columns }: OpenTenantReader,
  { ruleIds, alertId, alertIds, states, after }: AlertFilter,
  limit: number,
): Promise<ActiveAlert[]> => {
  const rows = await columns.query<AlertStateRow>(
    `SELECT ${alertStateColumns} FROM alert_states FINAL
    WHERE tenant_id = {tenant:String} AND alert_id != '' AND state IN {states:Array(String)}
      ${ruleIds === undefined ? '' : 'AND rule_id IN {rules:Array(String)}'}
      ${alertId === undefined ? '' : 'AND alert_id = {alert:String}'}
      ${alertIds === undefined ? '' : 'AND alert_id IN {alerts:Array(String)}'}
      ${after === undefined ? '' : 'AND (since_ms < {since:UInt64} OR (since_ms = {since:UInt64} AND alert_id > {after:String}))'}
    ORDER BY since_ms DESC, alert_id LIMIT ${limit}`,
    {
      states: [...states],
      ...(ruleIds !== undefined && { rules: [...ruleIds] }),
      ...(alertId !== undefined && { alert: alertId }),
      ...(alertIds !== undefined && { alerts: [...alertIds] }),
      ...(after !== undefined && { since: after.sinceMs, after: after.alertId }),
    },
    { maxResultRows: limit },
  );
  return rows.map(toActiveAlert);
};

/** Returns the IDs of alerts of rules with this ID prefix, within the retention of transitions. */
export const readAlertIdsOfRules = async (
  { columns }: OpenTenantReader,
  prefix: string,
  limit: number,
): Promise<readonly string[]> => {
  const rows = await columns.query<{ alert_id: string }>(
    `SELECT DISTINCT alert_id FROM alert_transitions
    WHERE tenant_id = {tenant:String} AND startsWith(rule_id, {prefix:String}) LIMIT ${limit}`,
    { prefix },
    { maxResultRows: limit },
  );
  return rows.map(({ alert_id }) => alert_id);
};

/** Result of one evaluation, for the rule or one of its alerts. */
export interface PastEvaluation {
  readonly ms: string;
  readonly labels: Labels;
  readonly state: AlertState;
  readonly severity: AlertSeverity | '';
  readonly value: number | null;
  readonly reason: string;
  readonly error: string;
  readonly rule_version: number;
  readonly duration_ms: number;
  readonly late_ms: number;
  readonly groups: number;
  readonly firing: number;
}

/** Returns evaluations of a rule, latest first, or of one of its alerts if `alertId` is not empty. */
export const readEvaluations = (
  { columns }: OpenTenantReader,
  { ruleId, alertId }: { readonly ruleId: string; readonly alertId: string },
  page: HistoryPage,
): Promise<PastEvaluation[]> => {
  const { sql, values } = createHistoryCondition(page, 'alert_id');
  return columns.query<PastEvaluation>(
    `SELECT toString(toUnixTimestamp64Milli(time)) AS ms, labels, state, severity, value, reason, error, rule_version,
      duration_ms, late_ms, groups, firing
    FROM alert_evaluations WHERE tenant_id = {tenant:String} AND rule_id = {rule:String} AND alert_id = {alert:String} AND ${sql}
    ORDER BY time DESC LIMIT 1 BY time LIMIT ${page.limit}`,
    { rule: ruleId, alert: alertId, ...values },
  );
};

/** A stored transition. */
export interface PastTransition {
  readonly id: string;
  readonly alert_id: string;
  readonly rule_id: string;
  readonly rule_name: string;
  readonly rule_version: number;
  readonly project: string;
  readonly ms: string;
  readonly from_state: AlertState;
  readonly to_state: AlertState;
  readonly severity: AlertSeverity;
  readonly labels: Labels;
  readonly annotations: Labels;
  /** 0 if there is none. */
  readonly started: string;
  readonly ended: string;
  readonly value: number | null;
  readonly reason: string;
  readonly is_test: boolean;
}

/** Returns transitions, latest first. */
export const readTransitions = (
  { columns }: OpenTenantReader,
  filter: {
    readonly ruleId?: string | undefined;
    readonly alertId?: string | undefined;
    readonly alertIds?: readonly string[];
  },
  page: HistoryPage,
): Promise<PastTransition[]> => {
  const { sql, values } = createHistoryCondition(page, 'id');
  const { ruleId, alertId, alertIds } = filter;
  return columns.query<PastTransition>(
    `SELECT id, alert_id, rule_id, rule_name, rule_version, project_id AS project, toString(toUnixTimestamp64Milli(time)) AS ms,
      from_state, to_state, severity, labels, annotations, toString(toUnixTimestamp64Milli(started_at)) AS started,
      toString(toUnixTimestamp64Milli(ended_at)) AS ended, value, reason, is_test
    FROM alert_transitions WHERE tenant_id = {tenant:String} AND ${sql}
      ${ruleId === undefined ? '' : 'AND rule_id = {rule:String}'} ${alertId === undefined ? '' : 'AND alert_id = {alert:String}'}
      ${alertIds === undefined ? '' : 'AND alert_id IN {alerts:Array(String)}'}
    ORDER BY time DESC, id DESC LIMIT 1 BY id LIMIT ${page.limit}`,
    {
      ...values,
      ...(ruleId !== undefined && { rule: ruleId }),
      ...(alertId !== undefined && { alert: alertId }),
      ...(alertIds !== undefined && { alerts: [...alertIds] }),
    },
  );
};
