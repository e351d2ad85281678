/**
 * Retention per tenant. It lies in configuration and never in rows, so that a change counts at the next run, for what is
 * stored already too.
 */
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { quote } from '../../schemas/tables/literal.ts';

/** Whole days that a tenant keeps, besides today, by signal. */
export interface RetentionPolicy {
  readonly tenantId: string;
  readonly days: { readonly logs: number; readonly metrics: number; readonly traces: number };
}
type Days = (policy: RetentionPolicy) => number;

/** What a run removed. */
export interface RetentionResult {
  /** Whole days, of all tenants. */
  readonly partitionsDropped: number;
  /** Statements that deleted rows of some tenants. */
  readonly deletes: number;
}

const logs: Days = ({ days }) => days.logs;
const metrics: Days = ({ days }) => days.metrics;
const traces: Days = ({ days }) => days.traces;
const longest: Days = ({ days }) => Math.max(days.logs, days.metrics, days.traces);

/** Tables partitioned by day, with the column that tells the day: their partition ids are `YYYYMMDD`. */
const daily: readonly (readonly [table: string, at: string, Days])[] = [
  ['logs', 'received_at', logs],
  ['spans', 'received_at', traces],
  ['span_metrics', 'day', traces],
  ['samples', 'received_at', metrics],
  ['histograms', 'received_at', metrics],
  ['summaries', 'received_at', metrics],
  ['exemplars', 'received_at', metrics],
  ['dead_letters', 'received_at', longest],
];
/** Marks are younger than what they mark: they outlive it, and nothing that is still listed loses its mark. */
const marks = ['dead_letter_marks', 'marked_at', longest] as const;
/** Tables of what was seen, with the column that identifies it. */
const seen: readonly (readonly [table: string, id: string, Days])[] = [
  ['series', 'series_id', metrics],
  ['resources', 'resource_id', longest],
  ['entities', 'id', longest],
];

const dayMs = 24 * 3600 * 1000;
/** First day that is kept, as `YYYY-MM-DD`. */
const firstDay = (nowMs: number, days: number): string => new Date(nowMs - days * dayMs).toISOString().slice(0, 10);

/** First day → tenants that keep from there on, as an SQL list. */
const tenantsByFirstDay = (policies: readonly RetentionPolicy[], days: Days, nowMs: number): [string, string][] => {
  const groups = new Map<string, string[]>();
  for (const policy of policies) {
    const day = firstDay(nowMs, days(policy));
    groups.set(day, [...(groups.get(day) ?? []), quote(policy.tenantId)]);
  }
  return [...groups].map(([day, tenants]) => [day, `tenant_id IN (${tenants.join(', ')})`]);
};

/** One statement a table, and none where nothing would go: each rewrites a column of the parts that it touches, and takes about a second. */
const deleteWhere = async (columns: Columns, table: string, conditions: readonly string[]): Promise<number> => {
  const condition = conditions.map((each) => `(${each})`).join(' OR ');
  const found = await columns.query(`SELECT 1 AS found FROM ${table} WHERE ${condition} LIMIT 1`);
  if (found.length === 0) return 0;
  await columns.execute(`DELETE FROM ${table} WHERE ${condition}`);
  return 1;
};

const dropPartitions = async (columns: Columns, table: string, before: string): Promise<number> => {
  const rows = await columns.query<{ partition: string }>(
    `SELECT DISTINCT partition_id AS partition FROM system.parts
WHERE database = currentDatabase() AND table = {table:String} AND active AND partition_id < {before:String}`,
    { table, before: before.replaceAll('-', '') },
  );
  for (const { partition } of rows) await columns.execute(`ALTER TABLE ${table} DROP PARTITION ID ${quote(partition)}`);
  return rows.length;
};

/** A row may be an older sighting of what was seen again since: only ids without a newer one go. */
const unseenSince = (table: string, id: string, day: string, tenants: string): string =>
  `${tenants} AND last_seen < ${quote(`${day} 00:00:00`)}
AND (tenant_id, ${id}) NOT IN (SELECT tenant_id, ${id} FROM ${table} WHERE ${tenants} AND last_seen >= ${quote(`${day} 00:00:00`)})`;

/**
 * Removes what no policy keeps: whole days where no tenant keeps them, else the rows of the tenants that do not. A tenant
 * keeps its days by reception (UTC) and today. Rows of a tenant without a policy last as long as the longest policy; without
 * any policy nothing is removed. Repeatable: a second run finds nothing to do.
 */
export const applyRetention = async (
  columns: Columns,
  policies: AsyncIterable<RetentionPolicy>,
  clock: Clock,
): Promise<RetentionResult> => {
  const all: RetentionPolicy[] = [];
  for await (const policy of policies) all.push(policy);
  if (all.length === 0) return { partitionsDropped: 0, deletes: 0 };
  const nowMs = clock.now();
  let partitionsDropped = 0;
  let deletes = 0;
  for (const [table, , days] of daily)
    partitionsDropped += await dropPartitions(columns, table, firstDay(nowMs, Math.max(...all.map(days))));
  for (const [table, at, days] of [...daily, marks]) {
    const groups = tenantsByFirstDay(all, days, nowMs);
    const conditions = groups.map(([day, tenants]) => `${tenants} AND ${at} < ${quote(day)}`);
    deletes += await deleteWhere(columns, table, conditions);
  }
  for (const [table, id, days] of seen) {
    const groups = tenantsByFirstDay(all, days, nowMs);
    const conditions = groups.map(([day, tenants]) => unseenSince(table, id, day, tenants));
    deletes += await deleteWhere(columns, table, conditions);
  }
  return { partitionsDropped, deletes };
};
