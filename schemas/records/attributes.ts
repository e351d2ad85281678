/** Lazy access to attributes in wire format: found by key, and decoded on access. */
import { equalsAt } from '../is-run.ts';
import { tags, textOf, textOfValue, typeCodeOf, typeCodes } from '../otlp/any-value.ts';
import type { WireCursor } from '../protobuf/cursor.ts';

/** Types of values, as characters of `attribute_types` in the tables. */
export type AttributeType = 's' | 'i' | 'd' | 'b' | 'j' | 'y' | 'n';

/** One attribute: its value as stored text, and its received type. */
export interface Attribute {
  readonly key: string;
  readonly text: string;
  readonly type: AttributeType;
}

const maxKeys = 4_096;
const encodedKeys = new Map<string, Uint8Array>();

/** Returns the UTF-8 of a key. Cached, because the same keys are looked up in every record. */
const encodedKey = (key: string): Uint8Array => {
  const known = encodedKeys.get(key);
  if (known !== undefined) return known;
  if (encodedKeys.size >= maxKeys) encodedKeys.clear();
  const encoded = Buffer.from(key, 'utf8');
  encodedKeys.set(key, encoded);
  return encoded;
};

/** Range of the value of the last KeyValue; `start` is -1 without a value */
interface Found {
  start: number;
  end: number;
}
const found: Found = { start: -1, end: -1 };
/** End of the last KeyValue */
let next = 0;
const key: Found = { start: 0, end: 0 };

/**
 * Returns whether the bytes are a KeyValue in the common form: only the key and the value, with lengths of one byte
 * each.
 */
export const isCommonForm = (bytes: Uint8Array, at: number, end: number): boolean => {
  const size = bytes[at + 1] as number;
  const value = at + size + 4;
  return (
    bytes[at] === 0x0a &&
    size < 128 &&
    bytes[value - 2] === 0x12 &&
    (bytes[value - 1] as number) === end - value &&
    end - value < 128
  );
};

/** Reads a KeyValue into `key` and `found`. As in sinks, the last key and the first value count. */
const split = (cursor: WireCursor, end: number): void => {
  const { bytes, at } = cursor;
  if (isCommonForm(bytes, at, end)) {
    key.start = at + 2;
    key.end = key.start + (bytes[at + 1] as number);
    found.start = key.end + 2;
    found.end = end;
    cursor.at = end;
    return;
  }
  key.start = cursor.at;
  key.end = cursor.at;
  found.start = -1;
  found.end = end;
  while (cursor.at < end) {
    const tag = cursor.varint();
    if (tag !== 0x0a && tag !== 0x12) {
      cursor.skip(tag, end);
      continue;
    }
    const stop = cursor.end(end);
    if (tag === 0x0a) {
      key.start = cursor.at;
      key.end = stop;
    } else if (found.start < 0) {
      found.start = cursor.at;
      found.end = stop;
    }
    cursor.at = stop;
  }
};

/**
 * Sets `found` to the value of the first KeyValue with that key, among the fields with that tag between two positions.
 */
const find = (cursor: WireCursor, tag: number, from: number, to: number, name: string): boolean => {
  const encodedName = encodedKey(name);
  const { bytes } = cursor;
  cursor.at = from;
  while (cursor.at < to) {
    const met = cursor.varint();
    if (met !== tag) {
      cursor.skip(met, to);
      continue;
    }
    const end = cursor.end(to);
    const { at } = cursor;
    next = end;
    const size = bytes[at + 1] as number;
    const value = at + size + 4;
    // Then a different key can be skipped at once.
    if (isCommonForm(bytes, at, end)) {
      if (size === encodedName.length && equalsAt(bytes, at + 2, encodedName)) {
        found.start = value;
        found.end = end;
        return true;
      }
    } else {
      split(cursor, end);
      if (key.end - key.start === encodedName.length && equalsAt(bytes, key.start, encodedName)) return true;
    }
    cursor.at = end;
  }
  return false;
};

const foundText = (cursor: WireCursor): string => {
  if (found.start < 0) return '';
  cursor.at = found.start;
  return textOfValue(cursor, found.end);
};

const foundType = (cursor: WireCursor): AttributeType => {
  if (found.start < 0) return 'n';
  cursor.at = found.start;
  return String.fromCharCode(typeCodeOf(cursor, found.end)) as AttributeType;
};

/**
 * Returns the text of the first attribute with that key, in the fields `tag` between two positions; `undefined` without
 * one.
 */
export const attributeText = (
  cursor: WireCursor,
  tag: number,
  from: number,
  to: number,
  name: string,
): string | undefined => (find(cursor, tag, from, to, name) ? foundText(cursor) : undefined);

/** Returns the text of the last attribute with that key. */
export const lastAttributeText = (
  cursor: WireCursor,
  tag: number,
  from: number,
  to: number,
  name: string,
): string | undefined => {
  let text: string | undefined;
  for (let at = from; find(cursor, tag, at, to, name); at = next) text = foundText(cursor);
  return text;
};

/** Returns the type of the first attribute with that key. */
export const attributeType = (
  cursor: WireCursor,
  tag: number,
  from: number,
  to: number,
  name: string,
): AttributeType | undefined => (find(cursor, tag, from, to, name) ? foundType(cursor) : undefined);

/** Cache of a few hundred attribute names, indexed by some of their bytes: senders repeat the same names. */
const names: ({ readonly bytes: Uint8Array; readonly text: string } | undefined)[] = Array.from({ length: 1_024 });
const maxNameBytes = 64;

