/** Stored security signals */

import { z } from 'zod';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { SignalEvent, SignalField, type SignalSeverity } from '../../schemas/signals.ts';
import { createHistoryCondition, type HistoryPage } from '../events/history-page.ts';

type Columns = Pick<TenantReader, 'columns'>;

export interface StoredSignal {
  readonly id: string;
  readonly ms: string;
  readonly kind: 'rule' | 'correlation';
  readonly project: string;
  readonly rule_id: string;
  readonly rule_version: number;
  readonly rule_title: string;
  readonly severity: SignalSeverity;
  readonly risk_score: number;
  /** JSON of `SignalEvent[]` */
  readonly events: string;
  readonly event_count: number;
  /** Entities as type and value: `user ann` */
  readonly entities: readonly string[];
  readonly tactics: readonly string[];
  readonly techniques: readonly string[];
  readonly group_by: Readonly<Record<string, string>>;
  readonly suppressed_by: string;
}

export interface SignalFilter {
  readonly ruleId?: string | undefined;
  readonly ruleIds?: readonly string[] | undefined;
  readonly severities?: readonly string[] | undefined;
  /** `user ann`. */
  readonly entity?: string | undefined;
  readonly technique?: string | undefined;
  readonly projectId?: string | undefined;
  /** Service of the first record */
  readonly service?: string | undefined;
  /** Whether to include signals that an exception covers */
  readonly withSuppressed: boolean;
  /** Restricts the result to these ids, or excludes them. */
  readonly ids?: { readonly are: 'only' | 'none'; readonly of: readonly string[] } | undefined;
}

const signalColumns = `id, toString(toUnixTimestamp64Milli(time)) AS ms, kind, project_id AS project, rule_id, rule_version, rule_title, severity,
  risk_score, events, event_count, entities, tactics, techniques, group_by, suppressed_by`;

/** Start of a query on signals, to which conditions are appended */
export const selectSignals = `SELECT ${signalColumns} FROM signals WHERE tenant_id = {tenant:String}`;

/** Conditions of a filter, by the name of their parameter */
const filterConditions = {
  ruleId: 'rule_id = {ruleId:String}',
  ruleIds: 'rule_id IN {ruleIds:Array(String)}',
  severities: 'severity IN {severities:Array(String)}',
  entity: 'has(entities, {entity:String})',
  technique: 'has(techniques, {technique:String})',
  projectId: 'project_id = {projectId:String}',
  service: "JSONExtractString(events, 1, 'service') = {service:String}",
} as const;

/** Returns the SQL condition of the signals of a page and a filter, and its parameters. */
const createCondition = ({ withSuppressed, ids, ...filter }: SignalFilter, page: HistoryPage) => {
  const { sql, values } = createHistoryCondition(page, 'id');
  const filterNames = (Object.keys(filterConditions) as (keyof typeof filterConditions)[]).filter(
    (name) => filter[name] !== undefined,
  );
  const sqlConditions = [
    sql,
    ...filterNames.map((name) => filterConditions[name]),
    ...(withSuppressed ? [] : ["suppressed_by = ''"]),
    ...(ids === undefined ? [] : [`id ${ids.are === 'only' ? '' : 'NOT '}IN {ids:Array(String)}`]),
  ];
  return {
    condition: sqlConditions.join(' AND '),
    parameters: {
      ...values,
      ...Object.fromEntries(filterNames.map((name) => [name, filter[name] ?? ''])),
      ...(ids !== undefined && { ids: ids.of }),
    },
  };
};

/**
 * Returns a page of signals, the newest first. A signal that was stored several times occurs once, with its full count.
 */
export const readSignals = ({ columns }: Columns, filter: SignalFilter, page: HistoryPage): Promise<StoredSignal[]> => {
  const { condition, parameters } = createCondition(filter, page);
  return columns.query<StoredSignal>(
    `${selectSignals} AND ${condition}
    ORDER BY time DESC, id DESC, event_count DESC LIMIT 1 BY id LIMIT ${page.limit}`,
    parameters,
    { maxResultRows: page.limit },
  );
};

