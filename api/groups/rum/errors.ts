import { z } from 'zod';
import { listSortValues, sortDescription } from '../../../queries/sort.ts';
import { RumError, readRumErrors, rumErrorSorts } from '../../../subjects/rum/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createReading } from '../../kernel/reading.ts';
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
  async handler({ caller, query }, ports) {
    const reading = createReading(caller, ports);
    const { range, after } = parseListRange(cursorKind, query, reading);
    const errors = await readRumErrors(reading, range, query);
    return getPage(errors, {
      kind: cursorKind,
      range,
      sort: query.sort,
      limit: query.limit,
      after,
      getName: ({ fingerprint }) => fingerprint,
      getSortValue: (error, by) => error[by as (typeof rumErrorSorts)[number]],
    });
  },
});
