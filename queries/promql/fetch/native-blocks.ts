/** Reads columns in ClickHouse's Native format: a sequence of blocks, each with rows by column. */
import { isAscii } from 'node:buffer';

export type Column =
  | { readonly kind: 'numbers'; readonly values: Float64Array }
  /** 64-bit integers as two words each, low word first. */
  | { readonly kind: 'words'; readonly words: Uint32Array }
  /** Elements of all rows; those of a row end at `ends[row]`. */
  | { readonly kind: 'arrays'; readonly ends: Float64Array; readonly elements: Float64Array };

export interface Block {
  readonly rows: number;
  readonly columns: ReadonlyMap<string, Column>;
}

const two32 = 4_294_967_296;

/** Number of bytes of texts decoded at a time. */
const windowBytes = 65_536;

/** Bytes of one value. */
const widths: Readonly<Record<string, number>> = { Float64: 8, UInt64: 8, UInt32: 4, Int32: 4, UInt8: 1 };

/** Returns 64-bit integers as numbers; beyond 2^53 they are rounded. */
const numbersOf = (words: Uint32Array): Float64Array => {
  const values = new Float64Array(words.length / 2);
  for (let at = 0; at < values.length; at++)
    values[at] = (words[at * 2] as number) + (words[at * 2 + 1] as number) * two32;
  return values;
};

class Reader {
  readonly #bytes: Uint8Array;
  readonly #inPlace: boolean;
  at = 0;

  constructor(bytes: Uint8Array, inPlace = false) {
    this.#bytes = bytes;
    this.#inPlace = inPlace;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  text(): string {
    const length = this.varint();
    const start = this.at;
    this.at += length;
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start, length).toString();
  }

  /**
   * Returns the next bytes at an offset that is a multiple of 8, as typed arrays require. They are moved back over
   * bytes that were already read if possible, otherwise copied. The name and type before a column provide the space.
   */
  #aligned(length: number): readonly [ArrayBuffer, number] {
    if (this.at + length > this.#bytes.length) throw new Error('a Native block ends in the middle of a column');
    const { buffer, byteOffset } = this.#bytes;
    const start = byteOffset + this.at;
    this.at += length;
    if (!this.#inPlace) return [buffer.slice(start, start + length) as ArrayBuffer, 0];
    const to = start - (start % 8);
    if (to < start) new Uint8Array(buffer).copyWithin(to, start, start + length);
    return [buffer as ArrayBuffer, to];
  }

  /** Reads the next texts by windows. A window with a long or non-ASCII text is read text by text. */
  texts(rows: number, into: string[]): void {
    for (const targetLength = into.length + rows; into.length < targetLength; ) {
      const before = this.at;
      const size = Math.min(windowBytes, this.#bytes.length - before);
      const window = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + before, size);
      if (isAscii(window)) this.#shortTexts(window.toString('latin1'), targetLength, into);
      if (this.at > before) continue;
      while (into.length < targetLength && this.at < before + size) into.push(this.text());
      if (this.at === before) throw new Error('a Native block ends in the middle of a column');
    }
  }

  /** Reads texts of up to 127 bytes, whose length is one byte. */
  #shortTexts(window: string, targetLength: number, into: string[]): void {
    let at = 0;
    while (into.length < targetLength && at < window.length) {
      const end = at + 1 + window.charCodeAt(at);
      if (end > window.length) break;
      into.push(window.slice(at + 1, end));
      at = end;
    }
    this.at += at;
  }

  skip(type: string, rows: number): void {
    const width = widths[type];
    if (width === undefined) throw new Error(`columns of the type ${type} cannot be skipped`);
    this.at += width * rows;
  }

  column(type: string, rows: number): Column {
    const element = /^Array\((.*)\)$/.exec(type)?.[1];
    if (element !== undefined) {
      const ends = numbersOf(new Uint32Array(...this.#aligned(rows * 8), rows * 2));
      return { kind: 'arrays', ends, elements: this.numbers(element, ends.at(-1) ?? 0) };
    }
    if (type === 'UInt64') return { kind: 'words', words: new Uint32Array(...this.#aligned(rows * 8), rows * 2) };
    return { kind: 'numbers', values: this.numbers(type, rows) };
  }

  numbers(type: string, rows: number): Float64Array {
    switch (type) {
      case 'Float64':
        return new Float64Array(...this.#aligned(rows * 8), rows);
      case 'UInt64':
        return numbersOf(new Uint32Array(...this.#aligned(rows * 8), rows * 2));
      case 'UInt32':
        return Float64Array.from(new Uint32Array(...this.#aligned(rows * 4), rows));
      case 'Int32':
        return Float64Array.from(new Int32Array(...this.#aligned(rows * 4), rows));
      case 'UInt8':
        return Float64Array.from(new Uint8Array(...this.#aligned(rows), rows));
      default:
        throw new Error(`columns of the type ${type} cannot be read as numbers`);
    }
  }
}

/** Returns the texts of a result with one column of type String. */
export const textsOf = (bytes: Uint8Array): string[] => {
  const reader = new Reader(bytes);
  const texts: string[] = [];
  while (!reader.isAtEnd) {
    const width = reader.varint();
    const rows = reader.varint();
    if (width === 0) continue;
    reader.text();
    const type = reader.text();
    if (width !== 1 || type !== 'String') throw new Error(`expected one column of strings, not ${width} of ${type}`);
    reader.texts(rows, texts);
  }
  return texts;
};

/**
 * Returns all blocks of a result. A column `UInt64` is returned as words, any other as numbers or arrays of numbers.
 * Columns are views of the bytes, which are modified and cannot be read again. With `named`, only these columns are
 * returned, as copies.
 */
export const blocksOf = (bytes: Uint8Array, named?: readonly string[]): Block[] => {
  const reader = new Reader(bytes, named === undefined);
  const blocks: Block[] = [];
  while (!reader.isAtEnd) {
    const width = reader.varint();
    const rows = reader.varint();
    const columns = new Map<string, Column>();
    for (let at = 0; at < width; at++) {
      const name = reader.text();
      const type = reader.text();
      if (named === undefined || named.includes(name)) columns.set(name, reader.column(type, rows));
      else reader.skip(type, rows);
    }
    if (rows > 0) blocks.push({ rows, columns });
  }
  return blocks;
};

/** Returns the numbers of a column. */
export const numbersIn = ({ columns }: Block, name: string): Float64Array => {
  const column = columns.get(name);
  if (column?.kind !== 'numbers') throw new Error(`there is no column of numbers ${name}`);
  return column.values;
};

/** Returns the elements of one row of an array column. */
export const arrayIn = ({ columns }: Block, name: string, row: number): Float64Array => {
  const column = columns.get(name);
  if (column?.kind !== 'arrays') throw new Error(`there is no column of arrays ${name}`);
  return column.elements.subarray(row === 0 ? 0 : column.ends[row - 1], column.ends[row]);
};
