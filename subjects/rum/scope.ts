/** Which events a read selects: range, project, application and filters. */
import { z } from 'zod';
import { projectScopeParameters } from '../../queries/project-scope.ts';
import { parseRetainedRange, type Range } from '../../queries/range.ts';
import { buildRangeParameters, buildRecordsCondition } from '../../queries/records.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { QueryParameters } from '../../schemas/ports/columns.ts';

const text = z.string().min(1).max(512).optional();

/** Query parameters that select events of browsers. */
export const rumFilterParameters = {
  ...projectScopeParameters,
  application: text.describe('`service.name` of the page'),
  release: text.describe('`service.version` of the page'),
  environment: text.describe('Deployment environment'),
  page: z.string().min(1).max(2_048).optional().describe('Page group'),
  device: text.describe('desktop, mobile, tablet or other'),
  browser: text.describe('Browser, such as Chrome'),
  os: text.describe('Operating system'),
  country: text.describe('Two letters of ISO 3166'),
  search: z
    .string()
    .max(1024)
    .optional()
    .describe(
      'Search on fields of events, such as `kind:error AND browser:Firefox` (`docs/reference/search-language.md`)',
    ),
};

export interface RumFilter {
  readonly projectId?: string | undefined;
  readonly scope?: 'account' | undefined;
  readonly application?: string | undefined;
  readonly release?: string | undefined;
  readonly environment?: string | undefined;
  readonly page?: string | undefined;
  readonly device?: string | undefined;
  readonly browser?: string | undefined;
  readonly os?: string | undefined;
  readonly country?: string | undefined;
  readonly search?: string | undefined;
}

/** Columns of the parameters that compare a value. */
export const filterColumns = {
  application: 'service',
  release: 'release',
  environment: 'environment',
  page: 'page',
  device: 'device',
  browser: 'browser',
  os: 'os',
  country: 'country',
} as const;

/** SQL that follows `WHERE`, with its parameters. */
export interface RumCondition {
  readonly sql: string;
  readonly parameters: QueryParameters;
}

/** Returns the conditions of the parameters that compare a value, each with a leading ` AND `. */
export const buildEqualConditions = (
  filter: RumFilter,
  names = Object.keys(filterColumns) as (keyof typeof filterColumns)[],
): RumCondition => {
  const present = names.filter((name) => filter[name] !== undefined);
  return {
    sql: present.map((name) => ` AND ${filterColumns[name]} = {${name}:String}`).join(''),
    parameters: Object.fromEntries(present.map((name) => [name, filter[name] as string])),
  };
};

/** Returns the condition of a filter on events in a range, for `rumReportsSource`. */
export const buildEventsCondition = (filter: RumFilter, range: Range): RumCondition => {
  const projectId = filter.scope === 'account' ? undefined : filter.projectId;
  const records = buildRecordsCondition({
    signal: 'rum',
    ...(filter.search !== undefined && { search: filter.search }),
    ...(projectId !== undefined && { projectId }),
  });
  const equal = buildEqualConditions(filter);
  return {
    sql: `${records.sql}${equal.sql}`,
    parameters: { ...records.parameters, ...equal.parameters, ...buildRangeParameters(range) },
  };
};

/** Returns the range of a request, within the retention of the plan. */
export const parseRumRange = (
  query: { readonly from?: string | undefined; readonly to?: string | undefined },
  reader: TenantReader,
): Range => parseRetainedRange(query, { caller: reader, signal: 'rum', nowMs: reader.nowMs });
