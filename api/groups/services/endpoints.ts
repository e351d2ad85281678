import { z } from 'zod';
import { encodeCursor } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { listSortValues, parseSort, sortDescription } from '../../../queries/sort.ts';
import { encodePosition, getSortedPage } from '../../../queries/sorted-page.ts';
import { apdexParameter } from '../../../subjects/services/activity-filter.ts';
import { Endpoint, readEndpoints } from '../../../subjects/services/endpoints.ts';
import { getMetricValue, metricSorts } from '../../../subjects/services/metric-sorts.ts';
import { formatMinutes, minutesFields } from '../../../subjects/services/minutes.ts';
import { createThresholdLookup } from '../../../subjects/services/request-counts.ts';
import { readServiceSettings } from '../../../subjects/services/settings.ts';
import { requireKnownService } from '../../kernel/known-services.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { parseMinutes, serviceParams } from './parameters.ts';

const cursorKind = 'endpoints';

export const listEndpoints = defineOperation({
  method: 'GET',
  path: '/api/services/{name}/endpoints',
  operationId: 'listServiceEndpoints',
  summary: 'List endpoints of a service in a time range, with requests, errors, latency and Apdex of each',
  role: 'viewer',
  cache: listCache,
  params: serviceParams,
  query: z.strictObject({
    ...rangeParameters,
    ...projectScopeParameters,
    ...apdexParameter,
    search: z.string().min(1).max(512).optional().describe('Part of the name, case-insensitive'),
    sort: z
      .enum(listSortValues(['name', ...metricSorts] as const))
      .default('name')
      .describe(
        `${sortDescription}. With a metric, an endpoint may move between two pages while spans of the range still arrive`,
      ),
  }),
  response: z.strictObject({
    ...minutesFields,
    items: z.array(Endpoint),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness),
  }),
  async handler({ caller, params, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const { minutes, after } = parseMinutes(cursorKind, query, reader);
    const serviceQuery = { ...query, minutes, service: params.name };
    await requireKnownService(reader, serviceQuery);
    const settings = await readServiceSettings(ports.documents.forTenant(caller.tenantId));
    const apdexThresholdMs = createThresholdLookup(settings, query.apdexThresholdMs)(params.name);
    const { endpoints, partial } = await readEndpoints(reader, { ...serviceQuery, apdexThresholdMs });
    const { by, direction } = parseSort(query.sort);
    const { pageItems, last } = getSortedPage(
      endpoints,
      {
        getName: ({ name, kind }) => `${name}\n${kind}`,
        getSortValue: ({ name, figures }) => (by === 'name' ? name : getMetricValue(figures, by)),
        direction,
      },
      { limit: query.limit, after },
    );
    return {
      ...formatMinutes(minutes),
      items: [...pageItems],
      nextCursor:
        last === undefined ? null : encodeCursor(cursorKind, [minutes.from, minutes.to, encodePosition(last)]),
      partial: [...partial],
    };
  },
});
