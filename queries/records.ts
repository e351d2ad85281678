/** Selects the records of a query: one data source, time range, project and search. */
import type { QueryParameters } from '../schemas/ports/columns.ts';
import type { Range } from './range.ts';
import { buildSearchCondition } from './search/condition.ts';
import { parseSearch } from './search/parse.ts';
import { getSignalRecords, type QuerySignal } from './signals/index.ts';

export interface RecordSelection {
  readonly signal: QuerySignal;
  readonly range: Range;
  readonly search?: string | undefined;
  readonly projectId?: string | undefined;
}

/** SQL of a condition and its parameters, without the conditions on the tenant and the range. */
export interface Condition {
  readonly sql: string;
  readonly parameters: QueryParameters;
  /** Whether ClickHouse can use an index of words or attributes for it. */
  readonly usesIndex: boolean;
  /** Whether it selects from another table. */
  readonly hasSubquery: boolean;
}

/** Returns a condition that no index of words or attributes supports, without a subquery. */
export const createCondition = (sql: string, parameters: QueryParameters = {}): Condition => ({
  sql,
  parameters,
  usesIndex: false,
  hasSubquery: false,
});

/**
 * Returns the condition of a range; both ends are inclusive. `{from:Int64}` and `{to:Int64}`, which may have a prefix, are
 * nanoseconds.
 */
export const buildRangeCondition = (signal: QuerySignal, prefix = ''): string => {
  const { table } = getSignalRecords(signal);
  return `${table}.timestamp >= fromUnixTimestamp64Nano({${prefix}from:Int64}, 'UTC') AND ${table}.timestamp <= fromUnixTimestamp64Nano({${prefix}to:Int64}, 'UTC')`;
};

/**
 * Length from which a range is long. Sorting keys use ten-minute units, so nearly all rows read for a long range are
 * within it.
 */
const longRangeNs = 600_000_000_000n;

export const isLongRange = ({ from, to }: Range): boolean => to - from >= longRangeNs;

/**
 * Returns the clauses that select the tenant's records in a time range by a condition, optionally only those after a
 * position.
 *
 * ClickHouse caches which granules never match the `PREWHERE` condition, and plans an explicit `PREWHERE` a fifth
 * faster than one that it derives itself. The bounds of a long range are in `WHERE`: the condition then stays the same
 * when the range moves, and the cache is used. The bounds of a short range exclude most rows of their granules, and are in
 * `PREWHERE`.
 *
 * For a subquery in `PREWHERE`, some versions of ClickHouse from 26.3 on use no index.
 */
export const buildSelectionClauses = (
  signal: QuerySignal,
  { sql, hasSubquery }: Omit<Condition, 'parameters'>,
  range: Range,
  position?: string,
): string => {
  const tenantSql = 'tenant_id = {tenant:String}';
  const rangeSql = buildRangeCondition(signal);
  const positionConditions = position === undefined ? [] : [position];
  if (hasSubquery) return `WHERE ${[tenantSql, rangeSql, sql, ...positionConditions].join(' AND ')}`;
  if (isLongRange(range))
    return `PREWHERE ${tenantSql} AND ${sql} WHERE ${[rangeSql, ...positionConditions].join(' AND ')}`;
  const whereClause = positionConditions.length === 0 ? '' : ` WHERE ${positionConditions.join(' AND ')}`;
  return `PREWHERE ${tenantSql} AND ${rangeSql} AND ${sql}${whereClause}`;
};

export const buildRangeParameters = ({ from, to }: Range, prefix = ''): Record<string, string> => ({
  [`${prefix}from`]: String(from),
  [`${prefix}to`]: String(to),
});

/** Returns the condition on records. It follows the conditions on the tenant and the range. */
export const buildRecordsCondition = ({ signal, search, projectId }: Omit<RecordSelection, 'range'>): Condition => {
  const conditions: string[] = [];
  const parameters: Record<string, string> = {};
  if (projectId !== undefined) {
    conditions.push('project_id = {project:String}');
    parameters['project'] = projectId;
  }
  const searchSql = search === undefined ? undefined : buildSearchCondition(parseSearch(search, signal), signal);
  if (searchSql !== undefined) {
    conditions.push(searchSql.sql);
    Object.assign(parameters, searchSql.parameters);
  }
  return {
    sql: conditions.length === 0 ? 'true' : conditions.join(' AND '),
    parameters,
    usesIndex: searchSql?.usesIndex === true,
    hasSubquery: searchSql?.hasSubquery === true,
  };
};
