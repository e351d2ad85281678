/** Decodes protobuf's wire format for sinks and the views of `records/`. */
import { PermanentError } from '../errors.ts';

/** Maximum nesting of arrays and maps in a value. */
export const maxDepth = 32;

/** Returns the error for a body that does not match its schema. */
export const createMalformedError = (what: string, position: number): PermanentError =>
  new PermanentError('malformed', `${what} at byte ${position}`, { position });

/**
 * A position in the wire bytes of an admitted body. Faster than `WireReader`, and less strict about lengths of varints.
 * Fields are distinguished by their full tag (number and wire type). So a known number with a different wire type is
 * skipped as unknown, as in protobuf's own decoders. 64-bit values are returned in `low` and `high`, which avoids an
 * object per field.
 */
export class WireCursor {
  bytes: Uint8Array;
  at: number;
  low = 0;
  high = 0;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /** Reads a tag, a length or a 32-bit number. Higher bits are dropped. */
  readVarint(): number {
    const { bytes } = this;
    let byte = bytes[this.at++] as number;
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let shift = 7; shift < 70; shift += 7) {
      byte = bytes[this.at++] as number;
      if (shift < 32) value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
    throw createMalformedError('a varint does not end', this.at);
  }

  /** Reads all 64 bits of a varint into `low` and `high`. */
  varint64(): void {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.bytes[this.at++] as number;
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else if (shift < 64) high |= bits << (shift - 32);
      if (byte < 128) {
        this.low = low >>> 0;
        this.high = high >>> 0;
        return;
      }
    }
    throw createMalformedError('a varint does not end', this.at);
  }

  fixed32(): number {
    const { bytes, at } = this;
    this.at = at + 4;
    return (
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24)) >>>
      0
    );
  }

  fixed64(): void {
    this.low = this.fixed32();
    this.high = this.fixed32();
  }

  /** Reads a length and returns the end of that many bytes, which is at most `limit`. */
  readEnd(limit: number): number {
    const length = this.readVarint();
    const end = this.at + length;
    if (!(end <= limit))
      throw createMalformedError(`a field of ${length} bytes passes the end of its message`, this.at);
    return end;
  }

  /** Skips a field whose tag was just read. */
  skip(tag: number, limit: number): void {
    const wireType = tag & 7;
    if (tag >>> 3 === 0) throw createMalformedError('a field has number 0', this.at);
    if (wireType === 2) this.at = this.readEnd(limit);
    else if (wireType === 0) this.varint64();
    else if (wireType === 1) this.at += 8;
    else if (wireType === 5) this.at += 4;
    else if (wireType === 3) this.#skipGroup(limit);
    else throw createMalformedError(`wire type ${wireType} is unknown`, this.at);
    if (this.at > limit) throw createMalformedError('a field passes the end of its message', this.at);
  }

  /** Throws unless the message was read to its last byte. */
  expectPosition(end: number): void {
    if (this.at !== end) throw createMalformedError('a field passes the end of its message', this.at);
  }

  #skipGroup(limit: number): void {
    for (let openGroups = 1; openGroups > 0; ) {
      if (this.at >= limit) throw createMalformedError('a group does not end', this.at);
      const tag = this.readVarint();
      if ((tag & 7) === 3) openGroups++;
      else if ((tag & 7) === 4) openGroups--;
      else this.skip(tag, limit);
    }
  }
}

/** Returns the start of an ID of `width` bytes, or -1 for an empty one. Moves the reader after it. */
export const readIdStart = (reader: WireCursor, limit: number, width: number): number => {
  const end = reader.readEnd(limit);
  const start = reader.at;
  if (end !== start && end - start !== width) {
    throw createMalformedError(`an id has ${end - start} bytes instead of ${width}`, start);
  }
  reader.at = end;
  return end === start ? -1 : start;
};

const words = new Uint32Array(2);
const doubleView = new Float64Array(words.buffer);
const signedView = new BigInt64Array(words.buffer);
const unsignedView = new BigUint64Array(words.buffer);

/** Returns the double with these bits. */
export const toDouble = (low: number, high: number): number => {
  words[0] = low;
  words[1] = high;
  return doubleView[0] as number;
};

/** Returns the unsigned integer, exact. */
export const toUnsignedBigint = (low: number, high: number): bigint => {
  words[0] = low;
  words[1] = high;
  return unsignedView[0] as bigint;
};

/** Returns the signed integer as a double, exact below 2^53. */
export const toSignedNumber = (low: number, high: number): number => (high | 0) * 4_294_967_296 + (low >>> 0);

/** Returns the signed integer as decimal text, exact. */
export const formatInteger = (low: number, high: number): string => {
  const signedHigh = high | 0;
  if (signedHigh >= -0x200000 && signedHigh < 0x200000) return String(toSignedNumber(low, high));
  words[0] = low;
  words[1] = high;
  return (signedView[0] as bigint).toString();
};

/** Decodes a zigzag-encoded 32-bit integer. */
export const decodeZigzag = (value: number): number => (value >>> 1) ^ -(value & 1);
