/**
 * Index of an organization's indicators by value: a hash table in typed arrays over the blocks, so that a million
 * indicators take about 75 MB. Matches are compared in full.
 */
import { randomInt } from 'node:crypto';
import type { IndicatorBlock, IndicatorType } from '../../schemas/resources/threat-intel.ts';
import { decodeEntry, entryPositions, headerBytes, isHash, toTypeNumber } from './block.ts';
import type { ScoreInputs } from './indicator.ts';

export interface FoundIndicator extends ScoreInputs {
  readonly value: string;
  readonly source: string;
  readonly raisesSignals: boolean;
}

interface Block {
  readonly bytes: Buffer;
  /** Numbers of the block's sources in the index */
  readonly sources: readonly number[];
  /** Number of entries that are not superseded */
  live: number;
}

/** Differs between processes, so that nobody can choose values that share a slot. */
const hashSeed = randomInt(2 ** 31);
const maxValueBytes = 4096;
const searchBuffer = Buffer.alloc(maxValueBytes);

/** FNV-1a with the finalizer of MurmurHash3. */
const computeHash = (type: number, bytes: Buffer, from: number, to: number): number => {
  let hash = hashSeed ^ type;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] as number), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
};

const nibble = (code: number): number => (code >= 97 ? code - 87 : code - 48);

/** Writes a value to `searchBuffer` in the form of entries; returns its length, or -1 for an impossible value. */
const writeValue = (type: IndicatorType, value: string): number => {
  const { length } = value;
  if (length === 0 || length > maxValueBytes) return -1;
  if (isHash(type)) {
    for (let at = 0; at < length; at += 2)
      searchBuffer[at >> 1] = (nibble(value.charCodeAt(at)) << 4) | nibble(value.charCodeAt(at + 1));
    return length >> 1;
  }
  for (let at = 0; at < length; at++) {
    const code = value.charCodeAt(at);
    if (code >= 0x80) return Buffer.byteLength(value) > maxValueBytes ? -1 : searchBuffer.write(value);
    searchBuffer[at] = code;
  }
  return length;
};

