/** Reads a complete JSON body and reports faults with their path. */
import { isUtf8 } from 'node:buffer';
import { PermanentError } from '../errors.ts';
import { findUtf8Fault } from '../protobuf/utf8.ts';
import { findPath } from './json-path.ts';
import { JsonReader } from './json-reader.ts';

const quote = 0x22;

const addPath = (fault: PermanentError, body: Buffer): PermanentError => {
  const path = findPath(body, fault.position ?? 0);
  const message = path === '' ? fault.message : `${path}: ${fault.message}`;
  return new PermanentError(fault.reason, message, { position: fault.position, cause: fault });
};

/**
 * Calls `read` for the value of a JSON text. Throws `PermanentError` for faults, invalid UTF-8 and trailing text. The
 * message names the path, and the position is the byte offset.
 */
export const readJsonText = (body: Buffer, read: (reader: JsonReader) => void): void => {
  if (!isUtf8(body))
    throw new PermanentError('bad-utf8', 'the JSON text is not UTF-8', {
      position: findUtf8Fault(body, 0, body.length),
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
export const objectReader = <Value extends object>(
  members: {
    readonly [Name in keyof Value]: (reader: JsonReader) => Value[Name];
  },
): ((reader: JsonReader) => Partial<Value>) => {
  // A map, because a sender may write `constructor`.
  const readers = new Map<string, (reader: JsonReader) => unknown>(Object.entries(members));
  return (reader) => {
    const value: Record<string, unknown> = {};
    for (let more = reader.beginObject(); more; more = reader.hasMoreMembers()) {
      reader.key();
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
  for (let more = reader.beginArray(); more; more = reader.hasMoreElements()) read(reader);
};

export const readString = (reader: JsonReader): string => {
  if (reader.peek() !== quote) throw reader.createFault('expected a string');
  reader.string();
  return reader.readUnescaped();
};

export const readBoolean = (reader: JsonReader): boolean => {
  reader.peek();
  if (reader.skipLiteral('true')) return true;
  if (reader.skipLiteral('false')) return false;
  throw reader.createFault('expected true or false');
};

/** Reads an integer of 0 or more that is exact in a number. */
export const readNatural = (reader: JsonReader): number => {
  reader.peek();
  const at = reader.position;
  reader.number();
  const value = Number(reader.text.toString('latin1', reader.start, reader.end));
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw reader.createFault(`expected an integer from 0 to ${Number.MAX_SAFE_INTEGER}`, at);
};

/** Maximum number of tags or annotations of one record. As objects they take many times the bytes of their text. */
export const maxEntries = 10_000;

/** Reads an object with string values, in its order. The last value of a duplicate name applies. */
export const readStrings = (reader: JsonReader): Map<string, string> => {
  const values = new Map<string, string>();
  for (let more = reader.beginObject(); more; more = reader.hasMoreMembers()) {
    reader.key();
    const name = reader.readUnescaped();
    values.set(name, readString(reader));
    if (values.size > maxEntries)
      throw reader.createFault(`there are more than ${maxEntries} names`, reader.position, 'too-many');
  }
  return values;
};
