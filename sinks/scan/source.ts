import type { WordsColumn } from '../native/fixed.ts';

/** Origin of a message's rows. It is the same for all records of a member, except `ordinal`. */
export interface RowSource {
  tenantId: string;
  projectId: string;
  /** Stored partition number, including the topic's offset if two topics share a table. */
  partition: number;
  offset: number;
  receivedAtMs: number;
  /** Ordinal of the next record within the message, over all its members. */
  ordinal: number;
}

const hourMs = 3_600_000;

/** Returns the hours since the epoch. */
export const toHour = (milliseconds: number): number => Math.floor(milliseconds / hourMs);

/** Upper word of the last instant of DateTime64(9). */
export const maxTimeHigh = 0x7fffffff;

/** Upper word of the last nanosecond that rounds down to a DateTime, which has 32 bits of seconds and ends in 2106. */
const maxDateTimeHigh = 999_999_999;

/**
 * Appends an OTLP time in nanoseconds. Sort keys round times to DateTime, which wraps around to 1970: later rows would
 * not be found by their time, so admission refuses them. Those that older versions accepted become the last valid
 * instant.
 */
export const pushTime = (column: WordsColumn, low: number, high: number): void => {
  if (high > maxDateTimeHigh) column.push(0xffffffff, maxDateTimeHigh);
  else column.push(low, high);
};

const maxMilliseconds = 9_223_372_036_854;
const minMilliseconds = -2_208_988_800_000;

/** Returns the nanoseconds of a time in milliseconds, as two words. */
export const toNanosecondWords = (milliseconds: number): { readonly low: number; readonly high: number } => {
  const bounded = Math.min(Math.max(Math.trunc(milliseconds), minMilliseconds), maxMilliseconds);
  // In two steps, because the product exceeds 2^53.
  const upperPart = Math.floor(bounded / 65_536);
  const lowerNanoseconds = (bounded - upperPart * 65_536) * 1_000_000;
  const scaled = upperPart * 1_000_000;
  const top = Math.floor(scaled / 65_536);
  const rest = (scaled - top * 65_536) * 65_536 + lowerNanoseconds;
  const carry = Math.floor(rest / 4_294_967_296);
  return { low: rest - carry * 4_294_967_296, high: (top + carry) >>> 0 };
};
