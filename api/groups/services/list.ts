import { z } from 'zod';
import { encodeCursor } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { sortOf, sortsOf, sortText } from '../../../queries/sort.ts';
import { positionPart, sortedPage } from '../../../queries/sorted-page.ts';
import { apdexParameter, choiceParameters } from '../../../subjects/services/chosen-activity.ts';
import {
  describeServices,
  readServices,
  ServiceSummary,
  serviceSorts,
  sortKeyOf,
} from '../../../subjects/services/inventory.ts';
import { minutesAnswer, minutesFields } from '../../../subjects/services/minutes.ts';
import { serviceSettingsOf } from '../../../subjects/services/settings.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { parseMinutes } from './parameters.ts';

const kind = 'services';

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
    ...choiceParameters,
    ...apdexParameter,
    search: z.string().min(1).max(512).optional().describe('Part of the name, case-insensitive'),
    sort: z
      .enum(sortsOf(serviceSorts))
      .default('name')
      .describe(
        `${sortText}. With a metric, a service may move between two pages while spans of the range still arrive`,
      ),
  }),
  response: z.strictObject({
    ...minutesFields,
    items: z.array(ServiceSummary),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness),
  }),
  async handler({ caller, query }, ports) {
    const reading = readingOf(caller, ports);
    const { minutes, after } = parseMinutes(kind, query, reading);
    const settings = await serviceSettingsOf(ports.documents.of(caller.tenantId));
    const { services, partial } = await readServices(reading, { ...query, minutes, settings });
    const { by, direction } = sortOf(query.sort);
    const { shown, last } = sortedPage(
      services,
      { nameOf: ({ name }) => name, sortedBy: sortKeyOf(by), direction },
      { limit: query.limit, after },
    );
    return {
      ...minutesAnswer(minutes),
      items: await describeServices(reading, { ...query, minutes }, shown),
      nextCursor: last === undefined ? null : encodeCursor(kind, [minutes.from, minutes.to, positionPart(last)]),
      partial: [...partial],
    };
  },
});
