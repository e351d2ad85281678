import { z } from 'zod';
import { encodeCursor } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { apdexParameter, choiceParameters } from '../../../queries/services/chosen.ts';
import {
  describeServices,
  pageOfServices,
  readServices,
  ServiceSummary,
  serviceSorts,
} from '../../../queries/services/inventory.ts';
import { minutesAnswer, minutesFields } from '../../../queries/services/minutes.ts';
import { serviceSettingsOf } from '../../../queries/services/settings.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { cursorPart, minutesAsked, notOfThisList, readingOf } from './asked.ts';

const kind = 'services';
const Position = z.strictObject({ name: z.string(), value: z.union([z.string(), z.number(), z.null()]) });

/** The order of a list that can be sorted by name or by figures. */
export const directionParameter = {
  direction: z.enum(['ascending', 'descending']).optional().describe('Default: names ascending, figures descending'),
};

export const listServices = defineOperation({
  method: 'GET',
  path: '/api/services',
  operationId: 'listServices',
  summary:
    'List the services of a time range with their requests, errors, latency and Apdex, and what else each of them sends',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    ...projectScopeParameters,
    ...choiceParameters,
    ...apdexParameter,
    search: z.string().min(1).max(512).optional().describe('Part of the name, in any case'),
    sort: z
      .enum(serviceSorts)
      .default('name')
      .describe('By a figure, a service may move between two pages while spans of the range still arrive'),
    ...directionParameter,
  }),
  response: z.strictObject({
    ...minutesFields,
    items: z.array(ServiceSummary),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness),
  }),
  async handler({ caller, query }, ports) {
    const reading = readingOf(caller, ports);
    const { minutes, after } = minutesAsked(kind, query, reading);
    const position = Position.optional().safeParse(after);
    if (!position.success) throw notOfThisList();
    const settings = await serviceSettingsOf(ports.documents.of(caller.tenantId));
    const { services, partial } = await readServices(reading, { ...query, minutes, settings });
    const direction = query.direction ?? (query.sort === 'name' ? 'ascending' : 'descending');
    const { shown, last } = pageOfServices(
      services,
      { sort: query.sort, direction },
      { limit: query.limit, after: position.data },
    );
    return {
      ...minutesAnswer(minutes),
      items: await describeServices(reading, { ...query, minutes }, shown),
      nextCursor: last === undefined ? null : encodeCursor(kind, [minutes.from, minutes.to, cursorPart(last)]),
      partial: [...partial],
    };
  },
});
