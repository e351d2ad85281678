import type { Int64Column } from '../native/fixed-size-columns.ts';

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
 * Appends an OTLP time in nanoseconds. Sort keys round times to DateTime, which wraps around to 1970: later rows
 * would not be found by their time, so receivers reject them. Later times that older versions accepted become the
 * last valid time.
 */
export const pushTime = (column: Int64Column, low: number, high: number): void => {
  if (high > maxDateTimeHigh) column.push(0xffffffff, maxDateTimeHigh);
  else column.push(low, high);
};

const maxMilliseconds = 9_223_372_036_854;
const minMilliseconds = -2_208_988_800_000;

/** Returns the nanoseconds of a time in milliseconds, as two words. */
export const toNanosecondWords = (milliseconds: number): { readonly low: number; readonly high: number } => {
  const clampedMs = Math.min(Math.max(Math.trunc(milliseconds), minMilliseconds), maxMilliseconds);
  // In two steps, because the product exceeds 2^53.
  const upperPart = Math.floor(clampedMs / 65_536);
  const lowerNanoseconds = (clampedMs - upperPart * 65_536) * 1_000_000;
  const upperNanoseconds = upperPart * 1_000_000;
  const highPart = Math.floor(upperNanoseconds / 65_536);
  const lowPart = (upperNanoseconds - highPart * 65_536) * 65_536 + lowerNanoseconds;
  const carry = Math.floor(lowPart / 4_294_967_296);
  return { low: lowPart - carry * 4_294_967_296, high: (highPart + carry) >>> 0 };
};
