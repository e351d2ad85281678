/**
 * Ingestion times of an organization: the first record of each telemetry signal, and the last recent record of a
 * project
 */

import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { anyRowClause } from '../../schemas/tables/any-row.ts';
import { type Signal, signals } from '../../schemas/telemetry-signals.ts';

/** Time at which the last record of each telemetry signal was ingested */
export type LastReceived = Readonly<Record<Signal, string | null>>;

const tables: Readonly<Record<Signal, readonly string[]>> = {
  logs: ['logs'],
  metrics: ['samples', 'histograms', 'summaries'],
  traces: ['spans'],
};

/** Excludes series that alert rules write, because they do not come from senders */
const conditions: Readonly<Record<Signal, string>> = {
  logs: '',
  metrics: " AND metric NOT IN ('ALERTS', 'ALERTS_FOR_STATE')",
  traces: '',
};

/**
 * Returns when records of a project, or of any, were last ingested since a time, by telemetry signal. Reads only the
 * partitions of that period.
 */
export const readLastReceived = async (
  columns: TenantColumns,
  { projectId, sinceMs }: { readonly projectId?: string | undefined; readonly sinceMs: number },
): Promise<LastReceived> => {
  const projectCondition = projectId === undefined ? '' : 'AND project_id = {project:String}';
  const selects = signals.flatMap((signal) =>
    tables[signal].map(
      (table) =>
        `SELECT '${signal}' AS signal, max(received_at) AS at FROM ${table} WHERE tenant_id = {tenant:String}
          ${projectCondition} AND received_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')${conditions[signal]}`,
    ),
  );
  const rows = await columns.query<{ signal: Signal; last: string }>(
    `SELECT signal, toString(toUnixTimestamp64Milli(max(at))) AS last FROM (${selects.join(' UNION ALL ')}) GROUP BY signal`,
    { project: projectId ?? '', since: Math.trunc(sinceMs) },
  );
  const lastReceived: Record<Signal, string | null> = { logs: null, metrics: null, traces: null };
  for (const { signal, last } of rows)
    if (Number(last) > 0) lastReceived[signal] = new Date(Number(last)).toISOString();
  return lastReceived;
};

/**
 * Returns when the first stored record of a telemetry signal was ingested; `undefined` if there is none. A cheap query
 * checks for a row first, so that times are only read from tables with rows.
 */
export const readFirstReceived = async (columns: TenantColumns, signal: Signal): Promise<string | undefined> => {
  const tableCondition = `tenant_id = {tenant:String}${conditions[signal]}`;
  const firstRows = await Promise.all(
    tables[signal].map(async (table) => {
      const [anyRecord] = await columns.query(`SELECT 1 FROM ${table} WHERE ${tableCondition} ${anyRowClause}`);
      if (anyRecord === undefined) return [];
      return columns.query<{ first: string }>(
        `SELECT toString(toUnixTimestamp64Milli(min(received_at))) AS first FROM ${table} WHERE ${tableCondition}`,
      );
    }),
  );
  const times = firstRows.flat().map(({ first }) => Number(first));
  return times.length === 0 ? undefined : new Date(Math.min(...times)).toISOString();
};
