/** Which log records a question is of: the parameters that lists, counts and exports share. */
import { z } from 'zod';
import { type ProjectScope, projectScopeParameters } from '../project-scope.ts';
import { serviceParameter } from '../range.ts';
import { type Condition, recordsCondition, withinRange } from '../records.ts';
import { parseSearch } from '../search/parse.ts';

export const logFilterParameters = {
  ...serviceParameter,
  ...projectScopeParameters,
  search: z
    .string()
    .max(1024)
    .optional()
    .describe(
      'Words that must all occur in the body, case-insensitive; also "phrases", field:value, field:>10, field:[1 TO 5], field:foo*, /regex/, field:*, AND, OR, NOT and parentheses (`queries/search/README.md`)',
    ),
};

export interface LogFilter extends ProjectScope {
  readonly service?: string | undefined;
  readonly search?: string | undefined;
}

/** The same as parts of a `Query`: a service is a condition of the search. */
export const queryPartsOf = ({
  service,
  search,
  projectId,
  scope,
}: LogFilter): { readonly search?: string; readonly projectId?: string } => {
  // By itself first: what an error says of columns is then of the text that was sent, and a parenthesis closes nothing of ours.
  // Punctuation alone finds nothing by itself, and would say nothing beside a service.
  const isNone = search !== undefined && parseSearch(search, 'logs').is === 'none';
  const searches = [
    ...(service === undefined || isNone ? [] : [`service:"${service.replace(/["\\]/g, '\\$&')}"`]),
    ...(search === undefined || search.trim() === '' ? [] : [`(${search})`]),
  ];
  return {
    ...(searches.length === 0 ? {} : { search: searches.join(' AND ') }),
    ...(projectId === undefined || scope === 'account' ? {} : { projectId }),
  };
};

/** SQL of the records of `{from:Int64}` to `{to:Int64}` that it is of, to stand behind the tenant's condition. */
export const logCondition = ({ service, search, ...scope }: LogFilter): Condition => {
  const { projectId } = queryPartsOf(scope);
  const { sql, parameters } = recordsCondition({
    signal: 'logs',
    ...(search === undefined ? {} : { search }),
    ...(projectId === undefined ? {} : { projectId }),
  });
  const ofService = service === undefined ? '' : ' AND service = {service:String}';
  return {
    sql: `${withinRange('logs')}${ofService} AND ${sql}`,
    parameters: { ...parameters, ...(service === undefined ? {} : { service }) },
  };
};
