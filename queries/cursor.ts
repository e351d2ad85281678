import { z } from 'zod';
import { invalid } from './errors.ts';

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
  const [found, ...parts] = Buffer.from(cursor, 'base64url').toString('utf8').split('|');
  const fits =
    found === kind &&
    parts.length === patterns.length &&
    patterns.every((pattern, index) => pattern.test(parts[index] ?? ''));
  if (!fits) throw notOfThisList();
  return parts;
};

const notOfThisList = () => invalid('cursor', 'is not a cursor of this list');

/** Encodes any text as one part of a cursor. */
export const textPart = (text: string): string => Buffer.from(text).toString('base64url');
/** Patterns of an encoded text part, possibly empty or not empty, and its decoder. */
export const anyText = /^[\w-]*$/;
export const someText = /^[\w-]+$/;
export const textIn = (part: string): string => Buffer.from(part, 'base64url').toString('utf8');

/** Encodes a value as one part of a cursor. */
export const jsonPart = (value: unknown): string => textPart(JSON.stringify(value));
/** Decodes the value of a part, validated against its schema. */
export const jsonIn = <Schema extends z.ZodType>(schema: Schema, part: string): z.output<Schema> => {
  try {
    return schema.parse(JSON.parse(textIn(part)));
  } catch {
    throw notOfThisList();
  }
};

/** A signed 64-bit integer in decimal. */
export const integer = /^-?\d{1,19}$/;
/** An unsigned 64-bit integer in decimal. */
export const natural = /^\d{1,20}$/;
