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
