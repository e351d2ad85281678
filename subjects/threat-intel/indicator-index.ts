/**
 * Index of an organization's indicators by value: a hash table in typed arrays over the blocks, so that a million
 * indicators take about 75 MB. Matches are compared in full.
 */
import { randomInt } from 'node:crypto';
import type { IndicatorBlock, IndicatorType } from '../../schemas/resources/threat-intel.ts';
import { decodeEntry, headerBytes, isHash, iterateEntryOffsets, toTypeNumber } from './block.ts';
import type { ScoreInputs } from './indicator.ts';

export interface IndexedIndicator extends ScoreInputs {
  readonly value: string;
  readonly source: string;
  readonly raisesSignals: boolean;
}

interface Block {
  readonly bytes: Buffer;
  /** Numbers of the block's sources in the index */
  readonly sources: readonly number[];
  /** Number of entries that are not superseded */
  liveEntryCount: number;
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

const toNibble = (code: number): number => (code >= 97 ? code - 87 : code - 48);

/** Writes a value to `searchBuffer` in the form of entries; returns its length, or -1 for an impossible value. */
const writeValue = (type: IndicatorType, value: string): number => {
  const { length } = value;
  if (length === 0 || length > maxValueBytes) return -1;
  if (isHash(type)) {
    for (let at = 0; at < length; at += 2)
      searchBuffer[at >> 1] = (toNibble(value.charCodeAt(at)) << 4) | toNibble(value.charCodeAt(at + 1));
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
  readonly #entryCountsByType = new Uint32Array(16);
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
    return this.#entryCountsByType[toTypeNumber(type)] !== 0;
  }

  add(id: string, { sources, entries }: Pick<IndicatorBlock, 'sources' | 'entries'>): void {
    if (this.#blockNumbers.has(id)) return;
    const blockNumber = this.#blocks.length;
    const block: Block = {
      bytes: Buffer.from(entries, 'base64'),
      sources: sources.map((source) => this.#getSourceNumber(source)),
      liveEntryCount: 0,
    };
    this.#blockNumbers.set(id, blockNumber);
    this.#blocks.push(block);
    for (const offset of iterateEntryOffsets(block.bytes)) this.#putEntry(blockNumber, block, offset);
  }

  /**
   * Removes a block. Returns false if that would remove the only entry of an indicator; the caller must then rebuild
   * the index.
   */
  remove(id: string): boolean {
    const blockNumber = this.#blockNumbers.get(id);
    if (blockNumber === undefined) return true;
    if ((this.#blocks[blockNumber]?.liveEntryCount ?? 0) > 0) return false;
    this.#blockNumbers.delete(id);
    this.#blocks[blockNumber] = undefined;
    return true;
  }

  /** Returns the entries of all sources for a value in the form of its type, including revoked ones. */
  find(type: IndicatorType, value: string): IndexedIndicator[] {
    const length = this.hasType(type) ? writeValue(type, value) : -1;
    if (length < 0) return noIndicators;
    const typeNumber = toTypeNumber(type);
    const hash = computeHash(typeNumber, searchBuffer, 0, length);
    const mask = this.#entryBySlot.length - 1;
    let indicators: IndexedIndicator[] | undefined;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#entryBySlot[slot] as number;
      if (entry === 0) return indicators ?? noIndicators;
      if (this.#hashes[slot] !== hash) continue;
      const block = this.#blocks[this.#entryBlocks[entry - 1] as number] as Block;
      const offset = this.#entryPositions[entry - 1] as number;
      if (!isSameIndicator(block.bytes, offset, typeNumber, searchBuffer, 0, length)) continue;
      indicators ??= [];
      const source = this.#sourceNames[block.sources[block.bytes.readUInt16LE(offset + 3)] ?? 0] ?? '';
      indicators.push({ ...decodeEntry(block.bytes, offset), value, source });
    }
  }

  /**
   * Yields the latest entry of each indicator: the bytes of its block, its offset, and its source.
   */
  *latest(): Generator<{ readonly bytes: Buffer; readonly offset: number; readonly source: string }> {
    for (let entry = 0; entry < this.#size; entry++) {
      const block = this.#blocks[this.#entryBlocks[entry] as number] as Block;
      const offset = this.#entryPositions[entry] as number;
      yield {
        bytes: block.bytes,
        offset,
        source: this.#sourceNames[block.sources[block.bytes.readUInt16LE(offset + 3)] ?? 0] ?? '',
      };
    }
  }

  get size(): number {
    return this.#size;
  }

  #getSourceNumber(source: string): number {
    const knownNumber = this.#sourceNumbers.get(source);
    if (knownNumber !== undefined) return knownNumber;
    this.#sourceNumbers.set(source, this.#sourceNames.length);
    return this.#sourceNames.push(source) - 1;
  }

  #putEntry(blockNumber: number, block: Block, offset: number): void {
    const { bytes } = block;
    const type = bytes[offset] as number;
    const from = offset + headerBytes;
    const length = bytes.readUInt16LE(offset + 25);
    const hash = computeHash(type, bytes, from, from + length);
    const source = block.sources[bytes.readUInt16LE(offset + 3)];
    const mask = this.#entryBySlot.length - 1;
    let slot = hash & mask;
    for (; this.#entryBySlot[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#hashes[slot] !== hash) continue;
      const entry = (this.#entryBySlot[slot] as number) - 1;
      const otherBlock = this.#blocks[this.#entryBlocks[entry] as number] as Block;
      const otherAt = this.#entryPositions[entry] as number;
      if (otherBlock.sources[otherBlock.bytes.readUInt16LE(otherAt + 3)] !== source) continue;
      if (!isSameIndicator(otherBlock.bytes, otherAt, type, bytes, from, length)) continue;
      if (isNewer(otherBlock.bytes, otherAt, bytes, offset)) return;
      otherBlock.liveEntryCount--;
      block.liveEntryCount++;
      this.#entryBlocks[entry] = blockNumber;
      this.#entryPositions[entry] = offset;
      return;
    }
    this.#insertEntry(slot, hash, blockNumber, offset);
    block.liveEntryCount++;
    this.#entryCountsByType[type] = (this.#entryCountsByType[type] as number) + 1;
    if (type === networkType) this.#addPrefix(bytes.toString('latin1', from, from + length));
  }

  #insertEntry(slot: number, hash: number, blockNumber: number, offset: number): void {
    if (this.#size === this.#entryPositions.length) {
      this.#entryBlocks = doubleSize(this.#entryBlocks);
      this.#entryPositions = doubleSize(this.#entryPositions);
    }
    this.#entryBlocks[this.#size] = blockNumber;
    this.#entryPositions[this.#size] = offset;
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

const noIndicators: IndexedIndicator[] = [];
const networkType = toTypeNumber('network');

/** Returns whether an entry has the given type and value. */
const isSameIndicator = (
  bytes: Buffer,
  offset: number,
  type: number,
  otherBlock: Buffer,
  from: number,
  length: number,
): boolean => {
  if (bytes[offset] !== type || bytes.readUInt16LE(offset + 25) !== length) return false;
  for (let index = 0; index < length; index++)
    if (bytes[offset + headerBytes + index] !== otherBlock[from + index]) return false;
  return true;
};

/**
 * Returns whether the first of two entries of an indicator wins: the one seen later, or the larger one if both were
 * seen at the same time.
 */
const isNewer = (bytes: Buffer, offset: number, otherBlock: Buffer, otherAt: number): boolean => {
  const seenDifference = bytes.readUIntLE(offset + 7, 6) - otherBlock.readUIntLE(otherAt + 7, 6);
  if (seenDifference !== 0) return seenDifference > 0;
  // Flags first, so that a revocation at the same time wins.
  return bytes.compare(otherBlock, otherAt + 1, otherAt + 3, offset + 1, offset + 3) >= 0;
};
