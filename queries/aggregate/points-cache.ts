/**
 * Caches points of series that are queried repeatedly as time advances, as by panels.
 *
 * A range is split into pieces of an hour, whose results are cached. A piece is read again if its number of records has
 * changed, so late and erased records take effect. Counting all records takes a tenth of searching their bodies. Only
 * queries that read enough data before use this cache.
 */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { Range } from '../range.ts';
import { rangeValues, withinRange } from '../records.ts';
import { RowCache } from '../row-cache.ts';
import { type QuerySignal, recordsOf } from '../signals/index.ts';

/** Results of the engine for a step of a group. */
export interface Point {
  /** Values of the group, as one string. */
  readonly group: string;
  /** Step number since the epoch. */
  readonly step: bigint;
  readonly answers: readonly unknown[];
}

export interface PointsQuestion {
  readonly signal: QuerySignal;
  readonly range: Range;
  /** Step length; steps begin at its multiples since the epoch. */
  readonly stepNs: bigint;
  /** Equal for queries that differ only in their ranges. */
  readonly key: string;
  /** Number of groups above which the query runs without the cache. */
  readonly maxGroups: number;
}

/**
 * Reads all points of a part of the range; `undefined` if it cannot. A step that spans two parts is never requested.
 */
export type ReadPoints = (range: Range) => Promise<readonly Point[] | undefined>;

interface Cost {
  /** Bytes that the query read; 0 if the cache does not help. */
  readonly bytes: number;
  readonly atMs: number;
}

interface CachedPiece {
  readonly records: number;
  readonly atMs: number;
  readonly points: readonly Point[];
}

const hourNs = 3_600_000_000_000n;
const minPieces = 3;
/** More statements than this take longer than one that reads some pieces again. */
const maxParts = 4;
/** Queries that read less are fast enough. */
const minBytes = 64 * 1024 * 1024;
/**
 * Counting records reads their times and a byte of the tenant's column. The cache helps if the query reads several
 * times as much.
 */
const bytesOfCount = 9;
const minGain = 4;
/**
 * An erased record and a new one in the same hour leave the count unchanged, so entries expire after this time, however
 * often they are used.
 */
const cacheTtlMs = 900_000;

