/** Filters of log records: the parameters shared by lists, counts and exports. */
import { z } from 'zod';
import { projectScopeParameters } from '../project-scope.ts';
import { serviceParameter } from '../range.ts';
import { buildRecordsCondition, type Condition } from '../records.ts';
import { type RecordFilter, toQueryParts } from '../search/query-parts.ts';

export const logFilterParameters = {
  ...serviceParameter,
  ...projectScopeParameters,
  search: z
    .string()
    .max(1024)
    .optional()
    .describe(
      'Words that must all occur in the body, case-insensitive; also "phrases", field:value, field:>10, field:[1 TO 5], field:foo*, /regex/, field:*, AND, OR, NOT and parentheses (`docs/reference/search-language.md`)',
    ),
};

/** Returns the condition on log records of a filter. */
export const buildLogCondition = ({ service, search, ...scope }: RecordFilter): Condition => {
  const { projectId } = toQueryParts('logs', scope);
  const baseCondition = buildRecordsCondition({
    signal: 'logs',
    ...(search === undefined ? {} : { search }),
    ...(projectId === undefined ? {} : { projectId }),
  });
  if (service === undefined) return baseCondition;
  const { sql, parameters } = baseCondition;
  return { ...baseCondition, sql: `service = {service:String} AND ${sql}`, parameters: { ...parameters, service } };
};
