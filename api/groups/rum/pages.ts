import { z } from 'zod';
import { listSortValues, sortDescription } from '../../../queries/sort.ts';
import { Page, pageSorts, readPages } from '../../../subjects/rum/pages.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { getPage, listFields, listParameters, parseListRange } from './lists.ts';

const cursorKind = 'rum-pages';

export const listRumPages = defineOperation({
  method: 'GET',
  path: '/api/rum/pages',
  operationId: 'listRumPages',
  summary: 'List pages with their views, exits, errors and signs of frustration, and the time of each phase of loading',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters,
    sort: z.enum(listSortValues(pageSorts)).default('-views').describe(sortDescription),
  }),
  response: z.strictObject({ ...listFields, items: z.array(Page) }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const { range, after } = parseListRange(cursorKind, query, reader);
    const pages = await readPages(reader, range, query);
    return getPage(pages, {
      kind: cursorKind,
      range,
      sort: query.sort,
      limit: query.limit,
      after,
      getName: ({ application, page }) => `${page}\n${application}`,
      getSortValue: (page, by) => page[by as (typeof pageSorts)[number]],
    });
  },
});
