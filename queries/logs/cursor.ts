/** Cursors of lists of log records. They include the range, because `now-1h` must not move between two pages. */
import { decodeCursor, encodeCursor, int64Pattern, uint64Pattern } from '../cursor.ts';
import type { Range } from '../range.ts';
import type { LogPosition } from '../signals/log-record.ts';
import type { LogOrder } from './pages.ts';

export interface LogCursor {
  readonly range: Range;
  readonly after: LogPosition;
}

/**
 * Each order has its own kind of cursor: with a cursor of the other order, the next page would repeat earlier records.
 */
const getCursorKind = (order: LogOrder): string => (order === 'newest' ? 'logs' : 'logs-oldest');

export const encodeLogCursor = (order: LogOrder, { range, after }: LogCursor): string =>
  encodeCursor(getCursorKind(order), [range.from, range.to, after.time, after.partition, after.offset, after.ordinal]);

/** Throws `VALIDATION_FAILED` for a text that is not a cursor of this order. */
export const decodeLogCursor = (order: LogOrder, cursor: string): LogCursor => {
  const patterns = [int64Pattern, int64Pattern, int64Pattern, /^\d{1,5}$/, uint64Pattern, /^\d{1,10}$/];
  const parts = decodeCursor(getCursorKind(order), cursor, patterns);
  const [from = '', to = '', time = '', partition = '', offset = '', ordinal = ''] = parts;
  return { range: { from: BigInt(from), to: BigInt(to) }, after: { time, partition, offset, ordinal } };
};
