/** OTLP's AnyValue as text with a type character, as in the column `attribute_types`. */
import { createMalformedError, formatInteger, maxDepth, toDouble, type WireCursor } from '../protobuf/cursor.ts';

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
export const valueTags = {
  string: 0x0a,
  boolean: 0x10,
  integer: 0x18,
  double: 0x21,
  array: 0x2a,
  map: 0x32,
  bytes: 0x3a,
} as const;

/**
 * Returns the text of a range of wire bytes. Takes less than half the time of a `TextDecoder` and also replaces
 * invalid UTF-8.
 */
export const decodeText = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.prototype.utf8Slice.call(bytes, start, end);

/** Returns the base64 of a range of wire bytes. */
export const encodeBase64 = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('base64');

/** Moves the reader after the tag of the last alternative, and returns that tag; 0 if there is none. */
export const findLastAlternative = (reader: WireCursor, end: number): number => {
  let alternativeTag = 0;
  let alternativeStart = end;
  while (reader.position < end) {
    const tag = reader.readVarint();
    const start = reader.position;
    reader.skip(tag, end);
    if (!isAlternative(tag)) continue;
    alternativeTag = tag;
    alternativeStart = start;
  }
  reader.expectPosition(end);
  reader.position = alternativeStart;
  return alternativeTag;
};

const isAlternative = (tag: number): boolean =>
  tag === valueTags.string ||
  tag === valueTags.integer ||
  tag === valueTags.double ||
  tag === valueTags.boolean ||
  isCompound(tag);

const isCompound = (tag: number): boolean =>
  tag === valueTags.array || tag === valueTags.map || tag === valueTags.bytes;

/** Returns the type character of the value between the reader's position and `end`. */
export const readTypeCode = (reader: WireCursor, end: number): number => {
  switch (findLastAlternative(reader, end)) {
    case valueTags.string:
      return typeCodes.string;
    case valueTags.integer:
      return typeCodes.integer;
    case valueTags.double:
      return typeCodes.double;
    case valueTags.boolean:
      return typeCodes.boolean;
    case valueTags.bytes:
      return typeCodes.bytes;
    case 0:
      return typeCodes.empty;
    default:
      return typeCodes.json;
  }
};

/** Returns the value between the reader's position and `end` as stored text. */
export const readValueText = (reader: WireCursor, end: number): string => {
  const tag = findLastAlternative(reader, end);
  switch (tag) {
    case 0:
      return '';
    case valueTags.integer:
      reader.readVarint64();
      return reader.high === 0 ? String(reader.low) : formatInteger(reader.low, reader.high);
    case valueTags.double:
      reader.readFixed64();
      return String(toDouble(reader.low, reader.high));
    case valueTags.boolean:
      reader.readVarint64();
      return (reader.low | reader.high) === 0 ? 'false' : 'true';
    default:
      return readRangeText(reader, tag, reader.readEnd(end));
  }
};

const readRangeText = (reader: WireCursor, tag: number, end: number): string => {
  if (tag === valueTags.string) return decodeText(reader.bytes, reader.position, end);
  if (tag === valueTags.bytes) return encodeBase64(reader.bytes, reader.position, end);
  return tag === valueTags.array ? readArrayJson(reader, end, 1) : readMapJson(reader, end, 1);
};

/**
 * JSON of a value inside an array or map. Integers preserve all digits. Values without a JSON number become strings.
 */
const readJson = (reader: WireCursor, end: number, depth: number): string => {
  const tag = findLastAlternative(reader, end);
  const json = readTaggedJson(reader, tag, end, depth);
  reader.position = end;
  return json;
};

const readTaggedJson = (reader: WireCursor, tag: number, end: number, depth: number): string => {
  if (tag === 0) return 'null';
  if (tag === valueTags.integer) {
    reader.readVarint64();
    return formatInteger(reader.low, reader.high);
  }
  if (tag === valueTags.double) {
    reader.readFixed64();
    const value = toDouble(reader.low, reader.high);
    return Number.isFinite(value) ? String(value) : `"${value}"`;
  }
  if (tag === valueTags.boolean) {
    reader.readVarint64();
    return (reader.low | reader.high) === 0 ? 'false' : 'true';
  }
  const stop = reader.readEnd(end);
  if (tag === valueTags.string) return JSON.stringify(decodeText(reader.bytes, reader.position, stop));
  if (tag === valueTags.bytes) return `"${encodeBase64(reader.bytes, reader.position, stop)}"`;
  return tag === valueTags.array ? readArrayJson(reader, stop, depth + 1) : readMapJson(reader, stop, depth + 1);
};

const checkDepth = (reader: WireCursor, depth: number): void => {
  if (depth > maxDepth) throw createMalformedError(`values nest deeper than ${maxDepth}`, reader.position);
};

/** Returns the JSON of an ArrayValue. `depth` is 1 for the outermost array. */
export const readArrayJson = (reader: WireCursor, end: number, depth: number): string => {
  checkDepth(reader, depth);
  const items: string[] = [];
  while (reader.position < end) {
    const tag = reader.readVarint();
    if (tag === 0x0a) items.push(readJson(reader, reader.readEnd(end), depth));
    else reader.skip(tag, end);
  }
  reader.expectPosition(end);
  return `[${items.join(',')}]`;
};

/** Returns the JSON of a KeyValueList. */
export const readMapJson = (reader: WireCursor, end: number, depth: number): string => {
  checkDepth(reader, depth);
  const items: string[] = [];
  while (reader.position < end) {
    const tag = reader.readVarint();
    if (tag === 0x0a) items.push(readEntryJson(reader, reader.readEnd(end), depth));
    else reader.skip(tag, end);
  }
  reader.expectPosition(end);
  return `{${items.join(',')}}`;
};

const readEntryJson = (reader: WireCursor, end: number, depth: number): string => {
  let key = '""';
  let value = 'null';
  while (reader.position < end) {
    const tag = reader.readVarint();
    if (tag === 0x0a) {
      const stop = reader.readEnd(end);
      key = JSON.stringify(decodeText(reader.bytes, reader.position, stop));
      reader.position = stop;
    } else if (tag === 0x12) value = readJson(reader, reader.readEnd(end), depth);
    else reader.skip(tag, end);
  }
  reader.expectPosition(end);
  return `${key}:${value}`;
};

/**
 * Returns the JSON of the KeyValues in the fields with that tag, from the reader's position to `end`, sorted by key.
 * Skips other fields.
 */
export const readAttributesJson = (reader: WireCursor, end: number, fieldTag: number): string => {
  const items: string[] = [];
  while (reader.position < end) {
    const tag = reader.readVarint();
    if (tag === fieldTag) items.push(readEntryJson(reader, reader.readEnd(end), 1));
    else reader.skip(tag, end);
  }
  reader.expectPosition(end);
  return `{${items.sort().join(',')}}`;
};
