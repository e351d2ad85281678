/** Reads the points of selected series in blocks, which a worker processes one after the other. */
import type { TenantColumns } from '../../../schemas/ports/columns.ts';
import { PromqlError } from '../errors.ts';
import type { Condition } from './matcher-conditions.ts';
import type { Window } from './scope.ts';
import type { PointTable, SelectedSeries, SeriesSource } from './select-series.ts';

/** Series with their points in ClickHouse's Native format (`native-blocks.ts`). */
export interface PointBlock {
  readonly series: readonly SelectedSeries[];
  readonly blocks: Readonly<Partial<Record<PointTable, Uint8Array>>>;
}

/**
 * Maximum number of points in one statement. A sample takes 24 bytes in a block, and two blocks are in memory at a
 * time. Larger blocks are slower: for each result above about 16 MB, the system must allocate new memory.
 */
const maxPointsPerBlock = { samples: 400_000, histograms: 60_000, summaries: 300_000 } as const;
/** Maximum number of ids in one statement: ClickHouse compares all of them with each granule. */
const maxSeriesPerBlock = 10_000;
/** Interval assumed between points until it is measured; few series have a shorter one. */
const defaultIntervalMs = 5_000;
/** Maximum number of points that one selector reads. */
const maxPoints = 150_000_000;
/** Maximum clock skew of senders: points are searched from a day before their time of reception on. */
const maxClockSkewMs = 86_400_000;
/** Additional time to read before the range: the previous native histogram shows whether the counter was reset. */
const histogramLookbackMs = 300_000;
const hourMs = 3_600_000;
/** Latest time that the engine supports. */
const latestMs = 9_223_372_036_000;

const histogramColumns = `flags, toFloat64(histograms.count) AS total, ifNull(histograms.sum, nan) AS sum_of, toUInt8(isNotNull(histograms.sum)) AS has_sum,
  bounds, counts, scale, toFloat64(histograms.zero_count) AS zeros, histograms.zero_threshold AS threshold, positive_offset, positive_counts, negative_offset, negative_counts, reset_hint, exact_counts, positive_spans, negative_spans`;
const valueColumns: Readonly<Record<PointTable, string>> = {
  samples: 'samples.value AS value',
  histograms: histogramColumns,
  summaries: 'flags, toFloat64(summaries.count) AS total, summaries.sum AS sum_of, quantiles, quantile_values',
};

const startColumn = ', toFloat64(toUnixTimestamp64Milli(start_timestamp)) AS start';

/**
 * Returns the start of the read. Sums of deltas begin with the hour, and also depend on whether the previous hour has
 * points.
 */
export const computeReadStartMs = (fromMs: number, isDelta: boolean): number =>
  isDelta ? (Math.ceil(fromMs / hourMs) - 2) * hourMs : fromMs;

/**
 * Returns the clauses that select points of metrics within a window. More conditions may follow. ClickHouse plans an
 * explicit `PREWHERE` faster than a `WHERE`, which it converts. `PREWHERE` does not work for a condition with a
 * subquery (`hasSubquery`).
 */
export const buildPointsCondition = (
  table: PointTable,
  {
    window: { fromMs, toMs },
    metrics,
    clause = 'WHERE',
  }: { readonly window: Window; readonly metrics: readonly string[]; readonly clause?: 'WHERE' | 'PREWHERE' },
): Condition => ({
  // Parts are excluded by their day of reception without reading their rows.
  sql: `FROM ${table} ${clause} tenant_id = {tenant:String} AND metric IN {metrics:Array(String)} AND _partition_id >= {day:String}
      AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND timestamp < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`,
  parameters: {
    metrics,
    from: String(Math.min(latestMs, Math.max(0, Math.floor(fromMs) + 1))),
    to: String(Math.min(latestMs, Math.max(0, Math.floor(toMs) + 1))),
    day: toPartitionName(Math.min(latestMs, Math.max(0, fromMs - maxClockSkewMs))),
  },
});

/** Returns the statement that reads points of metrics within a window. A condition may follow, then `storageOrder`. */
export const buildPointsStatement = (
  table: PointTable,
  {
    needsStartTimes = false,
    ...where
  }: Parameters<typeof buildPointsCondition>[1] & { readonly needsStartTimes?: boolean },
): Condition => {
  const { sql, parameters } = buildPointsCondition(table, where);
  return {
    sql: `SELECT series_id AS id, toFloat64(toUnixTimestamp64Milli(timestamp)) AS time, ${valueColumns[table]}${needsStartTimes ? startColumn : ''}
    ${sql}`,
    parameters,
  };
};

/** Storage order of points. */
export const storageOrder = 'ORDER BY metric, series_id, timestamp';

/** Returns the name of a partition. */
const toPartitionName = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10).replaceAll('-', '');

const selectSources = (selectedSeries: readonly SelectedSeries[], table: PointTable): SeriesSource[] =>
  selectedSeries.flatMap(({ sources }) => sources).filter(({ tables }) => tables.includes(table));

/**
 * Compares series by the storage order of their points, so that each block reads one range of the table and nothing is
 * read twice.
 */
