/**
 * Caches points of series that are queried repeatedly as time advances, for example by dashboard panels.
 *
 * A range is split into blocks of about an hour, whose results are cached. A block is read again if its number of
 * records has changed, so late and erased records take effect. Counting all records takes a tenth of the time of
 * searching their bodies. Only queries whose previous run read enough data use this cache.
 */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { Range } from '../range.ts';
import { buildRangeCondition, buildRangeParameters } from '../records.ts';
import { RowCache } from '../row-cache.ts';
import { getSignalRecords, type QuerySignal } from '../signals/index.ts';

/** Results of the engine for a step of a group. */
export interface Point {
  /** Values of the group, as one string. */
  readonly group: string;
  /** Step number since the epoch. */
  readonly step: bigint;
  readonly results: readonly unknown[];
}

export interface PointsQuery {
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
 * Reads all points of a part of the range; `undefined` if there are too many groups. No step crosses the bounds of a
 * part.
 */
export type ReadPoints = (range: Range) => Promise<readonly Point[] | undefined>;

interface QueryCost {
  /** Bytes that the query read; 0 if the cache does not help. */
  readonly bytes: number;
  readonly atMs: number;
}

interface CachedBlock {
  readonly records: number;
  readonly atMs: number;
  readonly points: readonly Point[];
}

const hourNs = 3_600_000_000_000n;
const minBlocks = 3;
/** Maximum number of gaps to read separately. With more gaps, one statement that reads all blocks again is faster. */
const maxGaps = 4;
/** Queries that read less are fast enough. */
const minBytes = 64 * 1024 * 1024;
/**
 * Counting records reads their times and a byte of the tenant's column. The cache helps if the query reads several
 * times as much.
 */
const bytesPerCountedRecord = 9;
const minSavingFactor = 4;
/**
 * An erased record and a new one in the same hour leave the count unchanged, so entries expire after this time, however
 * often they are used.
 */
const cacheTtlMs = 900_000;

/** Cache of query costs and of the points of blocks. */
export class PointsCache {
  readonly #nowMs: () => number;
  readonly #costs = new RowCache<QueryCost>(10_000);
  readonly #blocks = new RowCache<CachedBlock>(200_000, ({ points }) => points.length + 1);

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Records the bytes of a query that ran without the cache. */
  recordCost(columns: TenantColumns, { key, signal }: PointsQuery, bytes: number): void {
    const costs = this.#costs.forTenant(columns);
    // In tables whose rows are replaced by newer ones, the number of rows does not reveal a change.
    if (getSignalRecords(signal).hasReplacedRows !== true && bytes >= minBytes && !this.#isValid(costs.get(key)))
      costs.set(key, { bytes, atMs: this.#nowMs() });
  }

  /** Returns all points of the range, unordered; `undefined` if the query should run without the cache. */
  async getPoints(columns: TenantColumns, query: PointsQuery, read: ReadPoints): Promise<Point[] | undefined> {
    const costs = this.#costs.forTenant(columns);
    const cost = costs.get(query.key);
    if (cost === undefined || cost.bytes === 0 || !this.#isValid(cost)) return undefined;
    const blocks = listBlocks(query.range, computeBlockLengthNs(query.stepNs));
    if (blocks.length < minBlocks) return undefined;
    // Counted before the records are read: a block that receives records in between has a different count next time.
    const records = await countRecords(columns, query, blocks);
    const isWorthwhile = records.all * bytesPerCountedRecord * minSavingFactor <= cost.bytes;
    const points = isWorthwhile
      ? await this.#readPoints(columns, query, { blocks, getRecordCount: records.getCount }, read)
      : undefined;
    if (points === undefined) costs.set(query.key, { bytes: 0, atMs: this.#nowMs() });
    return points;
  }

  #isValid(entry: { readonly atMs: number } | undefined): boolean {
    return entry !== undefined && this.#nowMs() - entry.atMs < cacheTtlMs;
  }

  async #readPoints(
    columns: TenantColumns,
    { range, stepNs, key, maxGroups }: PointsQuery,
    {
      blocks,
      getRecordCount,
    }: { readonly blocks: readonly Block[]; readonly getRecordCount: (block: Block) => number },
    read: ReadPoints,
  ): Promise<Point[] | undefined> {
    const blockCache = this.#blocks.forTenant(columns);
    const toBlockKey = ({ index }: Block): string => `${index} ${stepNs} ${key}`;
    const atMs = this.#nowMs();
    const validPoints = new Map<Block, readonly Point[]>();
    for (const block of blocks) {
      const cachedBlock = blockCache.get(toBlockKey(block));
      if (cachedBlock?.records === getRecordCount(block) && this.#isValid(cachedBlock))
        validPoints.set(block, cachedBlock.points);
    }
    if (findGaps(range, [...validPoints.keys()]).length > maxGaps) validPoints.clear();
    const pointLists = await Promise.all(findGaps(range, [...validPoints.keys()]).map(read));
    const readPoints: Point[] = [];
    for (const part of pointLists) {
      if (part === undefined) return undefined;
      readPoints.push(...part);
    }
    const length = computeBlockLengthNs(stepNs);
    const pointsByBlock = Map.groupBy(readPoints, ({ step }) => (step * stepNs) / length);
    for (const block of blocks)
      if (!validPoints.has(block))
        blockCache.set(toBlockKey(block), {
          records: getRecordCount(block),
          atMs,
          points: pointsByBlock.get(block.index) ?? [],
        });
    const points = [...readPoints, ...[...validPoints.values()].flat()];
    return new Set(points.map(({ group }) => group)).size > maxGroups ? undefined : points;
  }
}

/** A part of the range with a fixed length of about an hour, including both ends. */
interface Block extends Range {
  /** Number since the epoch. */
  readonly index: bigint;
}

/** Returns the smallest multiple of the step that is an hour or more. */
const computeBlockLengthNs = (stepNs: bigint): bigint => stepNs * ((hourNs + stepNs - 1n) / stepNs);

/** Returns the blocks that are entirely within the range, in order. */
const listBlocks = ({ from, to }: Range, length: bigint): Block[] => {
  if (from < 0n) return [];
  const blocks: Block[] = [];
  for (let index = (from + length - 1n) / length; (index + 1n) * length <= to + 1n; index++)
    blocks.push({ index, from: index * length, to: (index + 1n) * length - 1n });
  return blocks;
};

/** Returns the gaps before, between and after blocks. */
const findGaps = ({ from, to }: Range, blocks: readonly Block[]): Range[] => {
  const gaps: Range[] = [];
  let next = from;
  for (const block of blocks) {
    if (next < block.from) gaps.push({ from: next, to: block.from - 1n });
    next = block.to + 1n;
  }
  if (next <= to) gaps.push({ from: next, to });
  return gaps;
};

/** Counts the records of the tenant in all blocks, and in each block. */
const countRecords = async (
  columns: TenantColumns,
  { signal, stepNs }: PointsQuery,
  blocks: readonly Block[],
): Promise<{ readonly all: number; readonly getCount: (block: Block) => number }> => {
  const { table } = getSignalRecords(signal);
  const range = { from: blocks[0]?.from ?? 0n, to: blocks.at(-1)?.to ?? 0n };
  const rows = await columns.query<{ piece: string; records: string }>(
    `SELECT intDiv(toUnixTimestamp64Nano(timestamp), {length:Int64}) AS piece, count() AS records FROM ${table}
    WHERE tenant_id = {tenant:String} AND ${buildRangeCondition(signal)} GROUP BY piece`,
    { ...buildRangeParameters(range), length: String(computeBlockLengthNs(stepNs)) },
    { runsOnEachServer: true },
  );
  const counts = new Map<string, number>();
  for (const { piece, records } of rows) counts.set(piece, (counts.get(piece) ?? 0) + Number(records));
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { all, getCount: ({ index }) => counts.get(String(index)) ?? 0 };
};
