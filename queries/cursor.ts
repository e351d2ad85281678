import { z } from 'zod';
import { invalid } from './errors.ts';

/** The parameter by which the next page of a list is asked for. */
export const cursorParameter = z
  .string()
  .max(4096)
  .regex(/^[\w-]+$/, 'is not a cursor of this list')
  .optional()
  .describe('nextCursor of the page before, with everything else the same');

/** An opaque cursor: what the next page needs, as integers and short texts. `kind` keeps cursors of one list from another. */
export const encodeCursor = (kind: string, parts: readonly (string | bigint | number)[]): string =>
  Buffer.from([kind, ...parts.map(String)].join('|')).toString('base64url');

/** The parts of a cursor that `encodeCursor` made, each held against its pattern; 400 for any other text. */
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

/** Any text as one part of a cursor. */
export const textPart = (text: string): string => Buffer.from(text).toString('base64url');
/** What such a part looks like, of a text that may be empty and of one that may not; and its text. */
export const anyText = /^[\w-]*$/;
export const someText = /^[\w-]+$/;
export const textIn = (part: string): string => Buffer.from(part, 'base64url').toString('utf8');

/** A value as one part of a cursor. */
export const jsonPart = (value: unknown): string => textPart(JSON.stringify(value));
/** The value in such a part, held against its schema. */
export const jsonIn = <Schema extends z.ZodType>(schema: Schema, part: string): z.output<Schema> => {
  try {
    return schema.parse(JSON.parse(textIn(part)));
  } catch {
    throw notOfThisList();
  }
};

/** A signed 64-bit integer in decimal. */
export const integer = /^-?\d{1,19}$/;
/** An unsigned one. */
export const natural = /^\d{1,20}$/;
