/**
 * Points of series that are asked for again while time goes on, as panels do. A range is cut into pieces of an hour; what a piece had is kept,
 * and a piece is read again where the number of its records is another one, so that late records and erased ones count. To count them
 * all takes a tenth of searching their bodies, and only a question that read much before is answered in this way.
 */
import type { QueryLimits, TenantColumns } from '../../schemas/ports/columns.ts';
import { KeptRows } from '../kept-rows.ts';
import type { Range } from '../range.ts';
import { rangeValues, withinRange } from '../records.ts';
import type { QuerySignal } from '../search/tree.ts';
import { signalTables } from '../signals.ts';

/** A step, counted from the epoch, and the engine's answers for it. */
export interface Point {
  readonly step: bigint;
  readonly answers: readonly unknown[];
}

export interface PointsQuestion {
  readonly signal: QuerySignal;
  readonly range: Range;
  /** Steps begin at multiples of it since the epoch. */
  readonly stepNs: bigint;
  /** Equal for questions that differ in their ranges alone. */
  readonly key: string;
}

/** Reads the points of a part of the range. A step that lies in two parts is never asked for. */
export type ReadPoints = (range: Range, limits: QueryLimits) => Promise<Point[]>;

/** Which questions read much, with the time at which that was seen, and what their pieces had. */
export interface PointsMemory {
  /** Questions that read fewer rows are not worth a count of all records. */
  readonly leastRows: number;
  readonly nowMs: () => number;
  readonly costly: KeptRows<number>;
  readonly pieces: KeptRows<KeptPiece>;
}

interface KeptPiece {
  readonly records: string;
  readonly atMs: number;
  readonly points: readonly Point[];
}

const hourNs = 3_600_000_000_000n;
const leastPieces = 3;
/** More statements than this take longer than one that reads some pieces again. */
const mostParts = 4;
/** An erased record and a new one in the same hour leave the number as it was: what is kept ends after this time, however often it is used. */
const keptForMs = 900_000;

export const pointsMemory = (leastRows: number, nowMs: () => number): PointsMemory => ({
  leastRows,
  nowMs,
  costly: new KeptRows<number>(10_000),
  pieces: new KeptRows<KeptPiece>(200_000, ({ points }) => points.length + 1),
});

const memory = pointsMemory(1_000_000, () => performance.now());

/** All points of the range, in no order; steps without records may be left out. Of a handle without `source` all of it is read. */
export const pointsOf = async (
  columns: TenantColumns,
  question: PointsQuestion,
  read: ReadPoints,
  kept: PointsMemory = memory,
): Promise<readonly Point[]> => {
  const pieces = piecesOf(question.range, lengthOf(question.stepNs));
  const costly = kept.costly.of(columns);
  const learntAt = costly.get(question.key);
  // Rows of other signals are replaced by newer ones, which their number does not tell.
  const isOfRecords = question.signal !== 'detections';
  if (isOfRecords && pieces.length >= leastPieces && learntAt !== undefined && kept.nowMs() - learntAt < keptForMs)
    return inPieces(columns, question, pieces, read, kept);
  let rows = 0;
  const points = await read(question.range, { onCost: ({ rowsRead }) => (rows += rowsRead) });
  if (rows >= kept.leastRows) costly.set(question.key, kept.nowMs());
  return points;
};

/** A part of the range that is as long as any other. Both ends belong to it. */
interface Piece extends Range {
  /** Counted from the epoch. */
  readonly index: bigint;
}

/** The shortest whole number of steps that takes an hour or more. */
const lengthOf = (stepNs: bigint): bigint => stepNs * ((hourNs + stepNs - 1n) / stepNs);

/** Pieces that lie in the range as a whole, in order. */
const piecesOf = ({ from, to }: Range, length: bigint): Piece[] => {
  if (from < 0n) return [];
  const pieces: Piece[] = [];
  for (let index = (from + length - 1n) / length; (index + 1n) * length <= to + 1n; index++)
    pieces.push({ index, from: index * length, to: (index + 1n) * length - 1n });
  return pieces;
};

/** What lies between pieces, and before and behind them. */
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

const inPieces = async (
  columns: TenantColumns,
  { signal, range, stepNs, key }: PointsQuestion,
  pieces: readonly Piece[],
  read: ReadPoints,
  kept: PointsMemory,
): Promise<readonly Point[]> => {
  const length = lengthOf(stepNs);
  const known = kept.pieces.of(columns);
  const keyOf = ({ index }: Piece): string => `${index} ${stepNs} ${key}`;
  // Before the records are read: a piece that gets more of them in between has another number the next time.
  const records = await recordsOf(columns, signal, { pieces, length });
  const nowMs = kept.nowMs();
  const held = new Map<Piece, readonly Point[]>();
  for (const piece of pieces) {
    const earlier = known.get(keyOf(piece));
    if (earlier?.records === records(piece) && nowMs - earlier.atMs < keptForMs) held.set(piece, earlier.points);
  }
  if (gapsOf(range, [...held.keys()]).length > mostParts) held.clear();
  const gaps = gapsOf(range, [...held.keys()]);
  const found = (await Promise.all(gaps.map((gap) => read(gap, {})))).flat();
  const byPiece = Map.groupBy(found, ({ step }) => (step * stepNs) / length);
  for (const piece of pieces)
    if (!held.has(piece))
      known.set(keyOf(piece), { records: records(piece), atMs: nowMs, points: byPiece.get(piece.index) ?? [] });
  return [...found, ...[...held.values()].flat()];
};

/** How many records of the tenant each piece has. */
const recordsOf = async (
  columns: TenantColumns,
  signal: QuerySignal,
  { pieces, length }: { readonly pieces: readonly Piece[]; readonly length: bigint },
): Promise<(piece: Piece) => string> => {
  const { table } = signalTables[signal];
  const range = { from: pieces[0]?.from ?? 0n, to: pieces.at(-1)?.to ?? 0n };
  const rows = await columns.query<{ piece: string; records: string }>(
    `SELECT intDiv(toUnixTimestamp64Nano(timestamp), {length:Int64}) AS piece, count() AS records FROM ${table}
    WHERE tenant_id = {tenant:String} AND ${withinRange(signal)} GROUP BY piece`,
    { ...rangeValues(range), length: String(length) },
  );
  const counts = new Map(rows.map(({ piece, records }) => [piece, records]));
  return ({ index }) => counts.get(String(index)) ?? '0';
};
