import { z } from 'zod';
import { decodeCursor, encodeCursor, integer, natural } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters, refuseBeyondRetention } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { eventParameters, KubernetesEvent, readEvents } from '../../../subjects/kubernetes/events.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'kubernetes-events';

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
    const reading = readingOf(caller, ports);
    const { nowMs } = reading;
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor);
    const range = page?.range ?? rangeOf(query, { caller: reading, signal: 'logs', nowMs });
    if (page !== undefined) refuseBeyondRetention(range, { caller: reading, signal: 'logs', nowMs, wasListed: true });
    const { items, more } = await readEvents(reading, range, query, { limit: query.limit, after: page?.after });
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      items,
      nextCursor:
        more === undefined
          ? null
          : encodeCursor(kind, [range.from, range.to, more.time, more.partition, more.offset, more.ordinal]),
    };
  },
});

/** A cursor contains the range too: `now-1h` must not move between two pages. */
const pageOf = (cursor: string) => {
  const [from = '', to = '', time = '', partition = '', offset = '', ordinal = ''] = decodeCursor(kind, cursor, [
    ...[integer, integer, integer],
    ...[/^\d{1,5}$/, natural, /^\d{1,10}$/],
  ]);
  return { range: { from: BigInt(from), to: BigInt(to) }, after: { time, partition, offset, ordinal } };
};
