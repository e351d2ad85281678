/** OTLP's AnyValue as text beside a letter for its type. The letters are those of `attribute_types`. */
import type { StringColumn } from '../native/strings.ts';
import { doubleOf, integerText, malformed, maxDepth, type WireReader } from './wire.ts';

/** Character codes of the type letters. */
export const letters = {
  string: 0x73,
  integer: 0x69,
  double: 0x64,
  boolean: 0x62,
  json: 0x6a,
  bytes: 0x79,
  empty: 0x6e,
} as const;

/** Tags of AnyValue's alternatives. */
const tags = { string: 0x0a, boolean: 0x10, integer: 0x18, double: 0x21, array: 0x2a, map: 0x32, bytes: 0x3a } as const;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Text of a run of wire bytes. */
export const textOf = (bytes: Uint8Array, start: number, end: number): string =>
  decoder.decode(bytes.subarray(start, end));

const base64Of = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('base64');

/**
 * Appends the value that lies from the reader's position to `end` and answers its letter. Of several alternatives in
 * one value the last counts. Strings are copied; nothing is made of them.
 */
export const pushAnyValue = (reader: WireReader, end: number, column: StringColumn): number => {
  const { bytes, at } = reader;
  const tag = at < end ? (bytes[at] as number) : 0;
  // Mostly there is one alternative, which ends where the value does.
  if (tag === tags.string) {
    reader.at = at + 1;
    const stop = reader.end(end);
    if (stop === end) {
      column.push(bytes, reader.at, stop);
      reader.at = stop;
      return letters.string;
    }
    reader.at = at;
  } else if (isAlone(bytes, tag, at + 1, end)) {
    reader.at = at + 1;
    return pushTagged(reader, tag, end, column);
  }
  return pushOther(reader, lastAlternative(reader, end), end, column);
};

/** Whether a number of that tag, which begins at `at`, is all there is up to `end`. */
const isAlone = (bytes: Uint8Array, tag: number, at: number, end: number): boolean => {
  if (tag === tags.double) return end - at === 8;
  if (tag !== tags.integer || end - at > 10) return false;
  let last = at;
  while (last < end && (bytes[last] as number) > 127) last++;
  return last === end - 1;
};

/** Leaves the reader behind the tag of the last alternative, which it answers; 0 when there is none. */
const lastAlternative = (reader: WireReader, end: number): number => {
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

const pushOther = (reader: WireReader, tag: number, end: number, column: StringColumn): number => {
  const letter = pushTagged(reader, tag, end, column);
  reader.at = end;
  return letter;
};

const pushTagged = (reader: WireReader, tag: number, end: number, column: StringColumn): number => {
  if (tag === tags.integer) {
    reader.varint64();
    if (reader.high === 0) column.pushNumber(reader.low);
    else column.pushText(integerText(reader.low, reader.high));
    return letters.integer;
  }
  if (tag === tags.double) {
    reader.fixed64();
    column.pushNumber(doubleOf(reader.low, reader.high));
    return letters.double;
  }
  if (tag === tags.boolean) {
    reader.varint64();
    column.pushText((reader.low | reader.high) === 0 ? 'false' : 'true');
    return letters.boolean;
  }
  if (tag === 0) {
    column.push(reader.bytes, end, end);
    return letters.empty;
  }
  const stop = reader.end(end);
  if (tag === tags.string) {
    column.push(reader.bytes, reader.at, stop);
    return letters.string;
  }
  if (tag === tags.bytes) {
    column.pushText(base64Of(reader.bytes, reader.at, stop));
    return letters.bytes;
  }
  column.pushText(tag === tags.array ? jsonOfArray(reader, stop, 1) : jsonOfMap(reader, stop, 1));
  return letters.json;
};

/** JSON of a value inside an array or map. Integers keep every digit; what JSON has no number for is a string. */
const jsonOf = (reader: WireReader, end: number, depth: number): string => {
  const tag = lastAlternative(reader, end);
  const json = jsonTagged(reader, tag, end, depth);
  reader.at = end;
  return json;
};

const jsonTagged = (reader: WireReader, tag: number, end: number, depth: number): string => {
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

const checkDepth = (reader: WireReader, depth: number): void => {
  if (depth > maxDepth) throw malformed(`values nest deeper than ${maxDepth}`, reader.at);
};

const jsonOfArray = (reader: WireReader, end: number, depth: number): string => {
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

const jsonOfMap = (reader: WireReader, end: number, depth: number): string => {
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

const jsonOfEntry = (reader: WireReader, end: number, depth: number): string => {
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

/** JSON of the KeyValues in the fields of that tag, from the reader's position to `end`, sorted by key. Other fields are stepped over. */
export const jsonOfAttributes = (reader: WireReader, end: number, field: number): string => {
  const items: string[] = [];
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === field) items.push(jsonOfEntry(reader, reader.end(end), 1));
    else reader.skip(tag, end);
  }
  reader.expect(end);
  return `{${items.sort().join(',')}}`;
};
