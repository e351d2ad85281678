/** Writes protobuf's wire format into one growing buffer. */

/** Length of the varint of a number below 2⁵³, in bytes. */
const getVarintLength = (value: number): number => {
  let length = 1;
  for (let remaining = value; remaining > 127; remaining = Math.floor(remaining / 128)) length++;
  return length;
};

export class WireWriter {
  #bytes: Buffer;
  #length = 0;

  /** `capacity` is an estimate; the buffer grows. */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(64, capacity));
  }

  /** Writes a non-negative number below 2⁵³. */
  writeVarint(value: number): void {
    this.#reserve(10);
    this.#length = this.#putVarint(value, this.#length);
  }

  /** Writes any 64-bit number; negative ones in two's complement. */
  varint64(value: bigint): void {
    let rest = BigInt.asUintN(64, value);
    this.#reserve(10);
    for (; rest > 127n; rest >>= 7n) this.#bytes[this.#length++] = Number(rest & 127n) | 128;
    this.#bytes[this.#length++] = Number(rest);
  }

  fixed32(value: number): void {
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  /** Writes any 64-bit number; negative ones in two's complement. */
  fixed64(value: bigint): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), this.#length);
  }

  double(value: number): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** Copies `source` from `start` to `end`. */
  copy(source: Uint8Array, start: number, end: number): void {
    const count = end - start;
    this.#reserve(count);
    if (count > 24) this.#bytes.set(source.subarray(start, end), this.#length);
    else
      for (let index = 0; index < count; index++) this.#bytes[this.#length + index] = source[start + index] as number;
    this.#length += count;
  }

  utf8(text: string): void {
    this.#reserve(text.length * 3);
    this.#length += this.#bytes.write(text, this.#length, 'utf8');
  }

  /** Begins a length-prefixed part. Pass the returned mark to `end`. */
  beginLengthPrefixed(): number {
    this.#reserve(1);
    return ++this.#length;
  }

  /** Writes the length before the content written since `beginLengthPrefixed`, and moves the content if one byte is not enough. */
  endLengthPrefixed(mark: number): void {
    const count = this.#length - mark;
    const extraLengthBytes = getVarintLength(count) - 1;
    if (extraLengthBytes > 0) {
      this.#reserve(extraLengthBytes);
      this.#bytes.copyWithin(mark + extraLengthBytes, mark, this.#length);
    }
    // The room exists already: growing the buffer now would omit the bytes after the length.
    this.#putVarint(count, mark - 1);
    this.#length += extraLengthBytes;
  }

  /** Returns the written bytes without copying. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Returns the end position. The buffer must have room. */
  #putVarint(value: number, at: number): number {
    const bytes = this.#bytes;
    let rest = value;
    let position = at;
    for (; rest > 0x7fffffff; rest = Math.floor(rest / 128)) bytes[position++] = (rest % 128) | 128;
    for (; rest > 127; rest >>>= 7) bytes[position++] = (rest & 127) | 128;
    bytes[position++] = rest;
    return position;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grownBuffer = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + count));
    this.#bytes.copy(grownBuffer, 0, 0, this.#length);
    this.#bytes = grownBuffer;
  }
}
