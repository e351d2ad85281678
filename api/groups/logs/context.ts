import { z } from 'zod';
import { decodeCursor, encodeCursor, integer, natural } from '../../../queries/cursor.ts';
import { readStream, type Side, type StreamRecord, streamRecord } from '../../../queries/logs/context.ts';
import type { LogOrder } from '../../../queries/logs/pages.ts';
import { type Range, refuseBeyondRetention } from '../../../queries/range.ts';
import { type LogPosition, LogRecord } from '../../../queries/signals/log-record.ts';
import { latestTime } from '../../../queries/time.ts';
import { notFound } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

const hourNs = 3_600_000_000_000n;
const dayNs = 24n * hourNs;
const kind = 'log-context';

const count = (text: string) => z.coerce.number().int().min(0).max(500).default(20).describe(text);

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
    before: count('Number of records before the record'),
    after: count('Number of records after the record'),
    cursor: z
      .string()
      .max(4096)
      .regex(/^[\w-]+$/, 'is not a cursor of this list')
      .optional()
      .describe('nextCursor of one side: the answer contains records of that side only'),
  }),
  response: z.strictObject({
    record: LogRecord,
    before: SideView.nullable().describe('Nearest first; null if the cursor is of the other side'),
    after: SideView.nullable().describe('Nearest first; null if the cursor is of the other side'),
  }),
  async handler({ caller, params, query }, { columns, clock }) {
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor);
    const reader = columns.of(caller.tenantId);
    const found = await streamRecord(reader, params.id);
    if (found === undefined || (page !== undefined && page.id !== params.id)) throw notFound('log record');
    const { position, record } = found.found;
    const time = BigInt(position.time);
    refuseBeyondRetention({ from: time, to: time }, { caller, signal: 'logs', nowMs, wasListed: true });
    const retainedFrom = BigInt(Math.trunc(nowMs)) * 1_000_000n - BigInt(caller.plan.retentionDays.logs) * dayNs;
    const sideOf = async (side: SideName, limit: number) => {
      if (page !== undefined && page.side !== side) return null;
      const after = page?.after ?? position;
      const range =
        side === 'before'
          ? { from: retainedFrom < time ? retainedFrom : time, to: time }
          : { from: time, to: latestTime };
      return viewOf(params.id, side, await readSide(reader, found, { range, after, side, limit }));
    };
    const [before, after] = await Promise.all([sideOf('before', query.before), sideOf('after', query.after)]);
    return { record, before, after };
  },
});

type SideName = 'before' | 'after';
const orders: Readonly<Record<SideName, LogOrder>> = { before: 'newest', after: 'oldest' };

const readSide = (
  reader: Parameters<typeof readStream>[0],
  { stream }: StreamRecord,
  { side, ...page }: { range: Range; after: LogPosition; side: SideName; limit: number },
): Promise<Side> => readStream(reader, stream, { ...page, order: orders[side] });

const viewOf = (id: string, side: SideName, { found, more }: Side) => ({
  items: found.map(({ record }) => record),
  nextCursor: more === undefined ? null : encodeCursor(kind, [side, id, ...Object.values(more)]),
  isEnd: more === undefined,
});

const pageOf = (cursor: string): { readonly side: SideName; readonly id: string; readonly after: LogPosition } => {
  const patterns = [/^(?:before|after)$/, /^[\d-]{1,64}$/, integer, /^\d{1,5}$/, natural, /^\d{1,10}$/];
  const [side = '', id = '', time = '', partition = '', offset = '', ordinal = ''] = decodeCursor(
    kind,
    cursor,
    patterns,
  );
  return { side: side as SideName, id, after: { time, partition, offset, ordinal } };
};
