import { z } from 'zod';
import { cursorParameter, decodeCursor, encodeCursor, int64Pattern, uint64Pattern } from '../../../queries/cursor.ts';
import { canRead } from '../../../queries/entitlement.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { getRetentionDays } from '../../../queries/range.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { parseTime } from '../../../queries/time.ts';
import { type RumEventKind, rumEventKinds } from '../../../schemas/rum.ts';
import {
  readSessionEvents,
  readSessionTraces,
  SessionEvent,
  SessionTrace,
} from '../../../subjects/rum/session-events.ts';
import { listReplayParts } from '../../../subjects/rum/session-replay.ts';
import { readSession, Session } from '../../../subjects/rum/sessions.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

const cursorKind = 'rum-session';
const dayNs = 86_400_000_000_000n;

const isKind = (name: string): name is RumEventKind => (rumEventKinds as readonly string[]).includes(name);
const parseKinds = (list: string | undefined): RumEventKind[] => list?.split(',').filter(isKind) ?? [];

const parsePosition = (cursor: string) => {
  const [time = '', partition = '', offset = '', ordinal = ''] = decodeCursor(cursorKind, cursor, [
    int64Pattern,
    uint64Pattern,
    uint64Pattern,
    uint64Pattern,
  ]);
  return { time, partition, offset, ordinal };
};

export const getRetainedFrom = (reader: TenantReader): bigint =>
  BigInt(Math.trunc(reader.nowMs)) * 1_000_000n - BigInt(getRetentionDays(reader.plan, 'rum')) * dayNs;

const toNs = (time: string): bigint => parseTime(time, 0) ?? 0n;

export const showRumSession = defineOperation({
  method: 'GET',
  path: '/api/rum/sessions/{id}',
  operationId: 'getRumSession',
  summary: 'Get a browser session with its events in the order of time, and the traces of its requests',
  role: 'viewer',
  params: z.strictObject({ id: z.string().min(1).max(128).describe('Session') }),
  query: z.strictObject({
    ...projectScopeParameters,
    application: z
      .string()
      .min(1)
      .max(512)
      .optional()
      .describe('Application, if sessions of several have the same id; default: that of the latest'),
    kind: z
      .string()
      .max(256)
      .refine((list) => list.split(',').every(isKind), `must be a comma-separated list of ${rumEventKinds.join(', ')}`)
      .optional()
      .describe('Only events of these kinds, such as `view,error`'),
    limit: z.coerce.number().int().min(1).max(2_000).default(500),
    cursor: cursorParameter,
  }),
  response: z.strictObject({
    session: Session,
    items: z.array(SessionEvent).describe('Events, the earliest first. Of the reports of a vital, the last one'),
    traces: z
      .array(SessionTrace)
      .describe('Traces of the events on this page, with spans of all services; empty without access to traces'),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, params, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const projectId = query.scope === 'account' ? undefined : query.projectId;
    const [session, recording] = await Promise.all([
      readSession(reader, params.id, { from: getRetainedFrom(reader), filter: query }),
      listReplayParts(reader, { session: params.id, projectId }),
    ]);
    if (session === undefined) throw createNotFoundError('session');
    const range = { from: toNs(session.startedAt), to: toNs(session.lastSeenAt) };
    const after = query.cursor === undefined ? undefined : parsePosition(query.cursor);
    const found = await readSessionEvents(reader, {
      recording,
      session: session.id,
      application: session.application,
      range,
      kinds: parseKinds(query.kind),
      limit: query.limit + 1,
      after,
    });
    const items = found.slice(0, query.limit).map(({ event }) => event);
    const last = found.length > query.limit ? found[query.limit - 1]?.position : undefined;
    const traceIds = items.flatMap(({ traceId }) => (traceId === null ? [] : [traceId]));
    return {
      session,
      items,
      traces: canRead(reader, 'traces') ? await readSessionTraces(reader, traceIds, range) : [],
      nextCursor:
        last === undefined ? null : encodeCursor(cursorKind, [last.time, last.partition, last.offset, last.ordinal]),
    };
  },
});
