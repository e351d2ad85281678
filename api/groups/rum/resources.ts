import { z } from 'zod';
import { findRangeProblem } from '../../../queries/range.ts';
import { listSortValues, sortDescription } from '../../../queries/sort.ts';
import { Resource, readResources, resourceGroups, resourceSorts } from '../../../subjects/rum/resources.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { getPage, listFields, listParameters, parseListRange } from './lists.ts';

const cursorKind = 'rum-resources';

export const listRumResources = defineOperation({
  method: 'GET',
  path: '/api/rum/resources',
  operationId: 'listRumResources',
  summary: 'List resources and requests of pages by host, type, party or URL, and what became slower',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters,
    groupBy: z.enum(resourceGroups).default('host'),
    sort: z.enum(listSortValues(resourceSorts)).default('-count').describe(sortDescription),
  }),
  response: z.strictObject({ ...listFields, items: z.array(Resource) }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const { range, after } = parseListRange(cursorKind, query, reader);
    const previous = { from: range.from - (range.to - range.from + 1n) };
    const isRetained = findRangeProblem(previous, { caller: reader, signal: 'rum', nowMs: reader.nowMs }) === undefined;
    const resources = await readResources(reader, range, query, {
      group: query.groupBy,
      previousFrom: isRetained ? previous.from : undefined,
    });
    return getPage(resources, {
      kind: cursorKind,
      range,
      sort: query.sort,
      limit: query.limit,
      after,
      getName: ({ value }) => value,
      getSortValue: (resource, by) => resource[by as (typeof resourceSorts)[number]],
    });
  },
});
