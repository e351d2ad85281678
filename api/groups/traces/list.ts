import { z } from 'zod';
import { buildListHint, hintField } from '../../../queries/hints/lists.ts';
import { projectScopeParameters, requireProjectScope } from '../../../queries/project-scope.ts';
import { rangeParameters, serviceParameter } from '../../../queries/range.ts';
import { listTraces as readTraces, traceConditions } from '../../../queries/traces/list.ts';
import { TraceSummary } from '../../../queries/traces/summary.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createReading } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';

export const listTraces = defineOperation({
  method: 'GET',
  path: '/api/traces',
  operationId: 'listTraces',
  summary: 'List traces of a time range, newest first',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({ ...rangeParameters, ...serviceParameter, ...projectScopeParameters, ...traceConditions }),
  response: z.strictObject({ items: z.array(TraceSummary), nextCursor: z.string().nullable(), ...hintField }),
  async handler({ caller, query }, { columns, clock }) {
    requireProjectScope(query);
    const reading = createReading(caller, { columns, clock });
    const { items, nextCursor } = await readTraces(query, reading);
    return { items: [...items], nextCursor, ...(await buildListHint('traces', query, items, reading)) };
  },
});
