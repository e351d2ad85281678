import { z } from 'zod';
import { decodeCursor, encodeCursor, int64Pattern, uint64Pattern } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters, requireRetained } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { eventParameters, KubernetesEvent, readEvents } from '../../../subjects/kubernetes/events.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'kubernetes-events';

export const listKubernetesEvents = defineOperation({
  method: 'GET',
  path: '/api/kubernetes/events',
  operationId: 'listKubernetesEvents',
  summary: 'List events of clusters, newest first',
  role: 'viewer',
  entitlement: 'logs',
  cache: listCache,
  query: z.strictObject({ ...rangeParameters, ...projectScopeParameters, ...eventParameters }),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    items: z.array(KubernetesEvent),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const { nowMs } = reader;
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const range = page?.range ?? parseRetainedRange(query, { caller: reader, signal: 'logs', nowMs });
    if (page !== undefined) requireRetained(range, { caller: reader, signal: 'logs', nowMs, isFromCursor: true });
    const { items, more: nextPosition } = await readEvents(reader, range, query, {
      limit: query.limit,
      after: page?.after,
    });
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      items,
      nextCursor:
        nextPosition === undefined
          ? null
          : encodeCursor(cursorKind, [
              range.from,
              range.to,
              nextPosition.time,
              nextPosition.partition,
              nextPosition.offset,
              nextPosition.ordinal,
            ]),
    };
  },
});

/** Parses a cursor. It contains the range, so that a relative time such as `now-1h` stays the same for all pages. */
const parseCursor = (cursor: string) => {
  const [from = '', to = '', time = '', partition = '', offset = '', ordinal = ''] = decodeCursor(cursorKind, cursor, [
    ...[int64Pattern, int64Pattern, int64Pattern],
    ...[/^\d{1,5}$/, uint64Pattern, /^\d{1,10}$/],
  ]);
  return { range: { from: BigInt(from), to: BigInt(to) }, after: { time, partition, offset, ordinal } };
};
