/** Which records a query is of: one signal, a range of time, a project, a search. */
import type { QueryParameters } from '../schemas/ports/columns.ts';
import type { Range } from './range.ts';
import { searchCondition } from './search/condition.ts';
import { parseSearch } from './search/parse.ts';
import { type QuerySignal, recordsOf } from './signals/index.ts';

export interface Records {
  readonly signal: QuerySignal;
  readonly range: Range;
  readonly search?: string | undefined;
  readonly projectId?: string | undefined;
}

/** SQL of a condition, without the tenant's and the range's, and its parameters. */
export interface Condition {
  readonly sql: string;
  readonly parameters: QueryParameters;
}

/** Both ends belong to it. `{from:Int64}` and `{to:Int64}`, which may have a prefix, are nanoseconds. */
export const withinRange = (signal: QuerySignal, prefix = ''): string => {
  const { table } = recordsOf(signal);
  return `${table}.timestamp >= fromUnixTimestamp64Nano({${prefix}from:Int64}, 'UTC') AND ${table}.timestamp <= fromUnixTimestamp64Nano({${prefix}to:Int64}, 'UTC')`;
};

/** The sorting keys have time by ten minutes: of a longer stretch nearly all rows that are read are within it. */
const longNs = 600_000_000_000n;

export const isLong = ({ from, to }: Range): boolean => to - from >= longNs;

/** Whether a condition looks something up, of which some versions of ClickHouse from 26.3 on ask no index in `PREWHERE`. */
export const looksUp = (condition: string): boolean => condition.includes('(SELECT ');

/**
 * Clauses that choose the tenant's records of a stretch by a condition, and those behind a position. The engine remembers of which granules
 * what stands in `PREWHERE` is never true, and plans it for a fifth less than what it must sort into there itself. So the ends of a long stretch
 * stand behind it: a range that has moved finds what is remembered. Those of a short one leave most rows of its granules out, and come first.
 */
export const choosing = (signal: QuerySignal, condition: string, stretch: Range, position?: string): string => {
  const tenant = 'tenant_id = {tenant:String}';
  const within = withinRange(signal);
  const behind = position === undefined ? [] : [position];
  if (looksUp(condition)) return `WHERE ${[tenant, within, condition, ...behind].join(' AND ')}`;
  if (isLong(stretch)) return `PREWHERE ${tenant} AND ${condition} WHERE ${[within, ...behind].join(' AND ')}`;
  const rest = behind.length === 0 ? '' : ` WHERE ${behind.join(' AND ')}`;
  return `PREWHERE ${tenant} AND ${within} AND ${condition}${rest}`;
};

export const rangeValues = ({ from, to }: Range, prefix = ''): Record<string, string> => ({
  [`${prefix}from`]: String(from),
  [`${prefix}to`]: String(to),
});

/** The condition on the records of a range, to stand behind the tenant's and the range's. */
export const recordsCondition = ({ signal, search, projectId }: Omit<Records, 'range'>): Condition => {
  const conditions: string[] = [];
  const parameters: Record<string, string> = {};
  if (projectId !== undefined) {
    conditions.push('project_id = {project:String}');
    parameters['project'] = projectId;
  }
  if (search !== undefined) {
    const found = searchCondition(parseSearch(search, signal), signal);
    conditions.push(found.sql);
    Object.assign(parameters, found.parameters);
  }
  return { sql: conditions.length === 0 ? 'true' : conditions.join(' AND '), parameters };
};
