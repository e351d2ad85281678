/** Fingerprints of stored metric points by time block: while the fingerprints are equal, the points are unchanged. */
import type { TenantColumns } from '../../../schemas/ports/columns.ts';
import type { PointTable, SeriesSource } from './choose.ts';
import { pointsCondition, readFromMs } from './pieces.ts';
import type { Window } from './scope.ts';

/** Read of a selector: points after the start of its window and up to its end. */
export interface SelectorRead {
  readonly window: Window;
  readonly sources: readonly SeriesSource[];
}

/**
 * Fingerprints of the points of a metric in a time block, by table, block number and metric. A fingerprint is the
 * number of points and a checksum.
 */
export type PieceFingerprints = ReadonlyMap<string, string>;

/** Source of the points of one metric. */
interface PointOrigin {
  readonly table: PointTable;
  readonly metric: string;
  readonly isDelta: boolean;
}

const fingerprintKey = ({ table, metric }: Pick<PointOrigin, 'table' | 'metric'>, piece: number): string =>
  `${table} ${piece} ${metric}`;

const listOrigins = (sources: readonly SeriesSource[]): PointOrigin[] => {
  const origins = new Map<string, PointOrigin>();
  for (const { tables, metric, isDelta } of sources)
    for (const table of tables) origins.set(`${table} ${isDelta} ${metric}`, { table, metric, isDelta });
  return [...origins.values()];
};

/** Returns the numbers of the first and the last piece that a read may have points in. */
const blockBounds = (
  { fromMs, toMs }: Window,
  isDelta: boolean,
  pieceMs: number,
): readonly [first: number, last: number] => [
  Math.max(0, Math.floor((readFromMs(fromMs, isDelta) + 1) / pieceMs)),
  Math.floor(toMs / pieceMs),
];

/** Visits each piece of each metric that a read has points in, from the earliest on. */
const visitBlocks = (
  { window, sources }: SelectorRead,
  pieceMs: number,
  visit: (key: string, piece: number) => void,
): void => {
  for (const origin of listOrigins(sources)) {
    const [first, last] = blockBounds(window, origin.isDelta, pieceMs);
    for (let piece = first; piece <= last; piece++) visit(fingerprintKey(origin, piece), piece);
  }
};

/** Returns the fingerprints that apply to a read. */
export const selectFingerprints = (
  reads: readonly SelectorRead[],
  landed: PieceFingerprints,
  pieceMs: number,
): PieceFingerprints => {
  const own = new Map<string, string>();
  for (const read of reads)
    visitBlocks(read, pieceMs, (key) => {
      const fingerprint = landed.get(key);
      if (fingerprint !== undefined) own.set(key, fingerprint);
    });
  return own;
};

/** Returns the maximum number of points of a read. */
export const countPoints = (read: SelectorRead, landed: PieceFingerprints, pieceMs: number): number => {
  let points = 0;
  visitBlocks(read, pieceMs, (key) => {
    points += Number.parseInt(landed.get(key) ?? '0', 10);
  });
  return points;
};

/**
 * Returns the start of the first time block of a read that may have changed since the fingerprints `before`, which are
 * known up to `beforeToMs`. Infinity if nothing changed.
 */
export const findFirstChangeMs = (
  read: SelectorRead,
  {
    before,
    beforeToMs,
    now,
  }: { readonly before: PieceFingerprints; readonly beforeToMs: number; readonly now: PieceFingerprints },
  pieceMs: number,
): number => {
  const lastKnownBlock = Math.floor(beforeToMs / pieceMs);
  let first = Number.POSITIVE_INFINITY;
  visitBlocks(read, pieceMs, (key, piece) => {
    if (piece * pieceMs < first && (piece > lastKnownBlock || before.get(key) !== now.get(key)))
      first = piece * pieceMs;
  });
  return first;
};

/** Merges ranges of pieces that overlap or adjoin. */
const mergeRanges = (ranges: readonly (readonly [number, number])[]): (readonly [number, number])[] => {
  const all: [number, number][] = [];
  for (const [first, last] of ranges.toSorted(([one], [other]) => one - other)) {
    const before = all.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else all.push([first, last]);
  }
  return all;
};

/**
 * Reads the fingerprints of all time blocks of the reads. Runs one statement per table and contiguous time range, which
 * reads only times and ids.
 */
export const readFingerprints = async (
  columns: TenantColumns,
  reads: readonly SelectorRead[],
  pieceMs: number,
): Promise<PieceFingerprints> => {
  const fingerprints = new Map<string, string>();
  const requestedOrigins = reads.flatMap(({ window, sources }) =>
    listOrigins(sources).map((origin) => ({ ...origin, edges: blockBounds(window, origin.isDelta, pieceMs) })),
  );
  const statements = [...Map.groupBy(requestedOrigins, ({ table }) => table)].flatMap(([table, origins]) => {
    const metrics = [...new Set(origins.map(({ metric }) => metric))];
    return mergeRanges(origins.map(({ edges }) => edges)).map(async ([first, last]) => {
      const window = { fromMs: first * pieceMs - 1, toMs: (last + 1) * pieceMs - 1 };
      const { sql, parameters } = pointsCondition(table, { window, metrics });
      const rows = await columns.query<{ of_metric: string; piece: string; mark: string }>(
        `SELECT metric AS of_metric, intDiv(toUnixTimestamp64Milli(timestamp), {piece:Int64}) AS piece,
          concat(toString(count()), ' ', toString(sum(series_id + toUInt64(toUnixTimestamp64Milli(timestamp))))) AS mark
        ${sql} GROUP BY metric, piece`,
        { ...parameters, piece: String(pieceMs) },
      );
      for (const { of_metric: metric, piece, mark } of rows)
        fingerprints.set(fingerprintKey({ table, metric }, Number(piece)), mark);
    });
  });
  await Promise.all(statements);
  return fingerprints;
};
