/**
 * Index of an organization's indicators by value: a hash table in typed arrays over the blocks, so that a million
 * indicators take about 75 MB. Matches are compared in full.
 */
import { randomInt } from 'node:crypto';
import type { IndicatorBlock, IndicatorType } from '../../schemas/resources/threat-intel.ts';
import { entriesIn, headBytes, isHash, numberOf, readEntry } from './block.ts';
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
const seed = randomInt(2 ** 31);
const maxValueBytes = 4096;
const searchBuffer = Buffer.alloc(maxValueBytes);

/** FNV-1a with the finalizer of MurmurHash3. */
const hashOf = (type: number, bytes: Buffer, from: number, to: number): number => {
  let hash = seed ^ type;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] as number), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
};

const nibble = (code: number): number => (code >= 97 ? code - 87 : code - 48);

/** Writes a value to `searchBuffer` in the form of entries; returns its length, or -1 for an impossible value. */
const write = (type: IndicatorType, value: string): number => {
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

const grown = (array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> => {
  const larger = new Uint32Array(2 * array.length);
  larger.set(array);
  return larger;
};

export class IndicatorIndex {
  /** Blocks by ascending number; removed ones are absent */
  readonly #blocks: (Block | undefined)[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #sources: string[] = [];
  readonly #sourceNumbers = new Map<string, number>();
  /** For each entry, its block and the position in it */
  #block = new Uint32Array(64);
  #at = new Uint32Array(64);
  #size = 0;
  /** For each slot, the hash, and the entry's number plus one */
  #hashes = new Int32Array(128);
  #slots = new Uint32Array(128);
  /** Number of entries by type */
  readonly #ofType = new Uint32Array(16);
  /** Lengths of network prefixes of IPv4 and IPv6 */
  readonly prefixes = { ipv4: new Set<number>(), ipv6: new Set<number>() };

  /** Ids of the indexed blocks */
  get blocks(): Iterable<string> {
    return this.#numbers.keys();
  }

  has(id: string): boolean {
    return this.#numbers.has(id);
  }

  /** Returns whether indicators of a type exist. */
  hasType(type: IndicatorType): boolean {
    return this.#ofType[numberOf(type)] !== 0;
  }

  add(id: string, { sources, entries }: Pick<IndicatorBlock, 'sources' | 'entries'>): void {
    if (this.#numbers.has(id)) return;
    const number = this.#blocks.length;
    const block: Block = {
      bytes: Buffer.from(entries, 'base64'),
      sources: sources.map((source) => this.#sourceNumber(source)),
      live: 0,
    };
    this.#numbers.set(id, number);
    this.#blocks.push(block);
    for (const at of entriesIn(block.bytes)) this.#put(number, block, at);
  }

  /**
   * Removes a block. Returns false if that would remove the only entry of an indicator; the caller must then rebuild
   * the index.
   */
  remove(id: string): boolean {
    const number = this.#numbers.get(id);
    if (number === undefined) return true;
    if ((this.#blocks[number]?.live ?? 0) > 0) return false;
    this.#numbers.delete(id);
    this.#blocks[number] = undefined;
    return true;
  }

  /** Returns the entries of all sources for a value in the form of its type, including revoked ones. */
  find(type: IndicatorType, value: string): FoundIndicator[] {
    const length = this.hasType(type) ? write(type, value) : -1;
    if (length < 0) return none;
    const typeNumber = numberOf(type);
    const hash = hashOf(typeNumber, searchBuffer, 0, length);
    const mask = this.#slots.length - 1;
    let found: FoundIndicator[] | undefined;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot] as number;
      if (entry === 0) return found ?? none;
      if (this.#hashes[slot] !== hash) continue;
      const block = this.#blocks[this.#block[entry - 1] as number] as Block;
      const at = this.#at[entry - 1] as number;
      if (!isSame(block.bytes, at, typeNumber, searchBuffer, 0, length)) continue;
      found ??= [];
      const source = this.#sources[block.sources[block.bytes.readUInt16LE(at + 3)] ?? 0] ?? '';
      found.push({ ...readEntry(block.bytes, at), value, source });
    }
  }

  /**
   * Yields the latest entry of each indicator with its source: block bytes and position, in the form that `blockOf`
   * parses.
   */
  *latest(): Generator<{ readonly bytes: Buffer; readonly at: number; readonly source: string }> {
    for (let entry = 0; entry < this.#size; entry++) {
      const block = this.#blocks[this.#block[entry] as number] as Block;
      const at = this.#at[entry] as number;
      yield {
        bytes: block.bytes,
        at,
        source: this.#sources[block.sources[block.bytes.readUInt16LE(at + 3)] ?? 0] ?? '',
      };
    }
  }

  get size(): number {
    return this.#size;
  }

  #sourceNumber(source: string): number {
    const known = this.#sourceNumbers.get(source);
    if (known !== undefined) return known;
    this.#sourceNumbers.set(source, this.#sources.length);
    return this.#sources.push(source) - 1;
  }

  #put(number: number, block: Block, at: number): void {
    const { bytes } = block;
    const type = bytes[at] as number;
    const from = at + headBytes;
    const length = bytes.readUInt16LE(at + 25);
    const hash = hashOf(type, bytes, from, from + length);
    const source = block.sources[bytes.readUInt16LE(at + 3)];
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#hashes[slot] !== hash) continue;
      const entry = (this.#slots[slot] as number) - 1;
      const other = this.#blocks[this.#block[entry] as number] as Block;
      const otherAt = this.#at[entry] as number;
      if (other.sources[other.bytes.readUInt16LE(otherAt + 3)] !== source) continue;
      if (!isSame(other.bytes, otherAt, type, bytes, from, length)) continue;
      if (isLater(other.bytes, otherAt, bytes, at)) return;
      other.live--;
      block.live++;
      this.#block[entry] = number;
      this.#at[entry] = at;
      return;
    }
    this.#insert(slot, hash, number, at);
    block.live++;
    this.#ofType[type] = (this.#ofType[type] as number) + 1;
    if (type === network) this.#prefix(bytes.toString('latin1', from, from + length));
  }

  #insert(slot: number, hash: number, number: number, at: number): void {
    if (this.#size === this.#at.length) {
      this.#block = grown(this.#block);
      this.#at = grown(this.#at);
    }
    this.#block[this.#size] = number;
    this.#at[this.#size] = at;
    this.#hashes[slot] = hash;
    this.#slots[slot] = ++this.#size;
    if (this.#size * 5 > this.#slots.length * 3) this.#widen();
  }

  #widen(): void {
    const { length } = this.#slots;
    const hashes = new Int32Array(2 * length);
    const slots = new Uint32Array(2 * length);
    const mask = 2 * length - 1;
    for (let from = 0; from < length; from++) {
      if (this.#slots[from] === 0) continue;
      let slot = (this.#hashes[from] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      hashes[slot] = this.#hashes[from] as number;
      slots[slot] = this.#slots[from] as number;
    }
    this.#hashes = hashes;
    this.#slots = slots;
  }

  #prefix(value: string): void {
    const length = Number(value.slice(value.lastIndexOf('/') + 1));
    this.prefixes[value.includes(':') ? 'ipv6' : 'ipv4'].add(length);
  }
}

const none: FoundIndicator[] = [];
const network = numberOf('network');

/** Returns whether an entry has the given type and value. */
const isSame = (bytes: Buffer, at: number, type: number, other: Buffer, from: number, length: number): boolean => {
  if (bytes[at] !== type || bytes.readUInt16LE(at + 25) !== length) return false;
  for (let index = 0; index < length; index++) if (bytes[at + headBytes + index] !== other[from + index]) return false;
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