/** Returns the name between two positions. */
const nameAt = (bytes: Uint8Array, start: number, end: number): string => {
  const length = end - start;
  if (length === 0 || length > maxNameBytes) return textOf(bytes, start, end);
  const middle = bytes[start + (length >> 1)] as number;
  const slot = (length * 37 + (bytes[start] as number) * 7 + middle * 101 + (bytes[end - 1] as number) * 11) & 1_023;
  const known = names[slot];
  if (known !== undefined && known.bytes.length === length && equalsAt(bytes, start, known.bytes)) return known.text;
  const text = textOf(bytes, start, end);
  names[slot] = { bytes: Uint8Array.prototype.slice.call(bytes, start, end), text };
  return text;
};

/** A set of attribute names to search for in one pass. */
export class NameSet {
  readonly #names: ReadonlySet<string>;
  /** Indexed by length and last byte, which exclude nearly all other names. */
  readonly #filter = new Uint8Array(256);

  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
    for (const name of this.#names) {
      const bytes = Buffer.from(name, 'utf8');
      this.#filter[slotOf(bytes.length, bytes.at(-1) ?? 0)] = 1;
    }
  }

  /** Returns the name between two positions; `undefined` if it is not in the set. */
  at(bytes: Uint8Array, start: number, end: number): string | undefined {
    if (this.#filter[slotOf(end - start, end === start ? 0 : (bytes[end - 1] as number))] === 0) return undefined;
    const name = nameAt(bytes, start, end);
    return this.#names.has(name) ? name : undefined;
  }
}

const slotOf = (length: number, last: number): number => (length * 37 + last) & 255;

/**
 * Sets `key`, `found` and `next` to the next attribute with any key, in the fields with that tag between two positions.
 */
const nextAttribute = (cursor: WireCursor, tag: number, from: number, to: number): boolean => {
  cursor.at = from;
  while (cursor.at < to) {
    const met = cursor.varint();
    if (met !== tag) {
      cursor.skip(met, to);
      continue;
    }
    next = cursor.end(to);
    split(cursor, next);
    return true;
  }
  return false;
};

/** Calls `found` with each name of the set that an attribute has, in the fields with that tag between two positions. */
export const attributesAmong = (
  cursor: WireCursor,
  [tag, from, to]: readonly [number, number, number],
  names: NameSet,
  found: (name: string) => void,
): void => {
  const { bytes } = cursor;
  let at = from;
  while (at < to) {
    const start = at + 2;
    const end = start + (bytes[at + 1] as number);
    let name: string | undefined;
    if (bytes[at] === tag && end - start < 128 && isCommonForm(bytes, start, end)) {
      name = names.at(bytes, start + 2, start + 2 + (bytes[start + 1] as number));
      at = end;
    } else {
      if (!nextAttribute(cursor, tag, at, to)) return;
      name = names.at(bytes, key.start, key.end);
      at = next;
    }
    if (name !== undefined) found(name);
  }
};

/** Returns all attributes in wire order. */
export const attributeList = (cursor: WireCursor, tag: number, from: number, to: number): Attribute[] => {
  const list: Attribute[] = [];
  for (let at = from; nextAttribute(cursor, tag, at, to); at = next) {
    const name = nameAt(cursor.bytes, key.start, key.end);
    list.push({ key: name, type: foundType(cursor), text: foundText(cursor) });
  }
  return list;
};

/** Visitor of attributes in wire format. Each method returns whether to continue. */
export interface AttributeVisitor {
  /** Visits a name in UTF-8, which its value follows. */
  name(bytes: Uint8Array, from: number, to: number): boolean;
  /** Visits a text in UTF-8. */
  text(bytes: Uint8Array, from: number, to: number): boolean;
  /** Visits an integer, a number, a boolean or an empty value, from the cursor's position on. */
  scalar(cursor: WireCursor, end: number): boolean;
}

const isScalar = (typeCode: number): boolean =>
  typeCode === typeCodes.integer ||
  typeCode === typeCodes.double ||
  typeCode === typeCodes.boolean ||
  typeCode === typeCodes.empty;

/** Returns the start of the text if an AnyValue contains only a text; otherwise -1. */
export const plainTextAt = (cursor: WireCursor, start: number, end: number): number => {
  if (start >= end || cursor.bytes[start] !== tags.string) return -1;
  cursor.at = start + 1;
  const length = cursor.varint();
  return cursor.at + length === end ? cursor.at : -1;
};

/** Visits a value. A value that is neither a text nor a scalar ends the visit. */
export const visitValue = (
  cursor: WireCursor,
  start: number,
  end: number,
  glance: Omit<AttributeVisitor, 'name'>,
): boolean => {
  if (start < end && cursor.bytes[start] === tags.string) {
    const text = plainTextAt(cursor, start, end);
    return text >= 0 && glance.text(cursor.bytes, text, end);
  }
  cursor.at = start;
  if (!isScalar(typeCodeOf(cursor, end))) return false;
  cursor.at = start;
  return glance.scalar(cursor, end);
};

/** Visits the attribute between the cursor's position and `end`. */
export const visitAttribute = (cursor: WireCursor, end: number, glance: AttributeVisitor): boolean => {
  split(cursor, end);
  const { start } = found;
  if (!glance.name(cursor.bytes, key.start, key.end)) return false;
  return visitValue(cursor, start < 0 ? end : start, found.end, glance);
};
