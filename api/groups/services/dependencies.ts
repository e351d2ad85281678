import { z } from 'zod';
import { decodeCursor, encodeCursor, integer, jsonIn, jsonPart, someText } from '../../../queries/cursor.ts';
import { projectScopeParameters, requireProjectScope } from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters, refuseBeyondRetention } from '../../../queries/range.ts';
import { Edge, edgeParameters, keySize, readEdges } from '../../../subjects/services/edges.ts';
import { minutesAnswer, minutesOf } from '../../../subjects/services/minutes.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'dependencies';

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
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor);
    if (page !== undefined) refuseBeyondRetention(page.minutes, { caller, signal: 'traces', nowMs, wasListed: true });
    const minutes = page?.minutes ?? minutesOf(rangeOf(query, { caller, signal: 'traces', nowMs }), nowMs);
    const limit = query.limit + 1;
    const found = await readEdges(columns.of(caller.tenantId), query, { minutes, limit, after: page?.after });
    const shown = found.slice(0, query.limit);
    const last = found.length > query.limit ? shown.at(-1) : undefined;
    return {
      ...minutesAnswer(minutes),
      items: shown.map(({ edge }) => edge),
      nextCursor: last === undefined ? null : encodeCursor(kind, [minutes.from, minutes.to, jsonPart(last.key)]),
    };
  },
});

const Key = z.array(z.string()).length(keySize);

const pageOf = (cursor: string) => {
  const [from = '', to = '', key = ''] = decodeCursor(kind, cursor, [integer, integer, someText]);
  return { minutes: { from: BigInt(from), to: BigInt(to) }, after: jsonIn(Key, key) };
};
