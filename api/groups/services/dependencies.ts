import { z } from 'zod';
import {
  decodeCursor,
  decodeJson,
  encodeCursor,
  encodeJson,
  int64Pattern,
  nonEmptyTextPattern,
} from '../../../queries/cursor.ts';
import { projectScopeParameters, requireProjectScope } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters, requireRetained } from '../../../queries/range.ts';
import { Edge, edgeKeySize, edgeParameters, readEdges } from '../../../subjects/services/edges.ts';
import { formatMinutes, toFullMinutes } from '../../../subjects/services/minutes.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'dependencies';

export const listDependencies = defineOperation({
  method: 'GET',
  path: '/api/dependencies',
  operationId: 'listDependencies',
  summary: 'List calls between services, databases, queues and hosts in a time range, with rate, errors and latency',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({ ...rangeParameters, ...projectScopeParameters, ...edgeParameters }),
  response: z.strictObject({
    from: z.string().describe('Beginning of the first counted minute'),
    to: z.string().describe('End of the last counted minute, or now'),
    items: z.array(Edge),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, query }, { columns, clock }) {
    requireProjectScope(query);
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    if (page !== undefined) requireRetained(page.minutes, { caller, signal: 'traces', nowMs, isFromCursor: true });
    const minutes =
      page?.minutes ?? toFullMinutes(parseRetainedRange(query, { caller, signal: 'traces', nowMs }), nowMs);
    const limit = query.limit + 1;
    const edges = await readEdges(columns.forTenant(caller.tenantId), query, { minutes, limit, after: page?.after });
    const pageEdges = edges.slice(0, query.limit);
    const last = edges.length > query.limit ? pageEdges.at(-1) : undefined;
    return {
      ...formatMinutes(minutes),
      items: pageEdges.map(({ edge }) => edge),
      nextCursor:
        last === undefined ? null : encodeCursor(cursorKind, [minutes.from, minutes.to, encodeJson(last.key)]),
    };
  },
});

const EdgeKey = z.array(z.string()).length(edgeKeySize);

const parseCursor = (cursor: string) => {
  const [from = '', to = '', key = ''] = decodeCursor(cursorKind, cursor, [
    int64Pattern,
    int64Pattern,
    nonEmptyTextPattern,
  ]);
  return { minutes: { from: BigInt(from), to: BigInt(to) }, after: decodeJson(EdgeKey, key) };
};
