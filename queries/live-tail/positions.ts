/** Positions of a listener on the bus, and the token that resumes from them. */
import { createValidationError } from '../errors.ts';
import type { TailSignal } from './filter.ts';

/** Position of the next record: this record of the message, or the first one of a later message. */
export interface RecordPosition {
  readonly offset: number;
  /** Number of the record within the message. */
  readonly ordinal: number;
}

/** Positions by partition. */
export type Positions = ReadonlyMap<number, RecordPosition>;

const tokenVersionNumber = 1;
const maxPartitions = 1_024;
/** Maximum token length: three numbers per partition. */
export const maxTokenCharacters = 32 * 1024;

const isNonNegativeInteger = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const isEntry = (entry: unknown): entry is [number, number, number] =>
  Array.isArray(entry) &&
  entry.length === 3 &&
  entry.every(isNonNegativeInteger) &&
  (entry[0] as number) < maxPartitions;

/** Returns the token of positions. It contains only positions; the tenant is determined by the request that uses it. */
export const encodeToken = (signal: TailSignal, positions: Positions): string =>
  Buffer.from(
    JSON.stringify([
      tokenVersionNumber,
      signal,
      ...[...positions].map(([partition, position]) => [partition, position.offset, position.ordinal]),
    ]),
  ).toString('base64url');

/** Returns the positions in a token of this telemetry signal; throws a `QueryError` for any other text. */
export const decodeToken = (token: string, signal: TailSignal): Positions => {
  const invalidToken = createValidationError('resume', 'is not a position of this live tail');
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
  } catch {
    throw invalidToken;
  }
  if (!Array.isArray(parts) || parts.length > maxPartitions + 2) throw invalidToken;
  const [tokenVersion, tokenSignal, ...entries] = parts as unknown[];
  if (tokenVersion !== tokenVersionNumber || tokenSignal !== signal || !entries.every(isEntry)) throw invalidToken;
  return new Map(entries.map(([partition, offset, ordinal]) => [partition, { offset, ordinal }]));
};
