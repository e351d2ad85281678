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
const valueBytes: Readonly<Record<string, number>> = { Float64: 8, UInt64: 8, UInt32: 4, Int32: 4, UInt8: 1 };

/** Returns 64-bit integers as numbers; beyond 2^53 they are rounded. */
const wordsToNumbers = (words: Uint32Array): Float64Array => {
  const values = new Float64Array(words.length / 2);
  for (let index = 0; index < values.length; index++)
    values[index] = (words[index * 2] as number) + (words[index * 2 + 1] as number) * two32;
  return values;
};

class NativeReader {
  readonly #bytes: Uint8Array;
  readonly #isInPlace: boolean;
  position = 0;

  constructor(bytes: Uint8Array, isInPlace = false) {
    this.#bytes = bytes;
    this.#isInPlace = isInPlace;
  }

  get isAtEnd(): boolean {
    return this.position >= this.#bytes.length;
  }

  readVarint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.position++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  readText(): string {
    const length = this.readVarint();
    const start = this.position;
    this.position += length;
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start, length).toString();
  }

  /**
   * Returns the next bytes at an offset that is a multiple of 8, as typed arrays require. If the buffer may be
   * modified, the bytes are moved back over the name and type of the column, which have been read already; otherwise
   * they are copied.
   */
  #readAligned(length: number): readonly [ArrayBuffer, number] {
    if (this.position + length > this.#bytes.length) throw new Error('a Native block ends in the middle of a column');
    const { buffer, byteOffset } = this.#bytes;
    const start = byteOffset + this.position;
    this.position += length;
    if (!this.#isInPlace) return [buffer.slice(start, start + length) as ArrayBuffer, 0];
    const alignedStart = start - (start % 8);
    if (alignedStart < start) new Uint8Array(buffer).copyWithin(alignedStart, start, start + length);
    return [buffer as ArrayBuffer, alignedStart];
  }

  /** Reads the next texts by windows. A window with a long or non-ASCII text is read text by text. */
  readTexts(rows: number, target: string[]): void {
    for (const targetLength = target.length + rows; target.length < targetLength; ) {
      const startPosition = this.position;
      const size = Math.min(windowBytes, this.#bytes.length - startPosition);
      const window = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + startPosition, size);
      if (isAscii(window)) this.#readShortTexts(window.toString('latin1'), targetLength, target);
      if (this.position > startPosition) continue;
      while (target.length < targetLength && this.position < startPosition + size) target.push(this.readText());
      if (this.position === startPosition) throw new Error('a Native block ends in the middle of a column');
    }
  }

  /** Reads texts of up to 127 bytes, whose length is one byte. */
  #readShortTexts(window: string, targetLength: number, target: string[]): void {
    let offset = 0;
    while (target.length < targetLength && offset < window.length) {
      const end = offset + 1 + window.charCodeAt(offset);
      if (end > window.length) break;
      target.push(window.slice(offset + 1, end));
      offset = end;
    }
    this.position += offset;
  }

  skip(type: string, rows: number): void {
    const valueSize = valueBytes[type];
    if (valueSize === undefined) throw new Error(`columns of the type ${type} cannot be skipped`);
    this.position += valueSize * rows;
  }

  readColumn(type: string, rows: number): Column {
    const element = /^Array\((.*)\)$/.exec(type)?.[1];
    if (element !== undefined) {
      const ends = wordsToNumbers(new Uint32Array(...this.#readAligned(rows * 8), rows * 2));
      return { kind: 'arrays', ends, elements: this.readNumbers(element, ends.at(-1) ?? 0) };
    }
    if (type === 'UInt64') return { kind: 'words', words: new Uint32Array(...this.#readAligned(rows * 8), rows * 2) };
    return { kind: 'numbers', values: this.readNumbers(type, rows) };
  }

  readNumbers(type: string, rows: number): Float64Array {
    switch (type) {
      case 'Float64':
        return new Float64Array(...this.#readAligned(rows * 8), rows);
      case 'UInt64':
        return wordsToNumbers(new Uint32Array(...this.#readAligned(rows * 8), rows * 2));
      case 'UInt32':
        return Float64Array.from(new Uint32Array(...this.#readAligned(rows * 4), rows));
      case 'Int32':
        return Float64Array.from(new Int32Array(...this.#readAligned(rows * 4), rows));
      case 'UInt8':
        return Float64Array.from(new Uint8Array(...this.#readAligned(rows), rows));
      default:
        throw new Error(`columns of the type ${type} cannot be read as numbers`);
    }
  }
}

/** Returns the texts of a result with one column of type String. */
export const decodeTexts = (bytes: Uint8Array): string[] => {
  const reader = new NativeReader(bytes);
  const texts: string[] = [];
  while (!reader.isAtEnd) {
    const columnCount = reader.readVarint();
    const rows = reader.readVarint();
    if (columnCount === 0) continue;
    reader.readText();
    const type = reader.readText();
    if (columnCount !== 1 || type !== 'String')
      throw new Error(`expected one column of strings, not ${columnCount} of ${type}`);
    reader.readTexts(rows, texts);
  }
  return texts;
};

/**
 * Returns all blocks of a result. A column `UInt64` is returned as words, any other as numbers or arrays of numbers.
 * Columns are views of the bytes, which are modified and cannot be read again. With `columnNames`, only these columns are
 * returned, as copies.
 */
export const decodeBlocks = (bytes: Uint8Array, columnNames?: readonly string[]): Block[] => {
  const reader = new NativeReader(bytes, columnNames === undefined);
  const blocks: Block[] = [];
  while (!reader.isAtEnd) {
    const columnCount = reader.readVarint();
    const rows = reader.readVarint();
    const columns = new Map<string, Column>();
    for (let index = 0; index < columnCount; index++) {
      const name = reader.readText();
      const type = reader.readText();
      if (columnNames === undefined || columnNames.includes(name)) columns.set(name, reader.readColumn(type, rows));
      else reader.skip(type, rows);
    }
    if (rows > 0) blocks.push({ rows, columns });
  }
  return blocks;
};

/** Returns the numbers of a column. */
export const getNumbers = ({ columns }: Block, name: string): Float64Array => {
  const column = columns.get(name);
  if (column?.kind !== 'numbers') throw new Error(`there is no column of numbers ${name}`);
  return column.values;
};

/** Returns the elements of one row of an array column. */
export const getArray = ({ columns }: Block, name: string, row: number): Float64Array => {
  const column = columns.get(name);
  if (column?.kind !== 'arrays') throw new Error(`there is no column of arrays ${name}`);
  return column.elements.subarray(row === 0 ? 0 : column.ends[row - 1], column.ends[row]);
};
