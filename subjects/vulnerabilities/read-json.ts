/** Reads the JSON of a report in one pass over its bytes, without the parts that no format uses. */
import { PermanentError } from '../../schemas/errors.ts';
import { JsonChunkReader } from '../../schemas/otlp/json-chunk-reader.ts';
import type { JsonReader } from '../../schemas/otlp/json-reader.ts';
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
  ...['markdown', 'fullDescription', 'files', 'annotations', 'checksums', 'cweIds', 'Secrets', 'Misconfigurations'],
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

/** Names and indexes of the values that are being read; empty at the beginning of an object */
type Path = (string | number)[];

const readObject = (reader: JsonReader, path: Path): Record<string, unknown> => {
  const value: Record<string, unknown> = {};
  const depth = path.push('');
  for (let hasMore = reader.beginObject(); hasMore; hasMore = reader.hasMoreMembers()) {
    path[depth - 1] = '';
    reader.readKey();
    const name = toText(reader);
    path[depth - 1] = name;
    if (skippedMembers.has(name)) reader.skipValue();
    else value[name] = readValue(reader, path);
  }
  path.pop();
  return value;
};

const readArray = (reader: JsonReader, path: Path): unknown[] => {
  const values: unknown[] = [];
  const depth = path.push(0);
  for (let hasMore = reader.beginArray(); hasMore; hasMore = reader.hasMoreElements()) {
    path[depth - 1] = values.length;
    values.push(readValue(reader, path));
  }
  path.pop();
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

const readValue = (reader: JsonReader, path: Path): unknown => {
  if (path.length > maxDepth) throw reader.createFault(`values nest deeper than ${maxDepth}`);
  const byte = reader.peek();
  if (byte === openBrace) return readObject(reader, path);
  return byte === openBracket ? readArray(reader, path) : readScalar(reader, byte);
};

const maxPathLength = 300;
const maxNameLength = 64;

const formatPath = (path: Path): string =>
  truncateText(
    path
      .map((step) => (typeof step === 'number' ? `[${step}]` : step && `.${truncateText(step, maxNameLength)}`))
      .join('')
      .replace(/^\./, ''),
    maxPathLength,
  );

export type ReadJson = { readonly value: unknown } | { readonly problem: string };

/**
 * Returns the value of a JSON text that arrives in chunks, with texts shortened to `maxTextLength` characters, or why the
 * text is invalid: with the path and the position in bytes.
 */
export const readJson = (chunks: Iterable<Uint8Array>): ReadJson => {
  const reader = new JsonChunkReader(chunks);
  const path: Path = [];
  try {
    const value = readValue(reader, path);
    if (reader.peek() >= 0) throw reader.createFault('unexpected content after the end of the JSON text');
    return { value };
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    const place = formatPath(path);
    return { problem: `${place === '' ? '' : `${place}: `}${error.message}, at byte ${error.position ?? 0}` };
  }
};