/** Cache of query costs and of piece results. */
export class PointsMemory {
  readonly #nowMs: () => number;
  readonly #costs = new RowCache<Cost>(10_000);
  readonly #pieces = new RowCache<CachedPiece>(200_000, ({ points }) => points.length + 1);

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Records the bytes of a query that ran without the cache. */
  learn(columns: TenantColumns, { key, signal }: PointsQuestion, bytes: number): void {
    const costs = this.#costs.of(columns);
    // If newer rows replace others, their number does not reveal it.
    if (recordsOf(signal).hasReplacedRows !== true && bytes >= minBytes && !this.#isValid(costs.get(key)))
      costs.set(key, { bytes, atMs: this.#nowMs() });
  }

  /** Returns all points of the range, unordered; `undefined` if the query should run without the cache. */
  async points(columns: TenantColumns, question: PointsQuestion, read: ReadPoints): Promise<Point[] | undefined> {
    const costs = this.#costs.of(columns);
    const cost = costs.get(question.key);
    if (cost === undefined || cost.bytes === 0 || !this.#isValid(cost)) return undefined;
    const pieces = piecesOf(question.range, lengthOf(question.stepNs));
    if (pieces.length < minPieces) return undefined;
    // Counted before the records are read: a piece that receives more in between has a different count next time.
    const records = await countRecords(columns, question, pieces);
    const gains = records.all * bytesOfCount * minGain <= cost.bytes;
    const points = gains ? await this.#read(columns, question, { pieces, recordsOf: records.of }, read) : undefined;
    if (points === undefined) costs.set(question.key, { bytes: 0, atMs: this.#nowMs() });
    return points;
  }

  #isValid(entry: { readonly atMs: number } | undefined): boolean {
    return entry !== undefined && this.#nowMs() - entry.atMs < cacheTtlMs;
  }

  async #read(
    columns: TenantColumns,
    { range, stepNs, key, maxGroups }: PointsQuestion,
    { pieces, recordsOf }: { readonly pieces: readonly Piece[]; readonly recordsOf: (piece: Piece) => number },
    read: ReadPoints,
  ): Promise<Point[] | undefined> {
    const known = this.#pieces.of(columns);
    const keyOf = ({ index }: Piece): string => `${index} ${stepNs} ${key}`;
    const atMs = this.#nowMs();
    const held = new Map<Piece, readonly Point[]>();
    for (const piece of pieces) {
      const earlier = known.get(keyOf(piece));
      if (earlier?.records === recordsOf(piece) && this.#isValid(earlier)) held.set(piece, earlier.points);
    }
    if (gapsOf(range, [...held.keys()]).length > maxParts) held.clear();
    const parts = await Promise.all(gapsOf(range, [...held.keys()]).map(read));
    const found: Point[] = [];
    for (const part of parts) {
      if (part === undefined) return undefined;
      found.push(...part);
    }
    const length = lengthOf(stepNs);
    const byPiece = Map.groupBy(found, ({ step }) => (step * stepNs) / length);
    for (const piece of pieces)
      if (!held.has(piece))
        known.set(keyOf(piece), { records: recordsOf(piece), atMs, points: byPiece.get(piece.index) ?? [] });
    const points = [...found, ...[...held.values()].flat()];
    return new Set(points.map(({ group }) => group)).size > maxGroups ? undefined : points;
  }
}

/** A part of the range of fixed length, including both ends. */
interface Piece extends Range {
  /** Number since the epoch. */
  readonly index: bigint;
}

/** Returns the smallest multiple of the step that is an hour or more. */
const lengthOf = (stepNs: bigint): bigint => stepNs * ((hourNs + stepNs - 1n) / stepNs);

/** Returns pieces that are entirely within the range, in order. */
const piecesOf = ({ from, to }: Range, length: bigint): Piece[] => {
  if (from < 0n) return [];
  const pieces: Piece[] = [];
  for (let index = (from + length - 1n) / length; (index + 1n) * length <= to + 1n; index++)
    pieces.push({ index, from: index * length, to: (index + 1n) * length - 1n });
  return pieces;
};

/** Returns the gaps before, between and after pieces. */
const gapsOf = ({ from, to }: Range, pieces: readonly Piece[]): Range[] => {
  const gaps: Range[] = [];
  let next = from;
  for (const piece of pieces) {
    if (next < piece.from) gaps.push({ from: next, to: piece.from - 1n });
    next = piece.to + 1n;
  }
  if (next <= to) gaps.push({ from: next, to });
  return gaps;
};

/** Counts the records of the tenant in all pieces, and in each. */
const countRecords = async (
  columns: TenantColumns,
  { signal, stepNs }: PointsQuestion,
  pieces: readonly Piece[],
): Promise<{ readonly all: number; readonly of: (piece: Piece) => number }> => {
  const { table } = recordsOf(signal);
  const range = { from: pieces[0]?.from ?? 0n, to: pieces.at(-1)?.to ?? 0n };
  const rows = await columns.query<{ piece: string; records: string }>(
    `SELECT intDiv(toUnixTimestamp64Nano(timestamp), {length:Int64}) AS piece, count() AS records FROM ${table}
    WHERE tenant_id = {tenant:String} AND ${withinRange(signal)} GROUP BY piece`,
    { ...rangeValues(range), length: String(lengthOf(stepNs)) },
    { ofEachServer: true },
  );
  const counts = new Map<string, number>();
  for (const { piece, records } of rows) counts.set(piece, (counts.get(piece) ?? 0) + Number(records));
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { all, of: ({ index }) => counts.get(String(index)) ?? 0 };
};
