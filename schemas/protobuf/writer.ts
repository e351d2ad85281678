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
  writeVarint64(value: bigint): void {
    let remaining = BigInt.asUintN(64, value);
    this.#reserve(10);
    for (; remaining > 127n; remaining >>= 7n) this.#bytes[this.#length++] = Number(remaining & 127n) | 128;
    this.#bytes[this.#length++] = Number(remaining);
  }

  writeFixed32(value: number): void {
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  /** Writes any 64-bit number; negative ones in two's complement. */
  writeFixed64(value: bigint): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), this.#length);
  }

  writeDouble(value: number): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  writeByte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** Copies `source` from `start` to `end`. */
  copyBytes(source: Uint8Array, start: number, end: number): void {
    const count = end - start;
    this.#reserve(count);
    if (count > 24) this.#bytes.set(source.subarray(start, end), this.#length);
    else
      for (let index = 0; index < count; index++) this.#bytes[this.#length + index] = source[start + index] as number;
    this.#length += count;
  }

  writeUtf8(text: string): void {
    this.#reserve(text.length * 3);
    this.#length += this.#bytes.write(text, this.#length, 'utf8');
  }

  /** Begins a length-prefixed part. Pass the returned mark to `endLengthPrefixed`. */
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
    // The space is already reserved: growing the buffer now would lose the bytes after the length.
    this.#putVarint(count, mark - 1);
    this.#length += extraLengthBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Removes everything written after the first `length` bytes. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** Returns the written bytes without copying. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Returns the end position. The buffer must have enough space. */
  #putVarint(value: number, start: number): number {
    const bytes = this.#bytes;
    let remaining = value;
    let position = start;
    for (; remaining > 0x7fffffff; remaining = Math.floor(remaining / 128)) bytes[position++] = (remaining % 128) | 128;
    for (; remaining > 127; remaining >>>= 7) bytes[position++] = (remaining & 127) | 128;
    bytes[position++] = remaining;
    return position;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grownBuffer = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + count));
    this.#bytes.copy(grownBuffer, 0, 0, this.#length);
    this.#bytes = grownBuffer;
  }
}
