/** Where a listener stands on the bus, and the token by which it goes on from there. */
import { invalid } from '../errors.ts';
import type { TailSignal } from './filter.ts';

/** The next record: of that message, or of a later one. */
export interface Place {
  readonly offset: number;
  /** Number of the record within the message. */
  readonly ordinal: number;
}

/** By partition. */
export type Positions = ReadonlyMap<number, Place>;

const version = 1;
const maxPartitions = 1_024;
/** Longest token: of each partition three numbers. */
export const maxTokenCharacters = 32 * 1024;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const isEntry = (entry: unknown): entry is [number, number, number] =>
  Array.isArray(entry) && entry.length === 3 && entry.every(isCount) && (entry[0] as number) < maxPartitions;

/** A token holds positions and nothing else: whose records are read from there is decided by the one who comes with it. */
export const tokenOf = (signal: TailSignal, positions: Positions): string =>
  Buffer.from(
    JSON.stringify([version, signal, ...[...positions].map(([partition, at]) => [partition, at.offset, at.ordinal])]),
  ).toString('base64url');

/** The positions in a token of this signal; a `QueryError` for any other text. */
export const positionsIn = (token: string, signal: TailSignal): Positions => {
  const refused = invalid('resume', 'is not a position of this live tail');
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
  } catch {
    throw refused;
  }
  if (!Array.isArray(parts) || parts.length > maxPartitions + 2) throw refused;
  const [found, about, ...entries] = parts as unknown[];
  if (found !== version || about !== signal || !entries.every(isEntry)) throw refused;
  return new Map(entries.map(([partition, offset, ordinal]) => [partition, { offset, ordinal }]));
};
