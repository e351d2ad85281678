import { z } from 'zod';
import { listSortValues, sortDescription } from '../../../queries/sort.ts';
import { RumError, readRumErrors, rumErrorSorts } from '../../../subjects/rum/errors.ts';
import { mapFrames, parseBrowserFrames } from '../../../subjects/rum/source-maps/map-frames.ts';
import { createMapReader } from '../../kernel/map-reader.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { getPage, listFields, listParameters, parseListRange } from './lists.ts';

const cursorKind = 'rum-errors';

export const listRumErrors = defineOperation({
  method: 'GET',
  path: '/api/rum/errors',
  operationId: 'listRumErrors',
  summary: 'List errors of browsers by error group, with their sessions, pages and browsers',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters,
    sort: z.enum(listSortValues(rumErrorSorts)).default('-count').describe(sortDescription),
  }),
  response: z.strictObject({ ...listFields, items: z.array(RumError) }),
  async handler({ caller, query, signal }, ports) {
    const reader = createQueryReader(caller, ports);
    const { range, after } = parseListRange(cursorKind, query, reader);
    const errors = await readRumErrors(reader, range, query);
    const page = getPage(errors, {
      kind: cursorKind,
      range,
      sort: query.sort,
      limit: query.limit,
      after,
      getName: ({ fingerprint }) => fingerprint,
      getSortValue: (error, by) => error[by as (typeof rumErrorSorts)[number]],
    });
    const frames = await mapFrames(
      createMapReader({ caller, reader, signal }, ports),
      page.items.map(({ last: { application, release, url, stack }, attributes }) => ({
        application,
        release,
        url,
        attributes,
        frames: parseBrowserFrames(stack),
      })),
    );
    return {
      ...page,
      items: page.items.map(({ attributes: _, last, ...error }, index) => ({
        ...error,
        last: { ...last, frames: frames[index] ?? [] },
      })),
    };
  },
});
