/** Lazy access to attributes in wire format: found by key, and decoded on access. */
import { equalsAt } from '../equal-bytes.ts';
import { decodeText, readTypeCode, readValueText, typeCodes, valueTags } from '../otlp/any-value.ts';
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
const encodeKey = (key: string): Uint8Array => {
  const cachedKey = encodedKeys.get(key);
  if (cachedKey !== undefined) return cachedKey;
  if (encodedKeys.size >= maxKeys) encodedKeys.clear();
  const encoded = Buffer.from(key, 'utf8');
  encodedKeys.set(key, encoded);
  return encoded;
};

/** Range of the value of the last KeyValue; `start` is -1 without a value */
interface ByteRange {
  start: number;
  end: number;
}
const valueRange: ByteRange = { start: -1, end: -1 };
/** End of the last KeyValue */
let nextPosition = 0;
const keyRange: ByteRange = { start: 0, end: 0 };

/**
 * Returns whether the bytes are a KeyValue in the common form: only the key and the value, with lengths of one byte
 * each.
 */
export const isCommonForm = (bytes: Uint8Array, start: number, end: number): boolean => {
  const size = bytes[start + 1] as number;
  const value = start + size + 4;
  return (
    bytes[start] === 0x0a &&
    size < 128 &&
    bytes[value - 2] === 0x12 &&
    (bytes[value - 1] as number) === end - value &&
    end - value < 128
  );
};

/** Reads a KeyValue into `keyRange` and `valueRange`. As in sinks, the last key and the first value count. */
const readKeyValue = (cursor: WireCursor, end: number): void => {
  const { bytes, position } = cursor;
  if (isCommonForm(bytes, position, end)) {
    keyRange.start = position + 2;
    keyRange.end = keyRange.start + (bytes[position + 1] as number);
    valueRange.start = keyRange.end + 2;
    valueRange.end = end;
    cursor.position = end;
    return;
  }
  keyRange.start = cursor.position;
  keyRange.end = cursor.position;
  valueRange.start = -1;
  valueRange.end = end;
  while (cursor.position < end) {
    const tag = cursor.readVarint();
    if (tag !== 0x0a && tag !== 0x12) {
      cursor.skip(tag, end);
      continue;
    }
    const stop = cursor.readEnd(end);
    if (tag === 0x0a) {
      keyRange.start = cursor.position;
      keyRange.end = stop;
    } else if (valueRange.start < 0) {
      valueRange.start = cursor.position;
      valueRange.end = stop;
    }
    cursor.position = stop;
  }
};

/**
 * Sets `valueRange` to the value of the first KeyValue with that key, among the fields with that tag between two positions.
 */
const findAttribute = (cursor: WireCursor, tag: number, from: number, to: number, name: string): boolean => {
  const encodedName = encodeKey(name);
  const { bytes } = cursor;
  cursor.position = from;
  while (cursor.position < to) {
    const currentTag = cursor.readVarint();
    if (currentTag !== tag) {
      cursor.skip(currentTag, to);
      continue;
    }
    const end = cursor.readEnd(to);
    const { position } = cursor;
    nextPosition = end;
    const size = bytes[position + 1] as number;
    const value = position + size + 4;
    // In this form, a different key can be skipped immediately.
    if (isCommonForm(bytes, position, end)) {
      if (size === encodedName.length && equalsAt(bytes, position + 2, encodedName)) {
        valueRange.start = value;
        valueRange.end = end;
        return true;
      }
    } else {
      readKeyValue(cursor, end);
      if (keyRange.end - keyRange.start === encodedName.length && equalsAt(bytes, keyRange.start, encodedName))
        return true;
    }
    cursor.position = end;
  }
  return false;
};

const readFoundText = (cursor: WireCursor): string => {
  if (valueRange.start < 0) return '';
  cursor.position = valueRange.start;
  return readValueText(cursor, valueRange.end);
};

const readFoundType = (cursor: WireCursor): AttributeType => {
  if (valueRange.start < 0) return 'n';
  cursor.position = valueRange.start;
  return String.fromCharCode(readTypeCode(cursor, valueRange.end)) as AttributeType;
};

/**
 * Returns the text of the first attribute with that key, in the fields `tag` between two positions; `undefined` without
 * one.
 */
export const findFirstAttributeText = (
  cursor: WireCursor,
  tag: number,
  from: number,
  to: number,
  name: string,
): string | undefined => (findAttribute(cursor, tag, from, to, name) ? readFoundText(cursor) : undefined);

/** Returns the text of the last attribute with that key. */
export const findLastAttributeText = (
  cursor: WireCursor,
  tag: number,
  from: number,
  to: number,
  name: string,
): string | undefined => {
  let text: string | undefined;
  for (let at = from; findAttribute(cursor, tag, at, to, name); at = nextPosition) text = readFoundText(cursor);
  return text;
};

/** Returns the type of the first attribute with that key. */
export const findAttributeType = (
  cursor: WireCursor,
  tag: number,
  from: number,
  to: number,
  name: string,
): AttributeType | undefined => (findAttribute(cursor, tag, from, to, name) ? readFoundType(cursor) : undefined);

/** Cache of a few hundred attribute names, indexed by some of their bytes: senders repeat the same names. */
const nameCache: ({ readonly bytes: Uint8Array; readonly text: string } | undefined)[] = Array.from({ length: 1_024 });
const maxNameBytes = 64;

