import type { MapColumn } from '../native/nested-columns.ts';
import type { DictionaryColumn } from '../native/strings.ts';

/** Maximum number of distinct shapes in a batch, and of slots. */
const maxShapes = 16_384;
const slotCount = 32_768;
const maxProbes = 32;

/**
 * Assigns numbers to the row shapes in a batch. A shape is a row’s attribute keys with their types, and its fields.
 * Similar records are adjacent, so most rows have the shape of the previous row.
 */
export class RowShapes {
  readonly #map: MapColumn;
  readonly #types: DictionaryColumn;
  #slots = new Int32Array(slotCount);
  #keys = new Int32Array(1024);
  #keysLength = 0;
  /** For each shape: start and end of its keys, the index of its types, its fields, its hash */
  #starts = new Int32Array(64);
  #ends = new Int32Array(64);
  #typeCodes = new Int32Array(64);
  #fields = new Int32Array(64);
  #hashes = new Int32Array(64);
  #lastShape = 0;
  #shapeCount = 0;
  wasLimited = false;

  constructor(map: MapColumn, types: DictionaryColumn) {
    this.#map = map;
    this.#types = types;
  }

  /**
   * Returns the shape of a row with these fields. If there are too many shapes, returns the shape of a row without
   * attributes, and sets `wasLimited`.
   */
  findShape(row: number, fields: number): number {
    this.wasLimited = false;
    const start = this.#map.endAt(row - 1);
    const end = this.#map.endAt(row);
    const typeCodes = this.#types.getIndex(row);
    if (this.#shapeCount > 0 && this.#equals(this.#lastShape, start, end, typeCodes, fields)) return this.#lastShape;
    let shape = this.#find(start, end, typeCodes, fields);
    if (shape < 0) {
      this.wasLimited = true;
      shape = this.#find(0, 0, 0, fields);
    }
    this.#lastShape = shape;
    return shape;
  }

  /** Calls a function with each key of a shape and its type character, or that of the first attribute with the key. */
  forEach(shape: number, visit: (key: number, typeCode: number) => void): void {
    const start = this.#starts[shape] as number;
    const end = this.#ends[shape] as number;
    const visitedKeys = new Set<number>();
    for (let index = start; index < end; index++) {
      const key = this.#keys[index] as number;
      if (visitedKeys.has(key)) continue;
      visitedKeys.add(key);
      visit(key, this.#types.getByte(this.#typeCodes[shape] as number, index - start));
    }
  }

  getFields(shape: number): number {
    return this.#fields[shape] as number;
  }

  clear(): void {
    if (this.#shapeCount > 0) this.#slots.fill(0);
    this.#shapeCount = 0;
    this.#keysLength = 0;
    this.#lastShape = 0;
  }

  #equals(shape: number, start: number, end: number, typeCodes: number, fields: number): boolean {
    const firstKeyIndex = this.#starts[shape] as number;
    if ((this.#ends[shape] as number) - firstKeyIndex !== end - start) return false;
    if (this.#typeCodes[shape] !== typeCodes || this.#fields[shape] !== fields) return false;
    const { keys } = this.#map;
    for (let entryIndex = start, keyIndex = firstKeyIndex; entryIndex < end; entryIndex++, keyIndex++)
      if (this.#keys[keyIndex] !== keys.getIndex(entryIndex)) return false;
    return true;
  }

  #find(start: number, end: number, typeCodes: number, fields: number): number {
    const { keys } = this.#map;
    let hash = Math.imul(typeCodes, 0x9e3779b1) ^ fields;
    for (let entryIndex = start; entryIndex < end; entryIndex++)
      hash = Math.imul(hash ^ keys.getIndex(entryIndex), 0x5bd1e995) ^ (hash >>> 15);
    hash ^= hash >>> 13;
    let slot = hash & (slotCount - 1);
    for (let probe = 0; probe < maxProbes; probe++, slot = (slot + 1) & (slotCount - 1)) {
      const shape = (this.#slots[slot] as number) - 1;
      if (shape < 0) return this.#add(start, end, { typeCodes, fields, hash, slot });
      if (this.#hashes[shape] === hash && this.#equals(shape, start, end, typeCodes, fields)) return shape;
    }
    return end > start ? -1 : 0;
  }

  #add(
    start: number,
    end: number,
    { typeCodes, fields, hash, slot }: { typeCodes: number; fields: number; hash: number; slot: number },
  ): number {
    // Rows without attributes may have any fields, since there are few combinations.
    if (this.#shapeCount >= maxShapes && end > start) return -1;
    const shape = this.#shapeCount++;
    if (shape === this.#starts.length) this.#grow();
    const requiredLength = this.#keysLength + end - start;
    if (requiredLength > this.#keys.length)
      this.#keys = enlarge(this.#keys, Math.max(requiredLength, this.#keys.length * 2));
    this.#starts[shape] = this.#keysLength;
    for (let entryIndex = start; entryIndex < end; entryIndex++)
      this.#keys[this.#keysLength++] = this.#map.keys.getIndex(entryIndex);
    this.#ends[shape] = this.#keysLength;
    this.#typeCodes[shape] = typeCodes;
    this.#fields[shape] = fields;
    this.#hashes[shape] = hash;
    this.#slots[slot] = shape + 1;
    return shape;
  }

  #grow(): void {
    const size = this.#starts.length * 2;
    this.#starts = enlarge(this.#starts, size);
    this.#ends = enlarge(this.#ends, size);
    this.#typeCodes = enlarge(this.#typeCodes, size);
    this.#fields = enlarge(this.#fields, size);
    this.#hashes = enlarge(this.#hashes, size);
  }
}

const enlarge = (array: Int32Array<ArrayBuffer>, size: number): Int32Array<ArrayBuffer> => {
  const enlarged = new Int32Array(size);
  enlarged.set(array);
  return enlarged;
};
