/** OTLP's AnyValue as text with a type character, as in the column `attribute_types`. */
import { doubleOf, integerText, malformed, maxDepth, type WireCursor } from '../protobuf/cursor.ts';

/** Character codes of the type characters. */
export const typeCodes = {
  string: 0x73,
  integer: 0x69,
  double: 0x64,
  boolean: 0x62,
  json: 0x6a,
  bytes: 0x79,
  empty: 0x6e,
} as const;

/** Tags of AnyValue's alternatives. */
export const tags = {
  string: 0x0a,
  boolean: 0x10,
  integer: 0x18,
  double: 0x21,
  array: 0x2a,
  map: 0x32,
  bytes: 0x3a,
} as const;

/**
 * Returns the text of a range of wire bytes. Costs less than half of a `TextDecoder` and, like that, replaces invalid
 * UTF-8.
 */
export const textOf = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.prototype.utf8Slice.call(bytes, start, end);

/** Returns the base64 of a range of wire bytes. */
export const base64Of = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('base64');

/** Moves the reader after the tag of the last alternative, and returns that tag; 0 if there is none. */
export const lastAlternative = (reader: WireCursor, end: number): number => {
  let found = 0;
  let at = end;
  while (reader.at < end) {
    const tag = reader.varint();
    const start = reader.at;
    reader.skip(tag, end);
    if (!isAlternative(tag)) continue;
    found = tag;
    at = start;
  }
  reader.expect(end);
  reader.at = at;
  return found;
};

const isAlternative = (tag: number): boolean =>
  tag === tags.string || tag === tags.integer || tag === tags.double || tag === tags.boolean || isCompound(tag);

const isCompound = (tag: number): boolean => tag === tags.array || tag === tags.map || tag === tags.bytes;

/** Returns the type character of the value between the reader's position and `end`. */
export const typeCodeOf = (reader: WireCursor, end: number): number => {
  switch (lastAlternative(reader, end)) {
    case tags.string:
      return typeCodes.string;
    case tags.integer:
      return typeCodes.integer;
    case tags.double:
      return typeCodes.double;
    case tags.boolean:
      return typeCodes.boolean;
    case tags.bytes:
      return typeCodes.bytes;
    case 0:
      return typeCodes.empty;
    default:
      return typeCodes.json;
  }
};

/** Returns the value between the reader's position and `end` as stored text. */
export const textOfValue = (reader: WireCursor, end: number): string => {
  const tag = lastAlternative(reader, end);
  switch (tag) {
    case 0:
      return '';
    case tags.integer:
      reader.varint64();
      return reader.high === 0 ? String(reader.low) : integerText(reader.low, reader.high);
    case tags.double:
      reader.fixed64();
      return String(doubleOf(reader.low, reader.high));
    case tags.boolean:
      reader.varint64();
      return (reader.low | reader.high) === 0 ? 'false' : 'true';
    default:
      return textOfRun(reader, tag, reader.end(end));
  }
};

const textOfRun = (reader: WireCursor, tag: number, end: number): string => {
  if (tag === tags.string) return textOf(reader.bytes, reader.at, end);
  if (tag === tags.bytes) return base64Of(reader.bytes, reader.at, end);
  return tag === tags.array ? jsonOfArray(reader, end, 1) : jsonOfMap(reader, end, 1);
};

/**
 * JSON of a value inside an array or map. Integers preserve all digits. Values without a JSON number become strings.
 */
const jsonOf = (reader: WireCursor, end: number, depth: number): string => {
  const tag = lastAlternative(reader, end);
  const json = jsonTagged(reader, tag, end, depth);
  reader.at = end;
  return json;
};

const jsonTagged = (reader: WireCursor, tag: number, end: number, depth: number): string => {
  if (tag === 0) return 'null';
  if (tag === tags.integer) {
    reader.varint64();
    return integerText(reader.low, reader.high);
  }
  if (tag === tags.double) {
    reader.fixed64();
    const value = doubleOf(reader.low, reader.high);
    return Number.isFinite(value) ? String(value) : `"${value}"`;
  }
  if (tag === tags.boolean) {
    reader.varint64();
    return (reader.low | reader.high) === 0 ? 'false' : 'true';
  }
  const stop = reader.end(end);
  if (tag === tags.string) return JSON.stringify(textOf(reader.bytes, reader.at, stop));
  if (tag === tags.bytes) return `"${base64Of(reader.bytes, reader.at, stop)}"`;
  return tag === tags.array ? jsonOfArray(reader, stop, depth + 1) : jsonOfMap(reader, stop, depth + 1);
};

const checkDepth = (reader: WireCursor, depth: number): void => {
  if (depth > maxDepth) throw malformed(`values nest deeper than ${maxDepth}`, reader.at);
};

/** Returns the JSON of an ArrayValue. `depth` is 1 for the outermost array. */
export const jsonOfArray = (reader: WireCursor, end: number, depth: number): string => {
  checkDepth(reader, depth);
  const items: string[] = [];
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === 0x0a) items.push(jsonOf(reader, reader.end(end), depth));
    else reader.skip(tag, end);
  }
  reader.expect(end);
  return `[${items.join(',')}]`;
};

/** Returns the JSON of a KeyValueList. */
export const jsonOfMap = (reader: WireCursor, end: number, depth: number): string => {
  checkDepth(reader, depth);
  const items: string[] = [];
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === 0x0a) items.push(jsonOfEntry(reader, reader.end(end), depth));
    else reader.skip(tag, end);
  }
  reader.expect(end);
  return `{${items.join(',')}}`;
};

const jsonOfEntry = (reader: WireCursor, end: number, depth: number): string => {
  let key = '""';
  let value = 'null';
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === 0x0a) {
      const stop = reader.end(end);
      key = JSON.stringify(textOf(reader.bytes, reader.at, stop));
      reader.at = stop;
    } else if (tag === 0x12) value = jsonOf(reader, reader.end(end), depth);
    else reader.skip(tag, end);
  }
  reader.expect(end);
  return `${key}:${value}`;
};

/**
 * Returns the JSON of the KeyValues in the fields with that tag, from the reader's position to `end`, sorted by key.
 * Skips other fields.
 */
export const jsonOfAttributes = (reader: WireCursor, end: number, field: number): string => {
  const items: string[] = [];
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === field) items.push(jsonOfEntry(reader, reader.end(end), 1));
    else reader.skip(tag, end);
  }
  reader.expect(end);
  return `{${items.sort().join(',')}}`;
};
