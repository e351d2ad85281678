/** Errors and log patterns that occurred for the first time. */
import { canRead } from '../../queries/entitlement.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { createNode } from '../services/edges.ts';
import type { Novelty } from './incident-context.ts';

const maxNovelties = 100;

const toQueryParameters = ({ from, to }: Range, services: readonly string[]) => ({
  services,
  from: String(from / 1_000_000n),
  to: String(to / 1_000_000n),
});
const timeCondition = (column: string): string =>
  `${column} >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND ${column} <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')`;

const readNewErrors = async (reader: TenantReader, services: readonly string[], range: Range): Promise<Novelty[]> => {
  const { columns } = reader;
  const readableSources = [...(canRead(reader, 'logs') ? ['log'] : []), ...(canRead(reader, 'traces') ? ['span'] : [])];
  const rows = await columns.query<{ of: string; id: string; called: string; text: string; first: string; n: string }>(
    `SELECT known.of AS of, known.id AS id, called, text, first, toString(seen.n) AS n FROM (
      SELECT service AS of, fingerprint AS id, any(type) AS called, any(message) AS text,
        toString(toUnixTimestamp64Milli(min(first_seen))) AS first FROM error_groups
      WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)} AND source IN {readable:Array(String)}
      GROUP BY of, id HAVING ${timeCondition('min(first_seen)')} LIMIT ${maxNovelties}
    ) AS known LEFT JOIN (
      SELECT service AS of, fingerprint AS id, count() AS n FROM error_occurrences
      WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)} AND ${timeCondition('timestamp')} GROUP BY of, id
    ) AS seen ON known.of = seen.of AND known.id = seen.id`,
    { ...toQueryParameters(range, services), readable: readableSources },
  );
  return rows.map(({ of, id, called, text, first, n }) => ({
    kind: 'error',
    node: createNode('service', of).id,
    firstMs: Number(first),
    count: Number(n),
    title: `new error ${[called, text].filter((value) => value !== '').join(': ')}`.slice(0, 200),
    link: `/api/errors/${encodeURIComponent(id)}`,
  }));
};

/**
 * Returns new log patterns of services that sent logs before the range: in a service's first logs, all patterns are
 * new.
 */
const readNewPatterns = async (reader: TenantReader, services: readonly string[], range: Range): Promise<Novelty[]> => {
  if (!canRead(reader, 'logs')) return [];
  const { columns } = reader;
  const rows = await columns.query<{ of: string; id: string; form: string; first: string; n: string }>(
    `SELECT known.of AS of, known.id AS id, form, first, toString(seen.n) AS n FROM (
      SELECT service AS of, pattern_id AS id, any(template) AS form, toString(toUnixTimestamp64Milli(min(first_seen))) AS first
      FROM log_patterns WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)}
        AND service IN (SELECT service FROM log_patterns WHERE tenant_id = {tenant:String} GROUP BY service HAVING min(first_seen) < fromUnixTimestamp64Milli({from:Int64}, 'UTC'))
      GROUP BY of, id HAVING ${timeCondition('min(first_seen)')} LIMIT ${maxNovelties}
    ) AS known LEFT JOIN (
      SELECT service AS of, pattern_id AS id, sum(count) AS n FROM log_pattern_counts
      WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)} AND ${timeCondition('minute')} GROUP BY of, id
    ) AS seen ON known.of = seen.of AND known.id = seen.id`,
    toQueryParameters(range, services),
  );
  return rows.map(({ of, id, form, first, n }) => ({
    kind: 'log-pattern',
    node: createNode('service', of).id,
    firstMs: Number(first),
    count: Number(n),
    title: `new log pattern ${form}`.slice(0, 200),
    link: `/api/logs/patterns/${encodeURIComponent(id)}`,
  }));
};

/** Returns the new log patterns and errors of services in a range. */
export const readNovelties = async (
  reader: TenantReader,
  services: readonly string[],
  range: Range,
): Promise<Novelty[]> =>
  services.length === 0
    ? []
    : (await Promise.all([readNewErrors(reader, services, range), readNewPatterns(reader, services, range)])).flat();
