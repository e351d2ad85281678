import { z } from 'zod';
import { encodeCursor } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { sortOf, sortsOf, sortText } from '../../../queries/sort.ts';
import { positionPart, sortedPage } from '../../../queries/sorted-page.ts';
import { apdexParameter } from '../../../subjects/services/chosen-activity.ts';
import { Endpoint, readEndpoints } from '../../../subjects/services/endpoints.ts';
import { thresholdsOf } from '../../../subjects/services/figures.ts';
import { minutesAnswer, minutesFields } from '../../../subjects/services/minutes.ts';
import { serviceSettingsOf } from '../../../subjects/services/settings.ts';
import { figureOf, figureSorts } from '../../../subjects/services/sorting.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { parseMinutes, requireService, serviceParams } from './parameters.ts';

const kind = 'endpoints';

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
      .enum(sortsOf(['name', ...figureSorts] as const))
      .default('name')
      .describe(
        `${sortText}. With a metric, an endpoint may move between two pages while spans of the range still arrive`,
      ),
  }),
  response: z.strictObject({
    ...minutesFields,
    items: z.array(Endpoint),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness),
  }),
  async handler({ caller, params, query }, ports) {
    const reading = readingOf(caller, ports);
    const { minutes, after } = parseMinutes(kind, query, reading);
    const choice = { ...query, minutes, service: params.name };
    await requireService(reading, choice);
    const settings = await serviceSettingsOf(ports.documents.of(caller.tenantId));
    const apdexThresholdMs = thresholdsOf(settings, query.apdexThresholdMs)(params.name);
    const { endpoints, partial } = await readEndpoints(reading, { ...choice, apdexThresholdMs });
    const { by, direction } = sortOf(query.sort);
    const { shown, last } = sortedPage(
      endpoints,
      {
        nameOf: ({ name, kind }) => `${name}\n${kind}`,
        sortedBy: ({ name, figures }) => (by === 'name' ? name : figureOf(figures, by)),
        direction,
      },
      { limit: query.limit, after },
    );
    return {
      ...minutesAnswer(minutes),
      items: [...shown],
      nextCursor: last === undefined ? null : encodeCursor(kind, [minutes.from, minutes.to, positionPart(last)]),
      partial: [...partial],
    };
  },
});
