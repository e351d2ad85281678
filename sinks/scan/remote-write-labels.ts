import { createMalformedError, type WireCursor } from '../../schemas/protobuf/cursor.ts';
import { DictionaryColumn } from '../native/strings.ts';
import { Murmur } from './hash.ts';

const metricName = Buffer.from('__name__', 'utf8');

const isMetricName = (bytes: Uint8Array, start: number, end: number): boolean => {
  if (end - start !== metricName.length) return false;
  for (let index = 0; index < metricName.length; index++) if (bytes[start + index] !== metricName[index]) return false;
  return true;
};

/**
 * Strings of a 2.0 request: the range and hash of each, so that a series' hash does not depend on the request's
 * numbering.
 */
export class SymbolTable {
  #ranges = new Int32Array(2_048);
  #hashes = new Int32Array(2_048);
  readonly #murmur = new Murmur();
  size = 0;

  clear(): void {
    this.size = 0;
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    const at = this.size * 2;
    if (at === this.#ranges.length) {
      this.#ranges = enlarge(this.#ranges);
      this.#hashes = enlarge(this.#hashes);
    }
    this.#murmur.seed(0).update(bytes, start, end);
    this.#ranges[at] = start;
    this.#ranges[at + 1] = end;
    this.#hashes[at] = this.#murmur.a;
    this.#hashes[at + 1] = this.#murmur.b;
    this.size++;
  }

  requireSymbol(symbol: number, position: number): number {
    if (symbol < this.size) return symbol;
    throw createMalformedError(`symbol ${symbol} is not one of the ${this.size} symbols of the request`, position);
  }

  getStart(symbol: number): number {
    return this.#ranges[symbol * 2] as number;
  }

  getEnd(symbol: number): number {
    return this.#ranges[symbol * 2 + 1] as number;
  }

  /** Mixes a symbol's hash into that of a series. */
  mixHash(symbol: number, seriesHash: Murmur): void {
    seriesHash.a = Math.imul(seriesHash.a ^ (this.#hashes[symbol * 2] as number), 0x85ebca6b) + (seriesHash.b | 0);
    seriesHash.b =
      Math.imul(seriesHash.b ^ (this.#hashes[symbol * 2 + 1] as number), 0xc2b2ae35) + (seriesHash.a >>> 13);
    seriesHash.a |= 0;
    seriesHash.b |= 0;
  }
}

const enlarge = (before: Int32Array): Int32Array<ArrayBuffer> => {
  const after = new Int32Array(before.length * 2);
  after.set(before);
  return after;
};

/** Labels of the current series: ranges of names and values in the request, four numbers per label. */
export class Labels {
  ranges = new Int32Array(256);
  count = 0;
  nameStart = 0;
  nameEnd = 0;
  /** Name whose value is in the next run of references */
  #pendingName = -1;

  clear(): void {
    this.#pendingName = -1;
    this.count = 0;
    this.nameStart = 0;
    this.nameEnd = 0;
  }

  add(bytes: Uint8Array, keyStart: number, keyEnd: number, start: number, end: number): void {
    if (isMetricName(bytes, keyStart, keyEnd)) {
      this.nameStart = start;
      this.nameEnd = end;
      return;
    }
    const at = this.count * 4;
    if (at === this.ranges.length) this.ranges = enlarge(this.ranges);
    this.ranges[at] = keyStart;
    this.ranges[at + 1] = keyEnd;
    this.ranges[at + 2] = start;
    this.ranges[at + 3] = end;
    this.count++;
  }

  /** Adds the 1.0 Label between the reader's position and `end`. */
  read(reader: WireCursor, end: number): void {
    let keyStart = 0;
    let keyEnd = 0;
    let start = 0;
    let stop = 0;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x0a) {
        keyEnd = reader.readEnd(end);
        keyStart = reader.position;
        reader.position = keyEnd;
      } else if (tag === 0x12) {
        stop = reader.readEnd(end);
        start = reader.position;
        reader.position = stop;
      } else reader.skip(tag, end);
    }
    reader.expectPosition(end);
    this.add(reader.bytes, keyStart, keyEnd, start, stop);
  }

  /**
   * Adds the labels whose references are between the reader's position and `end`, and mixes them into `raw` if
   * specified. The references may be split into several runs at any position.
   */
  addReferences(reader: WireCursor, end: number, symbols: SymbolTable, seriesHash?: Murmur): void {
    while (reader.position < end) {
      const key =
        this.#pendingName < 0 ? symbols.requireSymbol(reader.readVarint(), reader.position) : this.#pendingName;
      if (reader.position >= end) {
        this.#pendingName = key;
        break;
      }
      this.#pendingName = -1;
      const value = symbols.requireSymbol(reader.readVarint(), reader.position);
      this.add(
        reader.bytes,
        symbols.getStart(key),
        symbols.getEnd(key),
        symbols.getStart(value),
        symbols.getEnd(value),
      );
      if (seriesHash === undefined) continue;
      symbols.mixHash(key, seriesHash);
      symbols.mixHash(value, seriesHash);
    }
    reader.expectPosition(end);
  }

  /** Adds a single reference, for encoders that do not pack references. */
  addReference(reader: WireCursor, symbols: SymbolTable, seriesHash?: Murmur): void {
    const start = reader.position;
    reader.readVarint();
    const end = reader.position;
    reader.position = start;
    this.addReferences(reader, end, symbols, seriesHash);
  }
}

/** Texts of the label `job`, each created once per request. */
export class JobNames {
  readonly #names = new DictionaryColumn();
  #texts: string[] = [];

  reset(): void {
    this.#names.reset();
    this.#texts = [];
  }

  /** Returns the series' job, or an empty text. */
  findJob(bytes: Uint8Array, { ranges, count }: Labels): string {
    for (let at = 0; at < count * 4; at += 4) {
      const key = ranges[at] as number;
      const isJob = (ranges[at + 1] as number) - key === 3 && equalsThreeBytes(bytes, key, 0x6a, 0x6f, 0x62);
      if (isJob) return this.#getText(bytes, ranges[at + 2] as number, ranges[at + 3] as number);
    }
    return '';
  }

  #getText(bytes: Uint8Array, start: number, end: number): string {
    const index = this.#names.findOrAdd(bytes, start, end);
    this.#texts[index] ??= this.#names.getText(index);
    return this.#texts[index];
  }
}

const equalsThreeBytes = (bytes: Uint8Array, at: number, first: number, second: number, third: number): boolean =>
  bytes[at] === first && bytes[at + 1] === second && bytes[at + 2] === third;
