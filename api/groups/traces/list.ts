import { z } from 'zod';
import { buildListHint, hintField } from '../../../queries/hints/lists.ts';
import { projectScopeParameters, requireProjectScope } from '../../../queries/project-scope.ts';
import { rangeParameters, serviceParameter } from '../../../queries/range.ts';
import { listTraces as readTraces, traceConditions } from '../../../queries/traces/list.ts';
import { TraceSummary } from '../../../queries/traces/summary.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

export const listTraces = defineOperation({
  method: 'GET',
  path: '/api/traces',
  operationId: 'listTraces',
  summary: 'List traces of a time range, newest first',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({ ...rangeParameters, ...serviceParameter, ...projectScopeParameters, ...traceConditions }),
  response: z.strictObject({
    items: z.array(TraceSummary),
    nextCursor: z
      .string()
      .nullable()
      .describe('null at the end; with minDuration or maxDuration, a page before the end may have few items or none'),
    ...hintField,
  }),
  async handler({ caller, query }, { columns, clock }) {
    requireProjectScope(query);
    const reader = createQueryReader(caller, { columns, clock });
    const { items, nextCursor } = await readTraces(query, reader);
    // A page without items is not the end of the list if it has a cursor.
    const hint = nextCursor === null ? await buildListHint('traces', query, items, reader) : {};
    return { items: [...items], nextCursor, ...hint };
  },
});
