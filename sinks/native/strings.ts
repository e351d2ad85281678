import { copyRange } from '../../runtime/memory.ts';
import { decodeText } from '../../schemas/otlp/any-value.ts';
import { copyBytes } from './bytes.ts';
import { type Column, growCapacity, PlainColumn } from './column.ts';
import { maxDecimalLength, writeDecimal } from './decimals.ts';

/** Returns the size of a varint in bytes. */
export const getVarintSize = (value: number): number => {
  let size = 1;
  for (let remaining = value; remaining >= 128; remaining = Math.floor(remaining / 128)) size++;
  return size;
};

/** Writes a varint and returns the position after it. */
export const writeVarint = (target: Uint8Array, at: number, value: number): number => {
  let position = at;
  let remaining = value;
  while (remaining >= 128) {
    target[position++] = (remaining & 127) | 128;
    remaining = Math.floor(remaining / 128);
  }
  target[position++] = remaining;
  return position;
};

/** Returns the position after a varint. */
export const skipVarint = (bytes: Uint8Array, at: number): number => {
  let position = at;
  while ((bytes[position] as number) > 127) position++;
  return position + 1;
};

/** String: the length of each value as a varint, followed by its bytes. */
export class StringColumn extends PlainColumn {
  bytes = new Uint8Array(16_384);
  length = 0;
  rows = 0;
  #view = new DataView(this.bytes.buffer);
  #buffer = Buffer.from(this.bytes.buffer);
  #mark = 0;
  #markedRows = 0;

  constructor() {
    super('String');
  }

  /** Copies a value from wire bytes. */
  push(source: Uint8Array, start: number, end: number): void {
    const count = end - start;
    this.#reserve(count + 5);
    const at = count < 128 ? this.length + 1 : writeVarint(this.bytes, this.length, count);
    if (count < 128) this.bytes[this.length] = count;
    copyBytes(source, start, end, this.#view, at);
    this.length = at + count;
    this.rows++;
  }

  /** Returns the value that begins at a position, with its length. */
  getTextAt(position: number): string {
    const start = skipVarint(this.bytes, position);
    let size = 0;
    for (let at = start - 1; at >= position; at--) size = size * 128 + ((this.bytes[at] as number) & 127);
    return decodeText(this.bytes, start, start + size);
  }

  /** Appends text created by the process: numbers, JSON. */
  pushText(text: string): void {
    const count = text.length;
    if (count < 128 && this.#pushAscii(text, count)) return;
    this.#reserve(3 * count + 5);
    const at = this.length + getVarintSize(count);
    const writtenBytes = this.#buffer.write(text, at);
    const begin = writeVarint(this.bytes, this.length, writtenBytes);
    // A non-ASCII text may be longer than estimated.
    if (begin !== at) this.#buffer.write(text, begin);
    this.length = begin + writtenBytes;
    this.rows++;
  }

  /** Appends a number as decimal text, in JavaScript's format. */
  pushNumber(value: number): void {
    this.#reserve(1 + maxDecimalLength);
    const end = writeDecimal(this.bytes, this.length + 1, value);
    if (end < 0) {
      this.pushText(String(value));
      return;
    }
    this.bytes[this.length] = end - this.length - 1;
    this.length = end;
    this.rows++;
  }

  mark(): void {
    this.#mark = this.length;
    this.#markedRows = this.rows;
  }

  rollback(): void {
    this.length = this.#mark;
    this.rows = this.#markedRows;
  }

  reset(): void {
    this.length = 0;
    this.rows = 0;
    this.mark();
  }

  computeSize(): number {
    return this.length;
  }

  write(target: Uint8Array, at: number): number {
    copyRange(this.bytes, 0, this.length, target, at);
    return at + this.length;
  }

  #pushAscii(text: string, count: number): boolean {
    this.#reserve(count + 1);
    const at = this.length + 1;
    for (let index = 0; index < count; index++) {
      const code = text.charCodeAt(index);
      if (code > 127) return false;
      this.bytes[at + index] = code;
    }
    this.bytes[this.length] = count;
    this.length = at + count;
    this.rows++;
    return true;
  }

  #reserve(count: number): void {
    const minCapacity = this.length + count;
    if (minCapacity <= this.bytes.length) return;
    const larger = new Uint8Array(growCapacity(this.bytes.length, minCapacity));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
    this.#view = new DataView(larger.buffer);
    this.#buffer = Buffer.from(larger.buffer);
  }
}

