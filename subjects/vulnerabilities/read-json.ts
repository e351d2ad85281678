/** Reads the JSON of a report in one pass over its bytes, without the parts that no format uses. */
import { PermanentError } from '../../schemas/errors.ts';
import type { JsonReader } from '../../schemas/otlp/json-reader.ts';
import { readJsonText } from '../../schemas/otlp/json-text.ts';
import { truncateText } from '../../schemas/text.ts';
import { maxTextLength } from './report.ts';

/** Maximum nesting: readers of formats recurse into components. */
const maxDepth = 100;
const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const openBracket = 0x5b;

/** Members that no format reads, and that are most of the bytes of reports. `__proto__` would change an object. */
const skippedMembers = new Set([
  '__proto__',
  ...['Description', 'References', 'CweIDs', 'VendorSeverity', 'Layer', 'Locations', 'DependsOn', 'ImageConfig'],
  ...['cpes', 'licenses', 'hashes', 'evidence', 'dependencies', 'urls', 'matchDetails', 'advisories'],
  ...['help', 'fullDescription', 'files', 'annotations', 'checksums', 'cweIds', 'Secrets', 'Misconfigurations'],
]);

/** Returns the end of a prefix with at most `maxTextLength` characters or more, which splits no escape. */
const findPrefixEnd = ({ text, start, end }: JsonReader): number => {
  let position = start;
  for (let count = 0; position < end && count < 4 * maxTextLength; count++)
    position += text[position] !== backslash ? 1 : text[position + 1] === 0x75 ? 6 : 2;
  return Math.min(position, end);
};

/** Returns the last string that was read, shortened. */
const toText = (reader: JsonReader): string => {
  const { text, start, end, hasEscapes } = reader;
  if (end - start <= maxTextLength) return reader.readUnescaped();
  const prefixEnd = findPrefixEnd(reader);
  const prefix = text.toString('utf8', start, prefixEnd);
  return truncateText(hasEscapes ? (JSON.parse(`"${prefix}"`) as string) : prefix, maxTextLength);
};

const readObject = (reader: JsonReader, depth: number): Record<string, unknown> => {
  const value: Record<string, unknown> = {};
  for (let hasMore = reader.beginObject(); hasMore; hasMore = reader.hasMoreMembers()) {
    reader.readKey();
    const name = toText(reader);
    if (skippedMembers.has(name)) reader.skipValue();
    else value[name] = readValue(reader, depth + 1);
  }
  return value;
};

const readArray = (reader: JsonReader, depth: number): unknown[] => {
  const values: unknown[] = [];
  for (let hasMore = reader.beginArray(); hasMore; hasMore = reader.hasMoreElements())
    values.push(readValue(reader, depth + 1));
  return values;
};

const readScalar = (reader: JsonReader, byte: number): unknown => {
  if (byte === quote) {
    reader.readString();
    return toText(reader);
  }
  if (reader.skipLiteral('null')) return null;
  if (reader.skipLiteral('true')) return true;
  if (reader.skipLiteral('false')) return false;
  if (byte !== 0x2d && (byte < 0x30 || byte > 0x39))
    throw reader.createFault(byte < 0 ? 'the text ends, but a value is expected' : 'expected a value');
  reader.readNumber();
  return Number(reader.text.toString('latin1', reader.start, reader.end));
};

const readValue = (reader: JsonReader, depth: number): unknown => {
  if (depth > maxDepth) throw reader.createFault(`values nest deeper than ${maxDepth}`);
  const byte = reader.peek();
  if (byte === openBrace) return readObject(reader, depth);
  return byte === openBracket ? readArray(reader, depth) : readScalar(reader, byte);
};

export type ReadJson = { readonly value: unknown } | { readonly problem: string };

/**
 * Returns the value of a JSON text, with texts shortened to `maxTextLength` characters, or why the text is invalid: with
 * the path and the position in bytes.
 */
export const readJson = (body: Buffer): ReadJson => {
  let value: unknown;
  try {
    readJsonText(body, (reader) => {
      value = readValue(reader, 0);
    });
    return { value };
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    return { problem: `${error.message}, at byte ${error.position ?? 0}` };
  }
};
