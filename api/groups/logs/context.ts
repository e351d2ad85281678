import { z } from 'zod';
import { decodeCursor, encodeCursor, int64Pattern, uint64Pattern } from '../../../queries/cursor.ts';
import { type LogWithStream, readLogWithStream, readStream, type StreamPage } from '../../../queries/logs/context.ts';
import type { LogOrder } from '../../../queries/logs/pages.ts';
import { type Range, requireRetained } from '../../../queries/range.ts';
import { type LogPosition, LogRecord } from '../../../queries/signals/log-record.ts';
import { latestRecordNs } from '../../../queries/time.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

const hourNs = 3_600_000_000_000n;
const dayNs = 24n * hourNs;
const cursorKind = 'log-context';

const createCountSchema = (text: string) => z.coerce.number().int().min(0).max(500).default(20).describe(text);

const SideView = z.strictObject({
  items: z.array(LogRecord),
  nextCursor: z.string().nullable().describe('Cursor for more distant records'),
  isEnd: z.boolean().describe('Whether the stream has no more distant records within the retention'),
});

export const showLogContext = defineOperation({
  method: 'GET',
  path: '/api/logs/{id}/context',
  operationId: 'getLogContext',
  summary: 'Get the records before and after a log record, of the same project, resource and scope',
  role: 'viewer',
  entitlement: 'logs',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  query: z.strictObject({
    before: createCountSchema('Number of records before the record'),
    after: createCountSchema('Number of records after the record'),
    cursor: z
      .string()
      .max(4096)
      .regex(/^[\w-]+$/, 'is not a cursor of this list')
      .optional()
      .describe('nextCursor of one side: the response contains records of that side only'),
  }),
  response: z.strictObject({
    record: LogRecord,
    before: SideView.nullable().describe('Nearest first; null if the cursor is of the other side'),
    after: SideView.nullable().describe('Nearest first; null if the cursor is of the other side'),
  }),
  async handler({ caller, params, query }, { columns, clock }) {
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const reader = columns.forTenant(caller.tenantId);
    const streamPosition = await readLogWithStream(reader, params.id);
    if (streamPosition === undefined || (page !== undefined && page.id !== params.id))
      throw createNotFoundError('log record');
    const { position, record } = streamPosition.log;
    const time = BigInt(position.time);
    requireRetained({ from: time }, { caller, signal: 'logs', nowMs, isFromCursor: true });
    const retainedFrom = BigInt(Math.trunc(nowMs)) * 1_000_000n - BigInt(caller.plan.retentionDays.logs) * dayNs;
    const readSideView = async (side: SideName, limit: number) => {
      if (page !== undefined && page.side !== side) return null;
      const after = page?.after ?? position;
      const range =
        side === 'before'
          ? { from: retainedFrom < time ? retainedFrom : time, to: time }
          : { from: time, to: latestRecordNs };
      return toSideView(params.id, side, await readSide(reader, streamPosition, { range, after, side, limit }));
    };
    const [before, after] = await Promise.all([
      readSideView('before', query.before),
      readSideView('after', query.after),
    ]);
    return { record, before, after };
  },
});

type SideName = 'before' | 'after';
const orderBySide: Readonly<Record<SideName, LogOrder>> = { before: 'newest', after: 'oldest' };

const readSide = (
  reader: Parameters<typeof readStream>[0],
  { stream }: LogWithStream,
  { side, ...page }: { range: Range; after: LogPosition; side: SideName; limit: number },
): Promise<StreamPage> => readStream(reader, stream, { ...page, order: orderBySide[side] });

const toSideView = (id: string, side: SideName, { logs, nextPosition }: StreamPage) => ({
  items: logs.map(({ record }) => record),
  nextCursor: nextPosition === undefined ? null : encodeCursor(cursorKind, [side, id, ...Object.values(nextPosition)]),
  isEnd: nextPosition === undefined,
});

const parseCursor = (cursor: string): { readonly side: SideName; readonly id: string; readonly after: LogPosition } => {
  const patterns = [/^(?:before|after)$/, /^[\d-]{1,64}$/, int64Pattern, /^\d{1,5}$/, uint64Pattern, /^\d{1,10}$/];
  const [side = '', id = '', time = '', partition = '', offset = '', ordinal = ''] = decodeCursor(
    cursorKind,
    cursor,
    patterns,
  );
  return { side: side as SideName, id, after: { time, partition, offset, ordinal } };
};