/**
 * Maximum number of probed slots; beyond it, a value is stored twice. The engine merges duplicates, and crafted
 * collisions stay cheap.
 */
const maxProbes = 16;
const hasAdditionalKeys = 512;

/**
 * LowCardinality(String) in its own Native format: one dictionary per block and an index per row. A repeated value is
 * neither copied here nor hashed by the engine.
 */
export class DictionaryColumn implements Column {
  readonly type = 'LowCardinality(String)';
  readonly prefixSize = 8;
  readonly #keys = new StringColumn();
  /** Start and end of each key's bytes in `#keys` */
  #starts = new Uint32Array(256);
  #ends = new Uint32Array(256);
  #hashes = new Int32Array(256);
  /** Index + 1 of the key in a slot; 0 for a free slot */
  #slots = new Int32Array(1024);
  /** The last successor of this key: attributes of successive records have the same order. */
  #likelyNextKeys = new Int32Array(256);
  #indexes = new Uint32Array(1024);
  #lastIndex = 0;
  #mark = 0;
  /** The last text, which usually repeats; `#textIndexes` caches all texts */
  #lastText: string | undefined;
  #lastTextIndex = 0;
  readonly #textIndexes = new Map<string, number>();
  rows = 0;

  constructor() {
    this.reset();
  }

  /** Appends a value. */
  push(source: Uint8Array, start: number, end: number): void {
    this.pushIndex(this.findOrAdd(source, start, end));
  }

  pushText(text: string): void {
    this.pushIndex(this.findOrAddText(text));
  }

  /** Appends the value with an index from `findOrAdd` or `indexOfText`. */
  pushIndex(index: number): void {
    if (this.rows === this.#indexes.length) this.#reserveRows(1);
    this.#indexes[this.rows++] = index;
  }

  /** Appends the same value `count` times. */
  pushRepeated(index: number, count: number): void {
    this.#reserveRows(count);
    this.#indexes.fill(index, this.rows, this.rows + count);
    this.rows += count;
  }

  findOrAddText(text: string): number {
    if (text !== this.#lastText) {
      this.#lastTextIndex = this.#textIndexes.get(text) ?? this.#addText(text);
      this.#lastText = text;
    }
    return this.#lastTextIndex;
  }

  #addText(text: string): number {
    const bytes = Buffer.from(text, 'utf8');
    const index = this.findOrAdd(bytes, 0, bytes.length);
    this.#textIndexes.set(text, index);
    return index;
  }

  /** Returns the dictionary index of a value, valid until `reset`. */
  findOrAdd(source: Uint8Array, start: number, end: number): number {
    const likelyIndex = this.#likelyNextKeys[this.#lastIndex] as number;
    if (this.#equals(likelyIndex, source, start, end)) {
      this.#lastIndex = likelyIndex;
      return likelyIndex;
    }
    const index = this.#find(source, start, end);
    this.#likelyNextKeys[this.#lastIndex] = index;
    this.#lastIndex = index;
    return index;
  }

  /** Returns the index of a row's value. */
  getIndex(row: number): number {
    return this.#indexes[row] as number;
  }

  /** Returns a byte of the value at an index. */
  getByte(index: number, position: number): number {
    return this.#keys.bytes[(this.#starts[index] as number) + position] as number;
  }

  /** Returns whether the value at an index is empty. Several indexes may be empty. */
  isEmpty(index: number): boolean {
    return this.#starts[index] === this.#ends[index];
  }