/** Returns the number of signals by severity; severities without signals are absent. */
export const countSignalsBySeverity = async (
  { columns }: Columns,
  filter: SignalFilter,
  range: Range,
): Promise<ReadonlyMap<SignalSeverity, number>> => {
  const { condition, parameters } = createCondition(filter, { range, limit: 0 });
  const rows = await columns.query<{ level: SignalSeverity; total: string }>(
    `SELECT toString(severity) AS level, uniqExact(id) AS total FROM signals
    WHERE tenant_id = {tenant:String} AND ${condition} GROUP BY level`,
    parameters,
  );
  return new Map(rows.map(({ level, total }) => [level, Number(total)]));
};

/** Returns a signal by its id; `undefined` if there is none. */
export const readSignal = async ({ columns }: Columns, id: string): Promise<StoredSignal | undefined> => {
  const [signal] = await columns.query<StoredSignal>(
    `${selectSignals} AND id = {id:String} ORDER BY time, event_count DESC LIMIT 1`,
    { id },
  );
  return signal;
};

/** A record that a rule matched, as the API returns it. Stored signals and messages call `condition` `because`. */
export const SignalEventView = SignalEvent.extend({
  fields: z.array(SignalField.omit({ because: true }).extend({ condition: SignalField.shape.because })),
});

export const toSignalEventView = ({ fields, ...event }: SignalEvent): z.output<typeof SignalEventView> => ({
  ...event,
  fields: fields.map(({ because, ...field }) => ({ ...field, condition: because })),
});

/** Returns the records that the rule matched, with the matched fields and the condition of each. */
export const parseEvents = ({ events }: StoredSignal): SignalEvent[] => JSON.parse(events) as SignalEvent[];

/**
 * Returns how many signals were suppressed after this one. Only rules have suppression, and a rule's signal has one
 * record.
 */
export const getSuppressedCount = ({ kind, event_count: count }: Pick<StoredSignal, 'kind' | 'event_count'>): number =>
  kind === 'rule' ? Math.max(0, count - 1) : 0;

/** Returns how many signals of each of these rules were suppressed since a time. */
export const countSuppressed = async (
  { columns }: Columns,
  rules: readonly string[],
  sinceMs: number,
): Promise<ReadonlyMap<string, number>> => {
  if (rules.length === 0) return new Map();
  const rows = await columns.query<{ rule: string; hidden: string }>(
    `SELECT rule, toString(sum(most - 1)) AS hidden FROM (
      SELECT toString(rule_id) AS rule, id, max(event_count) AS most FROM signals
      WHERE tenant_id = {tenant:String} AND kind = 'rule' AND event_count > 1 AND rule_id IN {rules:Array(String)}
        AND time >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
      GROUP BY rule, id
    ) GROUP BY rule`,
    { rules: [...rules], since: String(sinceMs) },
  );
  return new Map([
    ...rules.map((rule) => [rule, 0] as const),
    ...rows.map(({ rule, hidden }) => [rule, Number(hidden)] as const),
  ]);
};

/** Returns the number of signals per rule, technique and tactic in a range. */
export const countSignals = async (
  { columns }: Columns,
  page: Pick<HistoryPage, 'range'>,
): Promise<ReadonlyMap<string, number>> => {
  const { sql, values } = createHistoryCondition({ ...page, limit: 0 }, 'id');
  const rows = await columns.query<{ rule: string; signals: string }>(
    `SELECT rule_id AS rule, uniqExact(id) AS signals FROM signals WHERE tenant_id = {tenant:String} AND suppressed_by = '' AND ${sql} GROUP BY rule`,
    values,
  );
  return new Map(rows.map(({ rule, signals }) => [rule, Number(signals)]));
};
