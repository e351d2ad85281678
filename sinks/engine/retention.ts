/**
 * Retention per tenant. It is configuration and not part of the rows, so that the next run applies a change, even to
 * stored data.
 */

import { addToList } from '../../schemas/add-to-list.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Columns, ServerColumns } from '../../schemas/ports/columns.ts';
import { anyRowClause } from '../../schemas/tables/any-row.ts';
import { allTables } from '../../schemas/tables/index.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { getAgeColumn, isPartitionedByDay, type Retention, type Table } from '../../schemas/tables/table.ts';

/** Retention in days, not counting today, by telemetry signal. */
export interface RetentionPolicy {
  readonly tenantId: string;
  readonly days: { readonly logs: number; readonly metrics: number; readonly traces: number };
}
/** Result of a run. */
export interface RetentionResult {
  /** Number of complete days dropped for all tenants. */
  readonly partitionsDropped: number;
  /** Number of statements that deleted rows of some tenants. */
  readonly deletes: number;
}

type GetDays = (policy: RetentionPolicy) => number;
type SignalRetention = Exclude<Retention, 'never' | object>;

const daysByRetention: Readonly<Record<SignalRetention, GetDays>> = {
  logs: ({ days }) => days.logs,
  metrics: ({ days }) => days.metrics,
  traces: ({ days }) => days.traces,
  longest: ({ days }) => Math.max(days.logs, days.metrics, days.traces),
};
const getRetentionDays = (retention: Exclude<Retention, 'never'>): GetDays =>
  typeof retention === 'object' ? () => retention.days : daysByRetention[retention];

const dayMs = 24 * 3600 * 1000;
/** First retained day, as `YYYY-MM-DD`. */
const getFirstDay = (nowMs: number, days: number): string => new Date(nowMs - days * dayMs).toISOString().slice(0, 10);

/** First retained day → tenants, as an SQL list */
const groupTenantsByFirstDay = (
  policies: readonly RetentionPolicy[],
  days: GetDays,
  nowMs: number,
): [string, string][] => {
  const groups = new Map<string, string[]>();
  for (const policy of policies) {
    const day = getFirstDay(nowMs, days(policy));
    addToList(groups, day, quoteString(policy.tenantId));
  }
  return [...groups].map(([day, tenants]) => [day, `tenant_id IN (${tenants.join(', ')})`]);
};

/**
 * At most one statement per table, and none if no rows match: each rewrites a column of the affected parts, and takes
 * about a second.
 */
const deleteWhere = async (columns: Columns, table: string, conditions: readonly string[]): Promise<number> => {
  const condition = conditions.map((predicate) => `(${predicate})`).join(' OR ');
  const matches = await columns.query(`SELECT 1 AS found FROM ${table} WHERE ${condition} ${anyRowClause}`);
  if (matches.length === 0) return 0;
  await columns.execute(`DELETE FROM ${table} WHERE ${condition}`);
  return 1;
};

const dropPartitions = async (columns: ServerColumns, table: string, before: string): Promise<number> => {
  const rows = await columns.query<{ partition: string }>(
    `SELECT DISTINCT partition_id AS partition FROM system.parts
WHERE database = currentDatabase() AND table = {table:String} AND active AND partition_id < {before:String}`,
    { table, before: before.replaceAll('-', '') },
  );
  for (const { partition } of rows)
    await columns.execute(`ALTER TABLE ${table} DROP PARTITION ID ${quoteString(partition)}`);
  return rows.length;
};

/**
 * A row may be an earlier observation of an object that was observed again: only IDs without a later row are deleted.
 */
const buildLastObservationCondition = (table: string, id: string, day: string, tenants: string): string =>
  `${tenants} AND last_seen < ${quoteString(`${day} 00:00:00`)}
AND (tenant_id, ${id}) NOT IN (SELECT tenant_id, ${id} FROM ${table} WHERE ${tenants} AND last_seen >= ${quoteString(`${day} 00:00:00`)})`;

const buildExpiredCondition = (table: Table, day: string, tenants: string): string =>
  table.identity === undefined
    ? `${tenants} AND ${getAgeColumn(table)} < ${quoteString(day)}`
    : buildLastObservationCondition(table.name, table.identity, day, tenants);

/**
 * Deletes data beyond the retention: complete days if no tenant retains them, otherwise rows of individual tenants.
 * A row belongs to the day (UTC) of its reception, and today is always retained. Rows of a tenant without a policy have the longest
 * retention of all policies. Without any policy nothing is deleted. Idempotent.
 */
export const applyRetention = async (
  columns: Columns,
  policies: AsyncIterable<RetentionPolicy>,
  clock: Clock,
  tables: readonly Table[] = allTables,
): Promise<RetentionResult> => {
  const allPolicies: RetentionPolicy[] = [];
  for await (const policy of policies) allPolicies.push(policy);
  if (allPolicies.length === 0) return { partitionsDropped: 0, deletes: 0 };
  const nowMs = clock.now();
  let partitionsDropped = 0;
  let deletes = 0;
  const expiringTables = tables.flatMap((table) =>
    table.retention === 'never' ? [] : [{ table, days: getRetentionDays(table.retention) }],
  );
  for (const { table, days } of expiringTables.filter(({ table }) => isPartitionedByDay(table)))
    for (const server of columns.listServers())
      partitionsDropped += await dropPartitions(
        server.columns,
        table.name,
        getFirstDay(nowMs, Math.max(...allPolicies.map(days))),
      );
  for (const { table, days } of expiringTables) {
    const groups = groupTenantsByFirstDay(allPolicies, days, nowMs);
    const conditions = groups.map(([day, tenants]) => buildExpiredCondition(table, day, tenants));
    deletes += await deleteWhere(columns, table.name, conditions);
  }
  return { partitionsDropped, deletes };
};