  /** Returns the text of the value at an index. */
  getText(index: number): string {
    return decodeText(this.#keys.bytes, this.#starts[index] as number, this.#ends[index] as number);
  }

  mark(): void {
    this.#mark = this.rows;
  }

  rollback(): void {
    this.rows = this.#mark;
  }

  reset(): void {
    this.#keys.reset();
    this.#slots.fill(0);
    this.#lastIndex = 0;
    this.#lastText = undefined;
    this.#textIndexes.clear();
    this.rows = 0;
    this.#mark = 0;
    // The engine treats the first key of a dictionary as the default value, as this column does.
    this.#addKey(Buffer.alloc(0), 0, 0, 0, 0);
  }

  writePrefix(target: Uint8Array, at: number): number {
    target.fill(0, at, at + 8);
    target[at] = 1;
    return at + 8;
  }

  computeSize(): number {
    return this.rows === 0 ? 0 : 24 + this.#keys.length + this.rows * this.#getIndexWidth();
  }

  write(target: Uint8Array, at: number): number {
    if (this.rows === 0) return at;
    const width = this.#getIndexWidth();
    const view = new DataView(target.buffer, target.byteOffset);
    view.setUint32(at, hasAdditionalKeys | (width === 4 ? 2 : width - 1), true);
    view.setUint32(at + 4, 0, true);
    view.setUint32(at + 8, this.#keys.rows, true);
    view.setUint32(at + 12, 0, true);
    const afterKeys = this.#keys.write(target, at + 16);
    view.setUint32(afterKeys, this.rows, true);
    view.setUint32(afterKeys + 4, 0, true);
    return this.#writeIndexes(target, afterKeys + 8, width);
  }

  #getIndexWidth(): 1 | 2 | 4 {
    return this.#keys.rows <= 256 ? 1 : this.#keys.rows <= 65_536 ? 2 : 4;
  }

  #writeIndexes(target: Uint8Array, at: number, width: 1 | 2 | 4): number {
    const { rows } = this;
    const indexes = this.#indexes;
    if (width === 1) {
      for (let row = 0; row < rows; row++) target[at + row] = indexes[row] as number;
    } else if (width === 2) {
      for (let row = 0, position = at; row < rows; row++) {
        const index = indexes[row] as number;
        target[position++] = index;
        target[position++] = index >>> 8;
      }
    } else {
      copyRange(new Uint8Array(indexes.buffer), 0, rows * 4, target, at);
    }
    return at + rows * width;
  }

  #equals(index: number, source: Uint8Array, start: number, end: number): boolean {
    const from = this.#starts[index] as number;
    if ((this.#ends[index] as number) - from !== end - start) return false;
    const { bytes } = this.#keys;
    // From the end, because names share prefixes.
    for (
      let sourceIndex = end - 1, ownIndex = from + end - start - 1;
      sourceIndex >= start;
      sourceIndex--, ownIndex--
    ) {
      if (bytes[ownIndex] !== source[sourceIndex]) return false;
    }
    return true;
  }

  #find(source: Uint8Array, start: number, end: number): number {
    let hash = end - start;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (source[at] as number), 0x5bd1e995) + (hash >>> 15);
    hash ^= hash >>> 13;
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let probe = 0; probe < maxProbes; probe++, slot = (slot + 1) & mask) {
      const index = (this.#slots[slot] as number) - 1;
      if (index < 0) return this.#addKey(source, start, end, hash, slot);
      if (this.#hashes[index] === hash && this.#equals(index, source, start, end)) return index;
    }
    return this.#addKey(source, start, end, hash, -1);
  }

  #addKey(source: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const index = this.#keys.rows;
    this.#keys.push(source, start, end);
    if (index === this.#starts.length) this.#growDictionary();
    this.#ends[index] = this.#keys.length;
    this.#starts[index] = this.#keys.length - (end - start);
    this.#hashes[index] = hash;
    this.#likelyNextKeys[index] = 0;
    if (slot >= 0) this.#slots[slot] = index + 1;
    if (this.#keys.rows * 2 > this.#slots.length) this.#rehash();
    return index;
  }

  #growDictionary(): void {
    const size = this.#starts.length * 2;
    const enlarge = <Array extends Uint32Array | Int32Array>(before: Array, after: Array): Array => {
      after.set(before);
      return after;
    };
    this.#starts = enlarge(this.#starts, new Uint32Array(size));
    this.#ends = enlarge(this.#ends, new Uint32Array(size));
    this.#hashes = enlarge(this.#hashes, new Int32Array(size));
    this.#likelyNextKeys = enlarge(this.#likelyNextKeys, new Int32Array(size));
  }

  #rehash(): void {
    this.#slots = new Int32Array(this.#slots.length * 4);
    const mask = this.#slots.length - 1;
    for (let index = 0; index < this.#keys.rows; index++) {
      let slot = (this.#hashes[index] as number) & mask;
      for (let probe = 0; probe < maxProbes && this.#slots[slot] !== 0; probe++) slot = (slot + 1) & mask;
      if (this.#slots[slot] === 0) this.#slots[slot] = index + 1;
    }
  }

  #reserveRows(count: number): void {
    const minCapacity = this.rows + count;
    if (minCapacity <= this.#indexes.length) return;
    const larger = new Uint32Array(growCapacity(this.#indexes.length, minCapacity));
    larger.set(this.#indexes);
    this.#indexes = larger;
  }
}
