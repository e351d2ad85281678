import { z } from 'zod';
import {
  cursorParameter,
  decodeCursor,
  decodeText,
  encodeCursor,
  encodeText,
  nonEmptyTextPattern,
  uint64Pattern,
} from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import {
  findPageEnd,
  findReplayStart,
  getReplayTimes,
  listReplayGaps,
  listReplayParts,
  ReplayGap,
  type ReplayPart,
  readReplayEvents,
} from '../../../subjects/rum/session-replay.ts';
import { readSession } from '../../../subjects/rum/sessions.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { getRetainedFrom } from './session.ts';

const cursorKind = 'rum-replay';

/** Returns where the page of a cursor begins. */
const findCursor = (parts: readonly ReplayPart[], cursor: string): number => {
  const [tab = '', first = ''] = decodeCursor(cursorKind, cursor, [nonEmptyTextPattern, uint64Pattern]);
  const index = parts.findIndex((part) => part.tab === decodeText(tab) && part.first >= Number(first));
  return index < 0 ? parts.length : index;
};

export const showReplay = defineOperation({
  method: 'GET',
  path: '/api/rum/sessions/{id}/replay',
  operationId: 'getRumReplay',
  summary: 'Get the recording of a session: events for the Replayer of rrweb, in order',
  role: 'viewer',
  audit: 'rum-replay.read',
  params: z.strictObject({ id: z.string().min(1).max(128).describe('Session') }),
  query: z.strictObject({
    ...projectScopeParameters,
    from: z.coerce
      .number()
      .int()
      .min(0)
      .optional()
      .describe('Milliseconds since 1970; the first page begins at the last complete picture before this time'),
    cursor: cursorParameter,
  }),
  response: z.strictObject({
    events: z.array(z.record(z.string(), z.unknown())).describe('Events of rrweb, one document after the other'),
    startMs: z
      .number()
      .nullable()
      .describe('Milliseconds since 1970 of the first event of the recording; offsets count from it'),
    endMs: z.number().nullable(),
    gaps: z.array(ReplayGap).describe('Events that did not arrive, or were dropped'),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, params, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const projectId = query.scope === 'account' ? undefined : query.projectId;
    const request = { session: params.id, projectId };
    const parts = await listReplayParts(reader, request);
    if (parts.length === 0) {
      // A session without a recording has no events; an unknown session is not found.
      const session = await readSession(reader, params.id, { from: getRetainedFrom(reader), filter: query });
      if (session === undefined) throw createNotFoundError('session');
    }
    const times = getReplayTimes(parts);
    const { cursor, from = 0 } = query;
    const start = cursor === undefined ? findReplayStart(parts, from) : findCursor(parts, cursor);
    const end = findPageEnd(parts, start);
    const next = parts[end];
    return {
      events: await readReplayEvents(reader, request, parts.slice(start, end)),
      startMs: times?.fromMs ?? null,
      endMs: times?.toMs ?? null,
      gaps: listReplayGaps(parts, start, end),
      nextCursor: next === undefined ? null : encodeCursor(cursorKind, [encodeText(next.tab), next.first]),
    };
  },
});
