/** Appends OTLP AnyValues to string columns (`schemas/otlp/any-value.ts`). */
import {
  encodeBase64,
  findLastAlternative,
  readArrayJson,
  readMapJson,
  typeCodes,
  valueTags,
} from '../../schemas/otlp/any-value.ts';
import { formatInteger, toDouble, type WireCursor } from '../../schemas/protobuf/cursor.ts';
import type { StringColumn } from '../native/strings.ts';

/**
 * Appends the value between the reader's position and `end`, and returns its type character. The last of several
 * alternatives in one value counts. Strings are copied without allocation.
 */
export const pushAnyValue = (reader: WireCursor, end: number, column: StringColumn): number => {
  const { bytes, position: start } = reader;
  const tag = start < end ? (bytes[start] as number) : 0;
  // Usually there is one alternative, which extends to the end of the value.
  if (tag === valueTags.string) {
    reader.position = start + 1;
    const valueEnd = reader.readEnd(end);
    if (valueEnd === end) {
      column.push(bytes, reader.position, valueEnd);
      reader.position = valueEnd;
      return typeCodes.string;
    }
    reader.position = start;
  } else if (isOnlyField(bytes, tag, start + 1, end)) {
    reader.position = start + 1;
    return pushTagged(reader, tag, end, column);
  }
  return pushLastAlternative(reader, findLastAlternative(reader, end), end, column);
};

/** Returns whether the number with this tag, which begins at `at`, extends exactly to `end`. */
const isOnlyField = (bytes: Uint8Array, tag: number, start: number, end: number): boolean => {
  if (tag === valueTags.double) return end - start === 8;
  if (tag !== valueTags.integer || end - start > 10) return false;
  let last = start;
  while (last < end && (bytes[last] as number) > 127) last++;
  return last === end - 1;
};

const pushLastAlternative = (reader: WireCursor, tag: number, end: number, column: StringColumn): number => {
  const typeCode = pushTagged(reader, tag, end, column);
  reader.position = end;
  return typeCode;
};

const pushTagged = (reader: WireCursor, tag: number, end: number, column: StringColumn): number => {
  if (tag === valueTags.integer) {
    reader.readVarint64();
    if (reader.high === 0) column.pushNumber(reader.low);
    else column.pushText(formatInteger(reader.low, reader.high));
    return typeCodes.integer;
  }
  if (tag === valueTags.double) {
    reader.readFixed64();
    column.pushNumber(toDouble(reader.low, reader.high));
    return typeCodes.double;
  }
  if (tag === valueTags.boolean) {
    reader.readVarint64();
    column.pushText((reader.low | reader.high) === 0 ? 'false' : 'true');
    return typeCodes.boolean;
  }
  if (tag === 0) {
    column.push(reader.bytes, end, end);
    return typeCodes.empty;
  }
  const valueEnd = reader.readEnd(end);
  if (tag === valueTags.string) {
    column.push(reader.bytes, reader.position, valueEnd);
    return typeCodes.string;
  }
  if (tag === valueTags.bytes) {
    column.pushText(encodeBase64(reader.bytes, reader.position, valueEnd));
    return typeCodes.bytes;
  }
  column.pushText(tag === valueTags.array ? readArrayJson(reader, valueEnd, 1) : readMapJson(reader, valueEnd, 1));
  return typeCodes.json;
};
