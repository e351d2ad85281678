/** Checks the mappings of a source map, as ECMA-426 decodes them. */
import { PermanentError } from '../../../schemas/errors.ts';

/** Most segments of a map. A bundle of 10 MB has about one million. */
export const maxSegments = 4_000_000;

const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const digitValues = new Int8Array(128).fill(-1);
for (let value = 0; value < base64Digits.length; value++) digitValues[base64Digits.charCodeAt(value)] = value;

const comma = 44;
const semicolon = 59;
/** Values have 32 bits. Digits beyond them must be zero. */
const maxShift = 30;

interface Counts {
  readonly sources: number;
  readonly names: number;
}

/** Reads variable-length quantities from a text, and names the position of a fault. */
class MappingsReader {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#text.length;
  }

  createFault(message: string): PermanentError {
    return new PermanentError('bad-mappings', `mappings: ${message} at character ${this.#position}`);
  }

  skip(code: number): boolean {
    if (this.#text.charCodeAt(this.#position) !== code) return false;
    this.#position++;
    return true;
  }

  isAtSeparator(): boolean {
    const code = this.#text.charCodeAt(this.#position);
    return this.isAtEnd || code === comma || code === semicolon;
  }

  readNumber(): number {
    let value = 0;
    for (let shift = 0; ; shift += 5) {
      const digit = digitValues[this.#text.charCodeAt(this.#position)] ?? -1;
      if (digit < 0) throw this.createFault('expected a base64 digit');
      if (shift > maxShift && (digit & 31) !== 0) throw this.createFault('a number has more than 32 bits');
      this.#position++;
      if (shift <= maxShift) value += (digit & 31) * 2 ** shift;
      if (digit < 32) return value % 2 === 1 ? -Math.floor(value / 2) : value / 2;
    }
  }
}

const checkRange = (reader: MappingsReader, value: number, max: number, name: string): void => {
  if (value < 0 || value > max) throw reader.createFault(`the ${name} ${value} does not exist`);
};

/** Throws `PermanentError` with the position if the mappings are invalid, or have too many segments. Returns their number. */
export const checkMappings = (text: string, { sources, names }: Counts): number => {
  const reader = new MappingsReader(text);
  const largest = 2 ** 31 - 1;
  /** Whether the line has a segment before the position. */
  let isInLine = false;
  let [segments, column, source, line, sourceColumn, name] = [0, 0, 0, 0, 0, 0];
  while (!reader.isAtEnd) {
    if (reader.skip(semicolon)) {
      column = 0;
      isInLine = false;
      continue;
    }
    if (isInLine && !reader.skip(comma)) throw reader.createFault('expected a comma or semicolon');
    isInLine = true;
    if (++segments > maxSegments) throw reader.createFault(`there are more than ${maxSegments} segments`);
    column += reader.readNumber();
    checkRange(reader, column, largest, 'column');
    if (reader.isAtSeparator()) continue;
    source += reader.readNumber();
    checkRange(reader, source, sources - 1, 'source');
    line += reader.readNumber();
    checkRange(reader, line, largest, 'line');
    sourceColumn += reader.readNumber();
    checkRange(reader, sourceColumn, largest, 'column');
    if (reader.isAtSeparator()) continue;
    name += reader.readNumber();
    checkRange(reader, name, names - 1, 'name');
    if (!reader.isAtSeparator()) throw reader.createFault('a segment has more than 5 numbers');
  }
  return segments;
};
