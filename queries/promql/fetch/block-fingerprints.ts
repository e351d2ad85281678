/** Fingerprints of stored metric points by time block: while the fingerprints are equal, the points are unchanged. */
import type { TenantColumns } from '../../../schemas/ports/columns.ts';
import { buildPointsCondition, computeReadStartMs } from './point-blocks.ts';
import type { Window } from './scope.ts';
import type { PointTable, SeriesSource } from './select-series.ts';

/** Read of a selector: points after the start of its window and up to its end. */
export interface SelectorRead {
  readonly window: Window;
  readonly sources: readonly SeriesSource[];
}

/**
 * Fingerprints of the points of a metric in a time block, by table, block number and metric. A fingerprint is the
 * number of points and a checksum.
 */
export type BlockFingerprints = ReadonlyMap<string, string>;

/** Source of the points of one metric. */
interface PointOrigin {
  readonly table: PointTable;
  readonly metric: string;
  readonly isDelta: boolean;
}

const fingerprintKey = ({ table, metric }: Pick<PointOrigin, 'table' | 'metric'>, block: number): string =>
  `${table} ${block} ${metric}`;

const listOrigins = (sources: readonly SeriesSource[]): PointOrigin[] => {
  const origins = new Map<string, PointOrigin>();
  for (const { tables, metric, isDelta } of sources)
    for (const table of tables) origins.set(`${table} ${isDelta} ${metric}`, { table, metric, isDelta });
  return [...origins.values()];
};

/** Returns the numbers of the first and the last time block that a read may have points in. */
const getBlockRange = (
  { fromMs, toMs }: Window,
  isDelta: boolean,
  blockMs: number,
): readonly [first: number, last: number] => [
  Math.max(0, Math.floor((computeReadStartMs(fromMs, isDelta) + 1) / blockMs)),
  Math.floor(toMs / blockMs),
];

/** Visits each time block of each metric that a read has points in, from the earliest on. */
const visitBlocks = (
  { window, sources }: SelectorRead,
  blockMs: number,
  visit: (key: string, block: number) => void,
): void => {
  for (const origin of listOrigins(sources)) {
    const [first, last] = getBlockRange(window, origin.isDelta, blockMs);
    for (let block = first; block <= last; block++) visit(fingerprintKey(origin, block), block);
  }
};

/** Returns the fingerprints that apply to a read. */
export const selectFingerprints = (
  reads: readonly SelectorRead[],
  storedFingerprints: BlockFingerprints,
  blockMs: number,
): BlockFingerprints => {
  const readFingerprintsByKey = new Map<string, string>();
  for (const read of reads)
    visitBlocks(read, blockMs, (key) => {
      const fingerprint = storedFingerprints.get(key);
      if (fingerprint !== undefined) readFingerprintsByKey.set(key, fingerprint);
    });
  return readFingerprintsByKey;
};

/** Returns the maximum number of points of a read. */
export const countPoints = (read: SelectorRead, storedFingerprints: BlockFingerprints, blockMs: number): number => {
  let points = 0;
  visitBlocks(read, blockMs, (key) => {
    points += Number.parseInt(storedFingerprints.get(key) ?? '0', 10);
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
  }: { readonly before: BlockFingerprints; readonly beforeToMs: number; readonly now: BlockFingerprints },
  blockMs: number,
): number => {
  const lastKnownBlock = Math.floor(beforeToMs / blockMs);
  let first = Number.POSITIVE_INFINITY;
  visitBlocks(read, blockMs, (key, block) => {
    if (block * blockMs < first && (block > lastKnownBlock || before.get(key) !== now.get(key)))
      first = block * blockMs;
  });
  return first;
};

/** Merges ranges of time blocks that overlap or adjoin. */
const mergeRanges = (ranges: readonly (readonly [number, number])[]): (readonly [number, number])[] => {
  const all: [number, number][] = [];
  for (const [first, last] of ranges.toSorted(([left], [right]) => left - right)) {
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
  blockMs: number,
): Promise<BlockFingerprints> => {
  const fingerprints = new Map<string, string>();
  const requestedOrigins = reads.flatMap(({ window, sources }) =>
    listOrigins(sources).map((origin) => ({ ...origin, edges: getBlockRange(window, origin.isDelta, blockMs) })),
  );
  const statements = [...Map.groupBy(requestedOrigins, ({ table }) => table)].flatMap(([table, origins]) => {
    const metrics = [...new Set(origins.map(({ metric }) => metric))];
    return mergeRanges(origins.map(({ edges: blockRange }) => blockRange)).map(async ([first, last]) => {
      const window = { fromMs: first * blockMs - 1, toMs: (last + 1) * blockMs - 1 };
      const { sql, parameters } = buildPointsCondition(table, { window, metrics });
      const rows = await columns.query<{ of_metric: string; piece: string; mark: string }>(
        `SELECT metric AS of_metric, intDiv(toUnixTimestamp64Milli(timestamp), {piece:Int64}) AS piece,
          concat(toString(count()), ' ', toString(sum(series_id + toUInt64(toUnixTimestamp64Milli(timestamp))))) AS mark
        ${sql} GROUP BY metric, piece`,
        { ...parameters, piece: String(blockMs) },
      );
      for (const { of_metric: metric, piece, mark } of rows)
        fingerprints.set(fingerprintKey({ table, metric }, Number(piece)), mark);
    });
  });
  await Promise.all(statements);
  return fingerprints;
};
