import type { WordsColumn } from '../native/fixed.ts';

/** Where the rows of a message come from; the same for all records of a member, except `ordinal`. */
export interface RowSource {
  tenantId: string;
  projectId: string;
  /** As stored: with the offset of the topic, where two topics share a table. */
  partition: number;
  offset: number;
  receivedAtMs: number;
  /** Of the next record within the message, over all its members. */
  ordinal: number;
}

const hourMs = 3_600_000;

/** Hours since the epoch. */
export const hourOf = (milliseconds: number): number => Math.floor(milliseconds / hourMs);

/** Upper word of the last instant that DateTime64(9) can hold. */
export const maxTimeHigh = 0x7fffffff;

/** Upper word of the last nanosecond that rounds down to a DateTime: that has 32 bits of seconds, and ends in 2106. */
const maxRoundedHigh = 999_999_999;

/**
 * Appends a time in nanoseconds as OTLP has it. Sort keys round times to DateTime, which begins again at 1970 after its
 * end: rows beyond would not be found where they say they are, so admission refuses them. Those that older versions took become
 * the last instant before.
 */
export const pushTime = (column: WordsColumn, low: number, high: number): void => {
  if (high > maxRoundedHigh) column.push(0xffffffff, maxRoundedHigh);
  else column.push(low, high);
};

const maxMilliseconds = 9_223_372_036_854;
const minMilliseconds = -2_208_988_800_000;

/** Nanoseconds of a time in milliseconds, as two words. */
export const nanosecondWords = (milliseconds: number): { readonly low: number; readonly high: number } => {
  const bounded = Math.min(Math.max(Math.trunc(milliseconds), minMilliseconds), maxMilliseconds);
  // In two steps, because the product exceeds 2^53.
  const above = Math.floor(bounded / 65_536);
  const below = (bounded - above * 65_536) * 1_000_000;
  const scaled = above * 1_000_000;
  const top = Math.floor(scaled / 65_536);
  const rest = (scaled - top * 65_536) * 65_536 + below;
  const carry = Math.floor(rest / 4_294_967_296);
  return { low: rest - carry * 4_294_967_296, high: (top + carry) >>> 0 };
};
