/** Cursors of lists of log records. They include the range, because `now-1h` must not move between two pages. */
import { decodeCursor, encodeCursor, integer, natural } from '../cursor.ts';
import type { Range } from '../range.ts';
import type { LogPosition } from '../signals/log-record.ts';
import type { LogOrder } from './pages.ts';

export interface LogPlace {
  readonly range: Range;
  readonly after: LogPosition;
}

/** A cursor of one order is not valid for the other, whose next page would repeat earlier records. */
const kindOf = (order: LogOrder): string => (order === 'newest' ? 'logs' : 'logs-oldest');

export const encodeLogCursor = (order: LogOrder, { range, after }: LogPlace): string =>
  encodeCursor(kindOf(order), [range.from, range.to, after.time, after.partition, after.offset, after.ordinal]);

/** Throws `VALIDATION_FAILED` for a text that is not a cursor of this order. */
export const decodeLogCursor = (order: LogOrder, cursor: string): LogPlace => {
  const patterns = [integer, integer, integer, /^\d{1,5}$/, natural, /^\d{1,10}$/];
  const parts = decodeCursor(kindOf(order), cursor, patterns);
  const [from = '', to = '', time = '', partition = '', offset = '', ordinal = ''] = parts;
  return { range: { from: BigInt(from), to: BigInt(to) }, after: { time, partition, offset, ordinal } };
};
