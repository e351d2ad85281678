/** Decodes protobuf's wire format for sinks and the views of `records/`. */
import { PermanentError } from '../errors.ts';

/** Maximum nesting of arrays and maps in a value. */
export const maxDepth = 32;

/** Returns the error for a body that does not match its schema. */
export const createMalformedError = (problem: string, position: number): PermanentError =>
  new PermanentError('malformed', `${problem} at byte ${position}`, { position });

/**
 * A position in the wire bytes of an admitted body. Faster than `WireReader`, and less strict about lengths of varints.
 * Fields are distinguished by their full tag (number and wire type). So a known number with a different wire type is
 * skipped as unknown, as in protobuf's own decoders. 64-bit values are returned in `low` and `high`, which avoids an
 * object per field.
 */
export class WireCursor {
  bytes: Uint8Array;
  position: number;
  low = 0;
  high = 0;

  constructor(bytes: Uint8Array, position = 0) {
    this.bytes = bytes;
    this.position = position;
  }

  /** Reads a tag, a length or a 32-bit number. Higher bits are dropped. */
  readVarint(): number {
    const { bytes } = this;
    let byte = bytes[this.position++] as number;
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let shift = 7; shift < 70; shift += 7) {
      byte = bytes[this.position++] as number;
      if (shift < 32) value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
    throw createMalformedError('a varint does not end', this.position);
  }

  /** Reads all 64 bits of a varint into `low` and `high`. */
  readVarint64(): void {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.bytes[this.position++] as number;
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
    throw createMalformedError('a varint does not end', this.position);
  }

  readFixed32(): number {
    const { bytes, position } = this;
    this.position = position + 4;
    return (
      ((bytes[position] as number) |
        ((bytes[position + 1] as number) << 8) |
        ((bytes[position + 2] as number) << 16) |
        ((bytes[position + 3] as number) << 24)) >>>
      0
    );
  }

  readFixed64(): void {
    this.low = this.readFixed32();
    this.high = this.readFixed32();
  }

  /** Reads a length and returns the end of that many bytes, which is at most `limit`. */
  readEnd(limit: number): number {
    const length = this.readVarint();
    const end = this.position + length;
    if (!(end <= limit))
      throw createMalformedError(`a field of ${length} bytes exceeds the end of its message`, this.position);
    return end;
  }

  /** Skips a field whose tag was just read. */
  skip(tag: number, limit: number): void {
    const wireType = tag & 7;
    if (tag >>> 3 === 0) throw createMalformedError('a field has number 0', this.position);
    if (wireType === 2) this.position = this.readEnd(limit);
    else if (wireType === 0) this.readVarint64();
    else if (wireType === 1) this.position += 8;
    else if (wireType === 5) this.position += 4;
    else if (wireType === 3) this.#skipGroup(limit);
    else throw createMalformedError(`wire type ${wireType} is unknown`, this.position);
    if (this.position > limit) throw createMalformedError('a field passes the end of its message', this.position);
  }

  /** Throws unless the message was read to its last byte. */
  expectPosition(end: number): void {
    if (this.position !== end) throw createMalformedError('a field passes the end of its message', this.position);
  }

  #skipGroup(limit: number): void {
    for (let openGroups = 1; openGroups > 0; ) {
      if (this.position >= limit) throw createMalformedError('a group does not end', this.position);
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
  const start = reader.position;
  if (end !== start && end - start !== width) {
    throw createMalformedError(`an id has ${end - start} bytes instead of ${width}`, start);
  }
  reader.position = end;
  return end === start ? -1 : start;
};

const scratchWords = new Uint32Array(2);
const doubleView = new Float64Array(scratchWords.buffer);
const signedView = new BigInt64Array(scratchWords.buffer);
const unsignedView = new BigUint64Array(scratchWords.buffer);

/** Returns the double with these bits. */
export const toDouble = (low: number, high: number): number => {
  scratchWords[0] = low;
  scratchWords[1] = high;
  return doubleView[0] as number;
};

/** Returns the unsigned integer, exact. */
export const toUnsignedBigint = (low: number, high: number): bigint => {
  scratchWords[0] = low;
  scratchWords[1] = high;
  return unsignedView[0] as bigint;
};

/** Returns the signed integer as a double, exact below 2^53. */
export const toSignedNumber = (low: number, high: number): number => (high | 0) * 4_294_967_296 + (low >>> 0);

/** Returns the signed integer as decimal text, exact. */
export const formatInteger = (low: number, high: number): string => {
  const signedHigh = high | 0;
  if (signedHigh >= -0x200000 && signedHigh < 0x200000) return String(toSignedNumber(low, high));
  scratchWords[0] = low;
  scratchWords[1] = high;
  return (signedView[0] as bigint).toString();
};

/** Decodes a zigzag-encoded 32-bit integer. */
export const decodeZigzag = (value: number): number => (value >>> 1) ^ -(value & 1);
