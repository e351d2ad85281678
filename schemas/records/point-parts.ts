/** Parts of a data point besides its numbers: words, buckets, quantiles and exemplars, decoded from their bytes. */
import { doubleOf, numberOf, type WireCursor, zigzag } from '../protobuf/cursor.ts';
import { type Attribute, attributeList } from './attributes.ts';
import { readId, timeNsOf } from './record.ts';

/** Buckets of an explicit histogram. `counts` has one more element than `bounds`, unless both are empty. */
export interface Buckets {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

/** Buckets of one sign of an exponential histogram. */
export interface ExponentialBuckets {
  readonly offset: number;
  readonly counts: readonly number[];
}

export interface Quantile {
  readonly quantile: number;
  readonly value: number;
}

export interface Exemplar {
  readonly timeNs: bigint;
  readonly value: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: readonly Attribute[];
}

export const noBuckets: ExponentialBuckets = { offset: 0, counts: [] };
/** Upper word of the last point time, which is stored in 63 bits. */
export const lastTimeHigh = 0x7fffffff;

/** A 64-bit field. Both words are 0 and the field is absent until it is read. */
export class Word64 {
  low = 0;
  high = 0;
  isPresent = false;

  clear(): void {
    this.low = 0;
    this.high = 0;
    this.isPresent = false;
  }

  read(cursor: WireCursor): void {
    cursor.fixed64();
    this.low = cursor.low;
    this.high = cursor.high;
    this.isPresent = true;
  }

  get double(): number {
    return doubleOf(this.low, this.high);
  }

  get optional(): number | undefined {
    return this.isPresent ? this.double : undefined;
  }

  /** Value as an unsigned integer, exact below 2⁵³. */
  get count(): number {
    return this.high * 4_294_967_296 + this.low;
  }
}

export const unsignedOf = (low: number, high: number): number => high * 4_294_967_296 + low;

export const pushWords = (
  cursor: WireCursor,
  end: number,
  into: number[],
  read: (low: number, high: number) => number,
): void => {
  while (cursor.at < end) {
    cursor.fixed64();
    into.push(read(cursor.low, cursor.high));
  }
};

export const bucketsOf = (cursor: WireCursor, end: number): ExponentialBuckets => {
  let offset = 0;
  const counts: number[] = [];
  while (cursor.at < end) {
    const tag = cursor.varint();
    if (tag === 0x08) offset = zigzag(cursor.varint());
    else if (tag === 0x10 || tag === 0x12) {
      const stop = tag === 0x12 ? cursor.end(end) : cursor.at + 1;
      while (cursor.at < stop) {
        cursor.varint64();
        counts.push(unsignedOf(cursor.low, cursor.high));
      }
    } else cursor.skip(tag, end);
  }
  return { offset, counts };
};

export const quantileOf = (cursor: WireCursor, end: number): Quantile => {
  let quantile = 0;
  let value = 0;
  while (cursor.at < end) {
    const tag = cursor.varint();
    if (tag === 0x09 || tag === 0x11) {
      cursor.fixed64();
      const read = doubleOf(cursor.low, cursor.high);
      if (tag === 0x09) quantile = read;
      else value = read;
    } else cursor.skip(tag, end);
  }
  return { quantile, value };
};

export const exemplarOf = (cursor: WireCursor, end: number): Exemplar => {
  const start = cursor.at;
  let timeNs = 0n;
  let value = 0;
  let traceId = '';
  let spanId = '';
  while (cursor.at < end) {
    const tag = cursor.varint();
    if (tag === 0x11 || tag === 0x19 || tag === 0x31) {
      cursor.fixed64();
      const { low, high } = cursor;
      if (tag === 0x11) timeNs = timeNsOf(low, high, lastTimeHigh);
      else value = tag === 0x19 ? doubleOf(low, high) : numberOf(low, high);
    } else if (tag === 0x22) spanId = readId(cursor, end, 8);
    else if (tag === 0x2a) traceId = readId(cursor, end, 16);
    else cursor.skip(tag, end);
  }
  return { timeNs, value, traceId, spanId, attributes: attributeList(cursor, 0x3a, start, end) };
};
