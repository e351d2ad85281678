/** Parts of a data point besides its numbers: words, buckets, quantiles and exemplars, decoded from their bytes. */
import { decodeZigzag, toDouble, toSignedNumber, type WireCursor } from '../protobuf/cursor.ts';
import { type Attribute, readAttributes } from './attributes.ts';
import { readId, toTimeNs } from './record.ts';

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

export const emptyBuckets: ExponentialBuckets = { offset: 0, counts: [] };
/** Upper word of the last point time, which is stored in 63 bits. */
export const maxTimeHigh = 0x7fffffff;

/** A 64-bit field. Both words are 0 and the field is absent until it is read. */
export class OptionalField64 {
  low = 0;
  high = 0;
  isPresent = false;

  clear(): void {
    this.low = 0;
    this.high = 0;
    this.isPresent = false;
  }

  read(cursor: WireCursor): void {
    cursor.readFixed64();
    this.low = cursor.low;
    this.high = cursor.high;
    this.isPresent = true;
  }

  get asDouble(): number {
    return toDouble(this.low, this.high);
  }

  get asOptionalDouble(): number | undefined {
    return this.isPresent ? this.asDouble : undefined;
  }

  /** Value as an unsigned integer, exact below 2⁵³. */
  get asCount(): number {
    return this.high * 4_294_967_296 + this.low;
  }
}

export const toUnsignedNumber = (low: number, high: number): number => high * 4_294_967_296 + low;

export const readWords = (
  cursor: WireCursor,
  end: number,
  target: number[],
  read: (low: number, high: number) => number,
): void => {
  while (cursor.position < end) {
    cursor.readFixed64();
    target.push(read(cursor.low, cursor.high));
  }
};

export const readBuckets = (cursor: WireCursor, end: number): ExponentialBuckets => {
  let offset = 0;
  const counts: number[] = [];
  while (cursor.position < end) {
    const tag = cursor.readVarint();
    if (tag === 0x08) offset = decodeZigzag(cursor.readVarint());
    else if (tag === 0x10 || tag === 0x12) {
      const stop = tag === 0x12 ? cursor.readEnd(end) : cursor.position + 1;
      while (cursor.position < stop) {
        cursor.readVarint64();
        counts.push(toUnsignedNumber(cursor.low, cursor.high));
      }
    } else cursor.skip(tag, end);
  }
  return { offset, counts };
};

export const readQuantile = (cursor: WireCursor, end: number): Quantile => {
  let quantile = 0;
  let value = 0;
  while (cursor.position < end) {
    const tag = cursor.readVarint();
    if (tag === 0x09 || tag === 0x11) {
      cursor.readFixed64();
      const number = toDouble(cursor.low, cursor.high);
      if (tag === 0x09) quantile = number;
      else value = number;
    } else cursor.skip(tag, end);
  }
  return { quantile, value };
};

export const readExemplar = (cursor: WireCursor, end: number): Exemplar => {
  const start = cursor.position;
  let timeNs = 0n;
  let value = 0;
  let traceId = '';
  let spanId = '';
  while (cursor.position < end) {
    const tag = cursor.readVarint();
    if (tag === 0x11 || tag === 0x19 || tag === 0x31) {
      cursor.readFixed64();
      const { low, high } = cursor;
      if (tag === 0x11) timeNs = toTimeNs(low, high, maxTimeHigh);
      else value = tag === 0x19 ? toDouble(low, high) : toSignedNumber(low, high);
    } else if (tag === 0x22) spanId = readId(cursor, end, 8);
    else if (tag === 0x2a) traceId = readId(cursor, end, 16);
    else cursor.skip(tag, end);
  }
  return { timeNs, value, traceId, spanId, attributes: readAttributes(cursor, 0x3a, start, end) };
};