const doubleSize = (array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> => {
  const larger = new Uint32Array(2 * array.length);
  larger.set(array);
  return larger;
};

export class IndicatorIndex {
  /** Blocks by ascending number; removed ones are absent */
  readonly #blocks: (Block | undefined)[] = [];
  readonly #blockNumbers = new Map<string, number>();
  readonly #sourceNames: string[] = [];
  readonly #sourceNumbers = new Map<string, number>();
  /** For each entry, its block and the position in it */
  #entryBlocks = new Uint32Array(64);
  #entryPositions = new Uint32Array(64);
  #size = 0;
  /** For each slot, the hash, and the entry's number plus one */
  #hashes = new Int32Array(128);
  #entryBySlot = new Uint32Array(128);
  /** Number of entries by type */
  readonly #countsByType = new Uint32Array(16);
  /** Lengths of network prefixes of IPv4 and IPv6 */
  readonly prefixes = { ipv4: new Set<number>(), ipv6: new Set<number>() };

  /** Ids of the indexed blocks */
  get blocks(): Iterable<string> {
    return this.#blockNumbers.keys();
  }

  has(id: string): boolean {
    return this.#blockNumbers.has(id);
  }

  /** Returns whether indicators of a type exist. */
  hasType(type: IndicatorType): boolean {
    return this.#countsByType[toTypeNumber(type)] !== 0;
  }

  add(id: string, { sources, entries }: Pick<IndicatorBlock, 'sources' | 'entries'>): void {
    if (this.#blockNumbers.has(id)) return;
    const number = this.#blocks.length;
    const block: Block = {
      bytes: Buffer.from(entries, 'base64'),
      sources: sources.map((source) => this.#getSourceNumber(source)),
      live: 0,
    };
    this.#blockNumbers.set(id, number);
    this.#blocks.push(block);
    for (const at of entryPositions(block.bytes)) this.#putEntry(number, block, at);
  }

  /**
   * Removes a block. Returns false if that would remove the only entry of an indicator; the caller must then rebuild
   * the index.
   */
  remove(id: string): boolean {
    const number = this.#blockNumbers.get(id);
    if (number === undefined) return true;
    if ((this.#blocks[number]?.live ?? 0) > 0) return false;
    this.#blockNumbers.delete(id);
    this.#blocks[number] = undefined;
    return true;
  }

  /** Returns the entries of all sources for a value in the form of its type, including revoked ones. */
  find(type: IndicatorType, value: string): FoundIndicator[] {
    const length = this.hasType(type) ? writeValue(type, value) : -1;
    if (length < 0) return noIndicators;
    const typeNumber = toTypeNumber(type);
    const hash = computeHash(typeNumber, searchBuffer, 0, length);
    const mask = this.#entryBySlot.length - 1;
    let found: FoundIndicator[] | undefined;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#entryBySlot[slot] as number;
      if (entry === 0) return found ?? noIndicators;
      if (this.#hashes[slot] !== hash) continue;
      const block = this.#blocks[this.#entryBlocks[entry - 1] as number] as Block;
      const at = this.#entryPositions[entry - 1] as number;
      if (!isSameIndicator(block.bytes, at, typeNumber, searchBuffer, 0, length)) continue;
      found ??= [];
      const source = this.#sourceNames[block.sources[block.bytes.readUInt16LE(at + 3)] ?? 0] ?? '';
      found.push({ ...decodeEntry(block.bytes, at), value, source });
    }
  }

  /**
   * Yields the latest entry of each indicator with its source: block bytes and position, in the form that `blockOf`
   * parses.
   */
  *latest(): Generator<{ readonly bytes: Buffer; readonly at: number; readonly source: string }> {
    for (let entry = 0; entry < this.#size; entry++) {
      const block = this.#blocks[this.#entryBlocks[entry] as number] as Block;
      const at = this.#entryPositions[entry] as number;
      yield {
        bytes: block.bytes,
        at,
        source: this.#sourceNames[block.sources[block.bytes.readUInt16LE(at + 3)] ?? 0] ?? '',
      };
    }
  }

  get size(): number {
    return this.#size;
  }

  #getSourceNumber(source: string): number {
    const known = this.#sourceNumbers.get(source);
    if (known !== undefined) return known;
    this.#sourceNumbers.set(source, this.#sourceNames.length);
    return this.#sourceNames.push(source) - 1;
  }

  #putEntry(number: number, block: Block, at: number): void {
    const { bytes } = block;
    const type = bytes[at] as number;
    const from = at + headerBytes;
    const length = bytes.readUInt16LE(at + 25);
    const hash = computeHash(type, bytes, from, from + length);
    const source = block.sources[bytes.readUInt16LE(at + 3)];
    const mask = this.#entryBySlot.length - 1;
    let slot = hash & mask;
    for (; this.#entryBySlot[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#hashes[slot] !== hash) continue;
      const entry = (this.#entryBySlot[slot] as number) - 1;
      const other = this.#blocks[this.#entryBlocks[entry] as number] as Block;
      const otherAt = this.#entryPositions[entry] as number;
      if (other.sources[other.bytes.readUInt16LE(otherAt + 3)] !== source) continue;
      if (!isSameIndicator(other.bytes, otherAt, type, bytes, from, length)) continue;
      if (isLater(other.bytes, otherAt, bytes, at)) return;
      other.live--;
      block.live++;
      this.#entryBlocks[entry] = number;
      this.#entryPositions[entry] = at;
      return;
    }
    this.#insertEntry(slot, hash, number, at);
    block.live++;
    this.#countsByType[type] = (this.#countsByType[type] as number) + 1;
    if (type === networkType) this.#addPrefix(bytes.toString('latin1', from, from + length));
  }

  #insertEntry(slot: number, hash: number, number: number, at: number): void {
    if (this.#size === this.#entryPositions.length) {
      this.#entryBlocks = doubleSize(this.#entryBlocks);
      this.#entryPositions = doubleSize(this.#entryPositions);
    }
    this.#entryBlocks[this.#size] = number;
    this.#entryPositions[this.#size] = at;
    this.#hashes[slot] = hash;
    this.#entryBySlot[slot] = ++this.#size;
    if (this.#size * 5 > this.#entryBySlot.length * 3) this.#rehash();
  }

  #rehash(): void {
    const { length } = this.#entryBySlot;
    const hashes = new Int32Array(2 * length);
    const slots = new Uint32Array(2 * length);
    const mask = 2 * length - 1;
    for (let from = 0; from < length; from++) {
      if (this.#entryBySlot[from] === 0) continue;
      let slot = (this.#hashes[from] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      hashes[slot] = this.#hashes[from] as number;
      slots[slot] = this.#entryBySlot[from] as number;
    }
    this.#hashes = hashes;
    this.#entryBySlot = slots;
  }

  #addPrefix(value: string): void {
    const length = Number(value.slice(value.lastIndexOf('/') + 1));
    this.prefixes[value.includes(':') ? 'ipv6' : 'ipv4'].add(length);
  }
}

const noIndicators: FoundIndicator[] = [];
const networkType = toTypeNumber('network');

/** Returns whether an entry has the given type and value. */
const isSameIndicator = (
  bytes: Buffer,
  at: number,
  type: number,
  other: Buffer,
  from: number,
  length: number,
): boolean => {
  if (bytes[at] !== type || bytes.readUInt16LE(at + 25) !== length) return false;
  for (let index = 0; index < length; index++)
    if (bytes[at + headerBytes + index] !== other[from + index]) return false;
  return true;
};

/**
 * Returns whether the first of two entries of an indicator wins: the one seen later, or the larger one if both were
 * seen at the same time.
 */
const isLater = (bytes: Buffer, at: number, other: Buffer, otherAt: number): boolean => {
  const seen = bytes.readUIntLE(at + 7, 6) - other.readUIntLE(otherAt + 7, 6);
  if (seen !== 0) return seen > 0;
  // Flags first, so that a revocation at the same time wins.
  return bytes.compare(other, otherAt + 1, otherAt + 3, at + 1, at + 3) >= 0;
};
