import { z } from 'zod';
import { encodeCursor } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { listSortValues, parseSort, sortDescription } from '../../../queries/sort.ts';
import { encodePosition, getSortedPage } from '../../../queries/sorted-page.ts';
import { apdexParameter, filterParameters } from '../../../subjects/services/activity-filter.ts';
import {
  createSortKey,
  describeServices,
  readServices,
  ServiceSummary,
  serviceSorts,
} from '../../../subjects/services/inventory.ts';
import { formatMinutes, minutesFields } from '../../../subjects/services/minutes.ts';
import { readServiceSettings } from '../../../subjects/services/settings.ts';
import { readTrends, Trend } from '../../../subjects/services/trends.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { parseMinutes } from './parameters.ts';

const cursorKind = 'services';

export const listServices = defineOperation({
  method: 'GET',
  path: '/api/services',
  operationId: 'listServices',
  summary:
    'List the services of a time range with their requests, errors, latency and Apdex, and the other telemetry of each',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    ...projectScopeParameters,
    ...filterParameters,
    ...apdexParameter,
    search: z.string().min(1).max(512).optional().describe('Part of the name, case-insensitive'),
    trend: z.enum(['true']).optional().describe('true: also return the trend of each service'),
    sort: z
      .enum(listSortValues(serviceSorts))
      .default('name')
      .describe(
        `${sortDescription}. With a metric, a service may move between two pages while spans of the range still arrive`,
      ),
  }),
  response: z.strictObject({
    ...minutesFields,
    items: z.array(ServiceSummary.extend({ trend: Trend.optional().describe('Only if requested') })),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const { minutes, after } = parseMinutes(cursorKind, query, reader);
    const settings = await readServiceSettings(ports.documents.forTenant(caller.tenantId));
    const { services, partial } = await readServices(reader, { ...query, minutes, settings });
    const { by, direction } = parseSort(query.sort);
    const { pageItems, last } = getSortedPage(
      services,
      { getName: ({ name }) => name, getSortValue: createSortKey(by), direction },
      { limit: query.limit, after },
    );
    const [items, trends] = await Promise.all([
      describeServices(reader, { ...query, minutes }, pageItems),
      readTrends(reader, { ...query, minutes }, query.trend === undefined ? [] : pageItems.map(({ name }) => name)),
    ]);
    return {
      ...formatMinutes(minutes),
      items: items.map((item) => {
        const trend = trends.get(item.name);
        return trend === undefined ? item : { ...item, trend };
      }),
      nextCursor:
        last === undefined ? null : encodeCursor(cursorKind, [minutes.from, minutes.to, encodePosition(last)]),
      partial: [...partial],
    };
  },
});