/** Returns the name between two positions. */
const readName = (bytes: Uint8Array, start: number, end: number): string => {
  const length = end - start;
  if (length === 0 || length > maxNameBytes) return decodeText(bytes, start, end);
  const middle = bytes[start + (length >> 1)] as number;
  const slot = (length * 37 + (bytes[start] as number) * 7 + middle * 101 + (bytes[end - 1] as number) * 11) & 1_023;
  const cachedName = nameCache[slot];
  if (cachedName !== undefined && cachedName.bytes.length === length && equalsAt(bytes, start, cachedName.bytes))
    return cachedName.text;
  const text = decodeText(bytes, start, end);
  nameCache[slot] = { bytes: Uint8Array.prototype.slice.call(bytes, start, end), text };
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
      this.#filter[computeSlot(bytes.length, bytes.at(-1) ?? 0)] = 1;
    }
  }

  /** Returns the name between two positions; `undefined` if it is not in the set. */
  findName(bytes: Uint8Array, start: number, end: number): string | undefined {
    if (this.#filter[computeSlot(end - start, end === start ? 0 : (bytes[end - 1] as number))] === 0) return undefined;
    const name = readName(bytes, start, end);
    return this.#names.has(name) ? name : undefined;
  }
}

const computeSlot = (length: number, last: number): number => (length * 37 + last) & 255;

/**
 * Sets `keyRange`, `valueRange` and `nextPosition` to the next attribute with any key, in the fields with that tag between two positions.
 */
const readNextAttribute = (cursor: WireCursor, tag: number, from: number, to: number): boolean => {
  cursor.position = from;
  while (cursor.position < to) {
    const currentTag = cursor.readVarint();
    if (currentTag !== tag) {
      cursor.skip(currentTag, to);
      continue;
    }
    nextPosition = cursor.readEnd(to);
    readKeyValue(cursor, nextPosition);
    return true;
  }
  return false;
};

/** Calls `onName` with each name of the set that an attribute has, in the fields with that tag between two positions. */
export const visitMatchingNames = (
  cursor: WireCursor,
  [tag, from, to]: readonly [number, number, number],
  names: NameSet,
  onName: (name: string) => void,
): void => {
  const { bytes } = cursor;
  let position = from;
  while (position < to) {
    const start = position + 2;
    const end = start + (bytes[position + 1] as number);
    let name: string | undefined;
    if (bytes[position] === tag && end - start < 128 && isCommonForm(bytes, start, end)) {
      name = names.findName(bytes, start + 2, start + 2 + (bytes[start + 1] as number));
      position = end;
    } else {
      if (!readNextAttribute(cursor, tag, position, to)) return;
      name = names.findName(bytes, keyRange.start, keyRange.end);
      position = nextPosition;
    }
    if (name !== undefined) onName(name);
  }
};

/** Returns all attributes in wire order. */
export const readAttributes = (cursor: WireCursor, tag: number, from: number, to: number): Attribute[] => {
  const list: Attribute[] = [];
  for (let at = from; readNextAttribute(cursor, tag, at, to); at = nextPosition) {
    const name = readName(cursor.bytes, keyRange.start, keyRange.end);
    list.push({ key: name, type: readFoundType(cursor), text: readFoundText(cursor) });
  }
  return list;
};

/** Returns the attributes in wire order that are arrays or maps. */
export const readCompoundAttributes = (cursor: WireCursor, tag: number, from: number, to: number): Attribute[] => {
  const { bytes } = cursor;
  const list: Attribute[] = [];
  for (let position = from; position < to; ) {
    const start = position + 2;
    const end = start + (bytes[position + 1] as number);
    const valueStart = start + (bytes[start + 1] as number) + 4;
    // Most attributes have the common form and a text.
    if (
      bytes[position] === tag &&
      end - start < 128 &&
      isCommonForm(bytes, start, end) &&
      bytes[valueStart] === valueTags.string &&
      (bytes[valueStart + 1] as number) === end - valueStart - 2
    ) {
      position = end;
      continue;
    }
    if (!readNextAttribute(cursor, tag, position, to)) break;
    position = nextPosition;
    if (readFoundType(cursor) !== 'j') continue;
    const key = readName(bytes, keyRange.start, keyRange.end);
    list.push({ key, type: 'j', text: readFoundText(cursor) });
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
export const findPlainTextStart = (cursor: WireCursor, start: number, end: number): number => {
  if (start >= end || cursor.bytes[start] !== valueTags.string) return -1;
  cursor.position = start + 1;
  const length = cursor.readVarint();
  return cursor.position + length === end ? cursor.position : -1;
};

/** Visits a value. A value that is neither a text nor a scalar ends the visit. */
export const visitValue = (
  cursor: WireCursor,
  start: number,
  end: number,
  visitor: Omit<AttributeVisitor, 'name'>,
): boolean => {
  if (start < end && cursor.bytes[start] === valueTags.string) {
    const textStart = findPlainTextStart(cursor, start, end);
    return textStart >= 0 && visitor.text(cursor.bytes, textStart, end);
  }
  cursor.position = start;
  if (!isScalar(readTypeCode(cursor, end))) return false;
  cursor.position = start;
  return visitor.scalar(cursor, end);
};

/** Visits the attribute between the cursor's position and `end`. */
export const visitAttribute = (cursor: WireCursor, end: number, visitor: AttributeVisitor): boolean => {
  readKeyValue(cursor, end);
  const { start } = valueRange;
  if (!visitor.name(cursor.bytes, keyRange.start, keyRange.end)) return false;
  return visitValue(cursor, start < 0 ? end : start, valueRange.end, visitor);
};
