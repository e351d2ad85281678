import { z } from 'zod';
import {
  decodeCursor,
  decodeText,
  encodeCursor,
  encodeText,
  int64Pattern,
  nonEmptyTextPattern,
} from '../../../queries/cursor.ts';
import { requireRetained } from '../../../queries/range.ts';
import { listSortValues, sortDescription } from '../../../queries/sort.ts';
import { formatTime } from '../../../queries/time.ts';
import { parseRumRange } from '../../../subjects/rum/scope.ts';
import {
  readSessions,
  Session,
  type SessionSort,
  sessionFilterParameters,
  sessionSorts,
} from '../../../subjects/rum/sessions.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listFields, listParameters } from './lists.ts';

const parseCursor = (cursor: string, sort: SessionSort) => {
  const [from = '', to = '', value = '', id = ''] = decodeCursor(`rum-sessions ${sort}`, cursor, [
    int64Pattern,
    int64Pattern,
    int64Pattern,
    nonEmptyTextPattern,
  ]);
  return { range: { from: BigInt(from), to: BigInt(to) }, after: { value, id: decodeText(id) } };
};

/** Not cached: people watch running sessions. */
export const listRumSessions = defineOperation({
  method: 'GET',
  path: '/api/rum/sessions',
  operationId: 'listRumSessions',
  summary: 'List browser sessions that began in a time range, running ones included; the most recent first',
  role: 'viewer',
  query: z.strictObject({
    ...listParameters,
    ...sessionFilterParameters,
    sort: z.enum(listSortValues(sessionSorts)).default('-startedAt').describe(sortDescription),
  }),
  response: z.strictObject({ ...listFields, items: z.array(Session) }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const { limit, sort } = query;
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor, sort);
    if (page !== undefined)
      requireRetained(page.range, { caller: reader, signal: 'rum', nowMs: reader.nowMs, isFromCursor: true });
    const range = page?.range ?? parseRumRange(query, reader);
    const found = await readSessions(reader, { range, filter: query, sort, limit, after: page?.after });
    const last = found.length > limit ? found[limit - 1]?.position : undefined;
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      items: found.slice(0, limit).map(({ session }) => session),
      nextCursor:
        last === undefined
          ? null
          : encodeCursor(`rum-sessions ${sort}`, [range.from, range.to, last.value, encodeText(last.id)]),
    };
  },
});
