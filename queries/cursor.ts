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
  if (!fits) throw invalid('cursor', 'is not a cursor of this list');
  return parts;
};

/** A signed 64-bit integer in decimal. */
export const integer = /^-?\d{1,19}$/;
/** An unsigned one. */
export const natural = /^\d{1,20}$/;
