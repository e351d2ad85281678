import { z } from 'zod';
import { createValidationError } from './errors.ts';

/** Parameter that requests the next page of a list. */
export const cursorParameter = z
  .string()
  .max(4096)
  .regex(/^[\w-]+$/, 'is not a cursor of this list')
  .optional()
  .describe('`nextCursor` of the previous page, with all other parameters unchanged');

/**
 * Encodes an opaque cursor: integers and short strings needed for the next page. `kind` prevents the use of a cursor
 * with another list.
 */
export const encodeCursor = (kind: string, parts: readonly (string | bigint | number)[]): string =>
  Buffer.from([kind, ...parts.map(String)].join('|')).toString('base64url');

/** Decodes a cursor of `encodeCursor` and validates each part against its pattern; 400 for any other text. */
export const decodeCursor = (kind: string, cursor: string, patterns: readonly RegExp[]): string[] => {
  const [cursorKind, ...parts] = Buffer.from(cursor, 'base64url').toString('utf8').split('|');
  const isValid =
    cursorKind === kind &&
    parts.length === patterns.length &&
    patterns.every((pattern, index) => pattern.test(parts[index] ?? ''));
  if (!isValid) throw invalidCursorError();
  return parts;
};

const invalidCursorError = () => createValidationError('cursor', 'is not a cursor of this list');

/** Encodes any text as one part of a cursor. */
export const encodeText = (text: string): string => Buffer.from(text).toString('base64url');
/** Patterns of an encoded text part (the first also accepts an empty text), and its decoder. */
export const textPattern = /^[\w-]*$/;
export const nonEmptyTextPattern = /^[\w-]+$/;
export const decodeText = (part: string): string => Buffer.from(part, 'base64url').toString('utf8');

/** Encodes a value as one part of a cursor. */
export const encodeJson = (value: unknown): string => encodeText(JSON.stringify(value));
/** Decodes the value of a part, validated against its schema. */
export const decodeJson = <Schema extends z.ZodType>(schema: Schema, part: string): z.output<Schema> => {
  try {
    return schema.parse(JSON.parse(decodeText(part)));
  } catch {
    throw invalidCursorError();
  }
};

/** A signed 64-bit integer in decimal. */
export const int64Pattern = /^-?\d{1,19}$/;
/** An unsigned 64-bit integer in decimal. */
export const uint64Pattern = /^\d{1,20}$/;