const compareStorageOrder = (left: SelectedSeries, right: SelectedSeries): number => {
  const [{ metric, id }, rightSource] = [left.sources[0] as SeriesSource, right.sources[0] as SeriesSource];
  if (metric !== rightSource.metric) return metric < rightSource.metric ? -1 : 1;
  return id.length - rightSource.id.length || (id < rightSource.id ? -1 : 1);
};

/**
 * Reads the series of a selector in blocks; the next block is read while the current one is used. The given order of
 * the series is preserved if they fit into one block; otherwise they are in storage order.
 */
export class PointBlockReader {
  readonly #columns: TenantColumns;
  readonly #window: Window;
  readonly #selectedSeries: readonly SelectedSeries[];
  readonly #isDelta: boolean;
  readonly #needsStartTimes: boolean;
  #nextIndex = 0;
  #pointsRead = 0;
  #pointsPerSeries: number;
  #next: Promise<PointBlock | undefined> | undefined;
  /** Largest average number of points per series in a block. */
  maxPointsPerSeries = 0;

  /**
   * With `needsStartTimes`, each point has the start time of its counter. `expectedPointsPerSeries` is omitted if
   * unknown.
   */
  constructor(
    columns: TenantColumns,
    window: Window,
    selectedSeries: readonly SelectedSeries[],
    {
      needsStartTimes = false,
      expectedPointsPerSeries,
    }: { readonly needsStartTimes?: boolean; readonly expectedPointsPerSeries?: number | undefined } = {},
  ) {
    this.#needsStartTimes = needsStartTimes;
    this.#columns = columns;
    this.#window = window;
    this.#isDelta = selectedSeries.some(({ sources }) => sources.some(({ isDelta }) => isDelta));
    this.#pointsPerSeries =
      expectedPointsPerSeries ??
      Math.max(1, (window.toMs - computeReadStartMs(window.fromMs, this.#isDelta)) / defaultIntervalMs);
    this.#selectedSeries =
      selectedSeries.length > this.#countFitting(selectedSeries)
        ? selectedSeries.toSorted(compareStorageOrder)
        : selectedSeries;
  }

  /** Returns the next block; `undefined` after the last one. */
  async next(): Promise<PointBlock | undefined> {
    const block = await (this.#next ?? this.#readNext());
    this.#next = block === undefined ? undefined : this.#readNext();
    // Prevents an unhandled rejection; the caller that requests the block receives the error.
    this.#next?.catch(() => undefined);
    return block;
  }

  async #readNext(): Promise<PointBlock | undefined> {
    const series = this.#takeNextSeries();
    if (series.length === 0) return undefined;
    const tables = (['samples', 'histograms', 'summaries'] as const).filter(
      (table) => selectSources(series, table).length > 0,
    );
    const blocks: Partial<Record<PointTable, Uint8Array>> = {};
    for (const table of tables) blocks[table] = await this.#readTable(table, series);
    return { series, blocks };
  }

  /** Returns how many of the series fit into one block, from an index on. */
  #countFitting(selectedSeries: readonly SelectedSeries[], from = 0): number {
    let count = 0;
    for (let usedShare = 0; usedShare < 1 && count < maxSeriesPerBlock && from + count < selectedSeries.length; count++)
      for (const { tables } of (selectedSeries[from + count] as SelectedSeries).sources)
        for (const table of tables) usedShare += this.#pointsPerSeries / maxPointsPerBlock[table];
    return count;
  }

  #takeNextSeries(): readonly SelectedSeries[] {
    const from = this.#nextIndex;
    this.#nextIndex += this.#countFitting(this.#selectedSeries, from);
    return this.#selectedSeries.slice(from, this.#nextIndex);
  }

  async #readTable(table: PointTable, selectedSeries: readonly SelectedSeries[]): Promise<Uint8Array> {
    const sources = selectSources(selectedSeries, table);
    const isNative = table === 'histograms' && sources.some(({ part }) => part === 'native' || part === 'value');
    const from = computeReadStartMs(this.#window.fromMs, this.#isDelta) - (isNative ? histogramLookbackMs : 0);
    const ids = [...new Set(sources.map(({ id }) => id))];
    const { sql, parameters } = buildPointsStatement(table, {
      window: { fromMs: from, toMs: this.#window.toMs },
      needsStartTimes: this.#needsStartTimes,
      clause: 'PREWHERE',
      metrics: [...new Set(sources.map(({ metric }) => metric))],
    });
    const bytes = await this.#columns.queryNative(
      `${sql} AND series_id IN {ids:Array(UInt64)} ${storageOrder}`,
      { ...parameters, ids },
      { maxResultRows: maxPointsPerBlock[table] * 8 },
    );
    this.#countPoints(table, bytes, ids.length);
    return bytes;
  }

  #countPoints(table: PointTable, bytes: Uint8Array, series: number): void {
    if (table !== 'samples') return;
    const points = bytes.length / (this.#needsStartTimes ? 32 : 24);
    this.#pointsRead += points;
    if (this.#pointsRead > maxPoints) throw createTooManySamplesError();
    this.maxPointsPerSeries = Math.max(this.maxPointsPerSeries, points / series);
    this.#pointsPerSeries = Math.max(1, (points / series) * 1.2, this.#pointsPerSeries / 20);
  }
}

/** Returns the error with Prometheus' text. */
export const createTooManySamplesError = (): PromqlError =>
  new PromqlError('execution', 'query processing would load too many samples into memory in query execution');
