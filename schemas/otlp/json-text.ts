/** Reads a complete JSON body and reports errors with their path. */
import { isUtf8 } from 'node:buffer';
import { PermanentError } from '../errors.ts';
import { findInvalidUtf8 } from '../protobuf/utf8.ts';
import { findPath } from './json-path.ts';
import { JsonReader } from './json-reader.ts';

const quote = 0x22;

/** Returns the error with the path of its position in its message. */
export const addPath = (error: PermanentError, body: Buffer): PermanentError => {
  const path = findPath(body, error.position ?? 0);
  const message = path === '' ? error.message : `${path}: ${error.message}`;
  return new PermanentError(error.reason, message, { position: error.position, cause: error });
};

/**
 * Calls `read` for the value of a JSON text. Throws `PermanentError` for syntax errors, invalid UTF-8 and trailing
 * text. The message contains the path, and the position is the byte offset.
 */
export const readJsonText = (body: Buffer, read: (reader: JsonReader) => void): void => {
  if (!isUtf8(body))
    throw new PermanentError('bad-utf8', 'the JSON text is not UTF-8', {
      position: findInvalidUtf8(body, 0, body.length),
    });
  const reader = new JsonReader(body);
  try {
    read(reader);
    if (reader.peek() >= 0) throw reader.createFault('unexpected content after the end of the JSON text');
  } catch (error) {
    throw error instanceof PermanentError ? addPath(error, body) : error;
  }
};

/**
 * Returns a reader for objects whose members are read by these functions. Skips unknown names and treats `null` as
 * absent. The last value of a duplicate name applies.
 */
export const createObjectReader = <Value extends object>(
  members: {
    readonly [Name in keyof Value]: (reader: JsonReader) => Value[Name];
  },
): ((reader: JsonReader) => Partial<Value>) => {
  // A map, because a sender may write `constructor`.
  const readers = new Map<string, (reader: JsonReader) => unknown>(Object.entries(members));
  return (reader) => {
    const value: Record<string, unknown> = {};
    for (let hasMore = reader.beginObject(); hasMore; hasMore = reader.hasMoreMembers()) {
      reader.readKey();
      const name = reader.readUnescaped();
      const read = readers.get(name);
      reader.peek();
      if (read === undefined) reader.skipValue();
      else if (!reader.skipLiteral('null')) value[name] = read(reader);
    }
    return value as Partial<Value>;
  };
};

/** Reads an array and calls `read` for each of its elements. */
export const readElements = (reader: JsonReader, read: (reader: JsonReader) => void): void => {
  for (let hasMore = reader.beginArray(); hasMore; hasMore = reader.hasMoreElements()) read(reader);
};

export const readString = (reader: JsonReader): string => {
  if (reader.peek() !== quote) throw reader.createFault('expected a string');
  reader.readString();
  return reader.readUnescaped();
};

export const readBoolean = (reader: JsonReader): boolean => {
  reader.peek();
  if (reader.skipLiteral('true')) return true;
  if (reader.skipLiteral('false')) return false;
  throw reader.createFault('expected true or false');
};

/** Reads an integer of 0 or more that is exact in a number. */
export const readNonNegativeInteger = (reader: JsonReader): number => {
  reader.peek();
  const at = reader.position;
  reader.readNumber();
  const value = Number(reader.text.toString('latin1', reader.start, reader.end));
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw reader.createFault(`expected an integer from 0 to ${Number.MAX_SAFE_INTEGER}`, at);
};

/** Maximum number of tags or annotations of one record. As objects they take many times the bytes of their text. */
export const maxEntries = 10_000;

/** Reads an object with string values, in its order. The last value of a duplicate name applies. */
export const readStrings = (reader: JsonReader): Map<string, string> => {
  const values = new Map<string, string>();
  for (let hasMore = reader.beginObject(); hasMore; hasMore = reader.hasMoreMembers()) {
    reader.readKey();
    const name = reader.readUnescaped();
    values.set(name, readString(reader));
    if (values.size > maxEntries)
      throw reader.createFault(`there are more than ${maxEntries} names`, reader.position, 'too-many');
  }
  return values;
};
