/** Reads protobuf's wire format with bounds checks. All errors are `PermanentError`s with the byte position. */
import { PermanentError } from '../errors.ts';

/** Maximum nesting of unknown groups. Protobuf's own decoders stop at 100 messages. */
const maxGroupDepth = 32;

/** Returns the error for a fault of the wire format itself. */
export const createMalformedError = (message: string, position: number): PermanentError =>
  new PermanentError('malformed', message, { position });

/** A position in a body. Not for the innermost loop: see `scanMessage`. */
export class WireReader {
  readonly bytes: Uint8Array;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Reads a varint. Numbers above 2⁵³ are rounded, which suffices for bounds. Bits above 64 are rejected. */
  readVarint(end: number): number {
    const { bytes, position: start } = this;
    if (start < end && (bytes[start] as number) < 0x80) {
      this.position = start + 1;
      return bytes[start] as number;
    }
    return this.#readLongVarint(end);
  }

  #readLongVarint(end: number): number {
    const { bytes, position: start } = this;
    let value = 0;
    let scale = 1;
    for (let position = start; position < end; position++) {
      const byte = bytes[position] as number;
      // Up to four bytes the arithmetic uses only small integers.
      if (position < start + 4) value |= (byte & 0x7f) << (7 * (position - start));
      else value += (byte & 0x7f) * scale;
      if (position === start + 9 && byte > 1) throw createMalformedError('the varint has more than 64 bits', start);
      if (byte < 0x80) {
        this.position = position + 1;
        return value;
      }
      scale *= 128;
    }
    throw createMalformedError('the varint is cut off', start);
  }

  /** Reads a tag: field number × 8 + wire type. */
  readTag(end: number): number {
    const start = this.position;
    const tag = this.readVarint(end);
    if (tag < 8 || tag > 0xffffffff) throw createMalformedError('the field number is outside 1 to 536870911', start);
    return tag;
  }

  /** Reads a length, moves to the start of the content, and returns its end. */
  readLengthEnd(end: number): number {
    const start = this.position;
    const length = this.readVarint(end);
    if (length > end - this.position) {
      throw createMalformedError(`the length ${length} exceeds the remaining ${end - this.position} bytes`, start);
    }
    return this.position + length;
  }

  /** Skips the value of a field whose tag has been read. */
  skip(tag: number, end: number, depth = 0): void {
    switch (tag % 8) {
      case 0:
        this.readVarint(end);
        return;
      case 1:
        this.#advance(8, end);
        return;
      case 2:
        this.position = this.readLengthEnd(end);
        return;
      case 3:
        this.#skipGroup(Math.floor(tag / 8), end, depth + 1);
        return;
      case 5:
        this.#advance(4, end);
        return;
      case 4:
        throw createMalformedError('a group ends that never began', this.position);
      default:
        throw createMalformedError(`the wire type ${tag % 8} does not exist`, this.position);
    }
  }

  #advance(count: number, end: number): void {
    if (count > end - this.position) throw createMalformedError('the value is cut off', this.position);
    this.position += count;
  }

  #skipGroup(number: number, end: number, depth: number): void {
    const start = this.position;
    if (depth > maxGroupDepth) {
      throw new PermanentError('too-deep', `unknown groups nest deeper than ${maxGroupDepth}`, { position: start });
    }
    while (this.position < end) {
      const tagStart = this.position;
      const tag = this.readTag(end);
      if (tag % 8 !== 4) {
        this.skip(tag, end, depth);
        continue;
      }
      if (Math.floor(tag / 8) !== number)
        throw createMalformedError(`a group of field ${number} ends as another field's`, tagStart);
      return;
    }
    throw createMalformedError(`the group of field ${number} does not end`, start);
  }
}
