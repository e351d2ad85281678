import { copyRange } from '../../runtime/memory.ts';
import { copyBytes } from './bytes.ts';
import { growCapacity, PlainColumn } from './column.ts';

type Elements = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/**
 * A column backed by one typed array; `elementsPerRow` elements form a value. ClickHouse is little-endian, as is every machine
 * that runs Node.
 */
abstract class FixedColumn<Array extends Elements> extends PlainColumn {
  protected elements: Array;
  protected length = 0;
  #markedLength = 0;
  readonly #elementsPerRow: number;

  constructor(type: string, elements: Array, elementsPerRow = 1) {
    super(type);
    this.elements = elements;
    this.#elementsPerRow = elementsPerRow;
  }

  get rows(): number {
    return this.length / this.#elementsPerRow;
  }

  mark(): void {
    this.#markedLength = this.length;
  }

  rollback(): void {
    this.length = this.#markedLength;
  }

  reset(): void {
    this.length = 0;
    this.#markedLength = 0;
  }

  computeSize(): number {
    return this.length * this.elements.BYTES_PER_ELEMENT;
  }

  write(target: Uint8Array, at: number): number {
    const size = this.computeSize();
    copyRange(new Uint8Array(this.elements.buffer), 0, size, target, at);
    return at + size;
  }

  protected reserve(count: number): void {
    const minLength = this.length + count;
    if (minLength <= this.elements.length) return;
    const larger = new (this.elements.constructor as new (length: number) => Array)(
      growCapacity(this.elements.length, minLength),
    );
    larger.set(this.elements);
    this.elements = larger;
  }
}

/** UInt8, Bool, UInt16, UInt32, Int32: one number per value. */
export class NumberColumn extends FixedColumn<Elements> {
  constructor(type: 'UInt8' | 'Bool' | 'UInt16' | 'UInt32' | 'Int32') {
    super(
      type,
      type === 'UInt16' ? new Uint16Array(1024) : type.endsWith('32') ? new Uint32Array(1024) : new Uint8Array(1024),
    );
  }

  push(value: number): void {
    if (this.length === this.elements.length) this.reserve(1);
    this.elements[this.length++] = value;
  }

  /** Appends the same value `count` times. */
  pushRepeated(value: number, count: number): void {
    this.reserve(count);
    this.elements.fill(value, this.length, this.length + count);
    this.length += count;
  }

  /** Appends `count` consecutive values, starting with `first`. */
  pushSequence(first: number, count: number): void {
    this.reserve(count);
    const { elements, length } = this;
    for (let index = 0; index < count; index++) elements[length + index] = first + index;
    this.length += count;
  }
}

const scratchDouble = new Float64Array(1);
const scratchWords = new Uint32Array(scratchDouble.buffer);

/** UInt64, Int64, Float64 and DateTime64: two 32-bit words per value, so that no bit is lost. */
export class Int64Column extends FixedColumn<Uint32Array<ArrayBuffer>> {
  constructor(type: string) {
    super(type, new Uint32Array(2048), 2);
  }

  push(low: number, high: number): void {
    if (this.length + 2 > this.elements.length) this.reserve(2);
    this.elements[this.length++] = low;
    this.elements[this.length++] = high;
  }

  getLowWord(row: number): number {
    return this.elements[row * 2] as number;
  }

  getHighWord(row: number): number {
    return this.elements[row * 2 + 1] as number;
  }

  /** As Float64. */
  pushDouble(value: number): void {
    scratchDouble[0] = value;
    this.push(scratchWords[0] as number, scratchWords[1] as number);
  }

  /** Appends a non-negative integer below 2^53. */
  pushInteger(value: number): void {
    this.push(value >>> 0, Math.floor(value / 4_294_967_296));
  }

  pushRepeated(low: number, high: number, count: number): void {
    this.reserve(count * 2);
    for (let index = 0; index < count; index++) {
      this.elements[this.length++] = low;
      this.elements[this.length++] = high;
    }
  }

  /** Appends little-endian values in wire format. `end - start` must be a multiple of eight. */
  pushWireBytes(source: Uint8Array, start: number, end: number): void {
    this.reserve((end - start) / 4);
    copyRange(source, start, end, new Uint8Array(this.elements.buffer), this.length * 4);
    this.length += (end - start) / 4;
  }
}

/** FixedString(n). */
export class FixedStringColumn extends FixedColumn<Uint8Array<ArrayBuffer>> {
  readonly #width: number;
  #view = new DataView(this.elements.buffer);

  constructor(width: number) {
    super(`FixedString(${width})`, new Uint8Array(width * 512), width);
    this.#width = width;
  }

  /** Appends the bytes at `start`; zeros if `start` is negative. */
  push(source: Uint8Array, start: number): void {
    const width = this.#width;
    if (this.length + width > this.elements.length) this.reserve(width);
    const { elements, length } = this;
    this.length = length + width;
    if (start < 0) {
      elements.fill(0, length, length + width);
      return;
    }
    if (this.#view.byteLength !== elements.length) this.#view = new DataView(elements.buffer);
    copyBytes(source, start, start + width, this.#view, length);
  }
}
