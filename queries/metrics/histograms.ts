/**
 * Buckets of histograms by group and window. ClickHouse adds histograms with equal layouts; this module adds those with
 * different layouts.
 */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { parseClickHouseNumber } from './cells.ts';
import { increaseSql, pairsSql, resetSql } from './numbers.ts';
import {
  addExplicit,
  addExponential,
  type Bucket,
  computeQuantile,
  type ExplicitBuckets,
  type ExponentialBuckets,
  type Extremes,
  mergeLayouts,
  toExplicitBuckets,
  toExponentialBuckets,
} from './quantile.ts';
import { buildWindowSql, type PointSource, type Windows } from './windows.ts';

const selectedColumns = {
  c: 'histograms.count',
  zc: 'histograms.zero_count',
  zt: 'histograms.zero_threshold',
  lo: 'histograms.min',
  hi: 'histograms.max',
  bs: 'histograms.bounds',
  bc: 'histograms.counts',
  sc: 'histograms.scale',
  po: 'histograms.positive_offset',
  pc: 'histograms.positive_counts',
  no: 'histograms.negative_offset',
  nc: 'histograms.negative_counts',
} as const;

/** Returns SQL of whether a bucket of one sign decreased, if both points have the same scale. */
const bucketDecreasedSql = (offset: string, counts: string): string =>
  `(notEmpty(q${counts}) AND if(q${offset} >= ${offset},
    arrayExists((now, before) -> now < before, ${counts}, arrayResize(arrayConcat(arrayWithConstant(least(toUInt64(greatest(q${offset} - ${offset}, 0)), 65536), toUInt64(0)), q${counts}), length(${counts}))),
    q${counts}[1] > 0))`;

/**
 * SQL of whether a counter was reset. Different bounds, a finer scale or a narrower zero bucket also indicate a new
 * histogram.
 */
const resetConditionSql = `(c < qc OR bs != qbs OR sc > qsc OR zt < qzt
  OR arrayExists((now, before) -> now < before, bc, arrayResize(qbc, length(bc)))
  OR (sc = qsc AND (${bucketDecreasedSql('po', 'pc')} OR ${bucketDecreasedSql('no', 'nc')})))`;

const scaledCountsSql = (counts: string, sign = ''): string => `arrayMap(x -> ${sign}toFloat64(x) * part, ${counts})`;
const emptyArraySql = 'emptyArrayFloat64()';

/**
 * Returns SQL of the bucket indexes of one sign, with the previous point converted to the current scale, and of their
 * increases.
 */
const sideIncreasesSql = (offset: string, counts: string): readonly [indexes: string, values: string] => [
  `arrayConcat(arrayMap(x -> toInt32(${offset} + x - 1), arrayEnumerate(${counts})),
    if(is_new, emptyArrayInt32(), arrayMap(x -> toInt32(floor((q${offset} + x - 1) / exp2(qsc - sc))), arrayEnumerate(q${counts}))))`,
  `arrayConcat(${scaledCountsSql(counts)}, if(is_new, ${emptyArraySql}, ${scaledCountsSql(`q${counts}`, '-')}))`,
];

/** Returns SQL of bucket increases, by `key` (a group or a series) and window. */
const bucketIncreasesSql = (
  source: PointSource,
  windows: Windows,
  temporality: 'cumulative' | 'delta',
  key: string,
): string => {
  const { indexOf, isLongerSql, isInRangeSql, elapsedSharesSql } = buildWindowSql(windows);
  const { isKnown, since } = increaseSql(windows, resetConditionSql);
  const steps =
    temporality === 'delta'
      ? { known: 't != qt', since: 'if(st > 0 AND st < t, st, t)', isNewCounter: 'true' }
      : { known: isKnown, since, isNewCounter: `(qt = 0 OR ${resetSql(resetConditionSql)})` };
  const [positive, positiveValues] = sideIncreasesSql('po', 'pc');
  const [negative, negativeValues] = sideIncreasesSql('no', 'nc');
  return `SELECT k, w, bs AS bounds, sc AS scale, zt AS threshold,
      sumForEach(more) AS counts, sum(zeros) AS zero, sumMap(positives, positive_values) AS positive, sumMap(negatives, negative_values) AS negative,
      if(countIf(lo IS NULL) > 0, NULL, min(lo)) AS least, if(countIf(hi IS NULL) > 0, NULL, max(hi)) AS most, count() AS points FROM (
    SELECT ${key} AS k, w, bs, sc, zt, lo, hi,
      (toFloat64(zc) - if(is_new, 0, toFloat64(qzc))) * part AS zeros,
      if(is_new, ${scaledCountsSql('bc')}, arrayMap((x, y) -> (toFloat64(x) - y) * part, bc, arrayResize(qbc, length(bc)))) AS more,
      ${positive} AS positives, ${positiveValues} AS positive_values, ${negative} AS negatives, ${negativeValues} AS negative_values
    FROM (SELECT *, arrayJoin(${elapsedSharesSql('t0', 't', `if(${isLongerSql('t0', 't')}, -1, ${indexOf('t')})`)}) AS share, share.1 AS w, share.3 - share.2 AS part FROM (
      SELECT *, ${steps.since} AS t0, ${steps.isNewCounter} AS is_new FROM (${pairsSql(source, windows, selectedColumns)}) WHERE ${isInRangeSql('t')} AND ${steps.known})))
    GROUP BY k, w, bs, sc, zt`;
};

type SideRow = readonly [indexes: readonly number[], values: readonly (number | string)[]];
interface Row {
  readonly k: string;
  readonly w: string;
  readonly bounds: readonly (number | string)[];
  readonly scale: number;
  readonly threshold: number;
  readonly counts: readonly (number | string)[];
  readonly zero: number | string;
  readonly positive: SideRow;
  readonly negative: SideRow;
  readonly least: number | string | null;
  readonly most: number | string | null;
  readonly points: string;
}

/** A histogram with several layouts. */
interface MixedHistogram {
  readonly explicit: Map<string, ExplicitBuckets>;
  exponential: ExponentialBuckets | undefined;
  min: number;
  max: number;
}

/** Parses a minimum or maximum. If one of several histograms does not know it, the combined one does not either. */
const parseExtreme = (value: number | string | null, unknownValue: number): number =>
  value === null ? unknownValue : parseClickHouseNumber(value);

/** Histograms of groups by window, combined from several statements. */
export class HistogramCells {
  readonly #cells = new Map<string, MixedHistogram>();
  /** Points read. */
  points = 0;

  /** Reads the histograms of series; each belongs to the group at its index in `members`. */
  async add(
    columns: TenantColumns,
    { source, windows, temporality }: { source: PointSource; windows: Windows; temporality: 'cumulative' | 'delta' },
    { members, groups }: { readonly members: readonly string[]; readonly groups: readonly number[] },
  ): Promise<void> {
    const key = 'transform(series_id, {members:Array(UInt64)}, {groups:Array(UInt32)}, toUInt32(0))';
    const rows = await columns.query<Row>(
      bucketIncreasesSql(source, windows, temporality, key),
      { metrics: source.metrics, members, groups },
      { maxResultRows: 2_000_000 },
    );
    for (const row of rows) this.#add(row);
  }

  #add(row: Row): void {
    this.points += Number(row.points);
    const key = `${row.k}/${row.w}`;
    const existingCell = this.#cells.get(key);
    const cell = existingCell ?? {
      explicit: new Map(),
      exponential: undefined,
      min: Number.POSITIVE_INFINITY,
      max: Number.NEGATIVE_INFINITY,
    };
    if (existingCell === undefined) this.#cells.set(key, cell);
    cell.min = Math.min(cell.min, parseExtreme(row.least, Number.NEGATIVE_INFINITY));
    cell.max = Math.max(cell.max, parseExtreme(row.most, Number.POSITIVE_INFINITY));
    if (row.counts.length > 0) {
      const layout = row.bounds.join(' ');
      const rowBuckets = {
        bounds: row.bounds.map(parseClickHouseNumber),
        counts: row.counts.map(parseClickHouseNumber),
      };
      const sameLayoutBuckets = cell.explicit.get(layout);
      cell.explicit.set(
        layout,
        sameLayoutBuckets === undefined ? rowBuckets : addExplicit(sameLayoutBuckets, rowBuckets),
      );
      return;
    }
    const exponentialBucketsOfRow: ExponentialBuckets = {
      scale: row.scale,
      zeroThreshold: row.threshold,
      zeroCount: parseClickHouseNumber(row.zero),
      positive: toBucketMap(row.positive),
      negative: toBucketMap(row.negative),
    };
    cell.exponential = addExponential(
      cell.exponential ?? createEmptyBuckets(exponentialBucketsOfRow),
      exponentialBucketsOfRow,
    );
  }

  /** Returns the quantile of a group in a window; `undefined` if nothing was observed. */
  computeQuantileOf(group: number, window: number, computeQuantileOf: number): number | undefined {
    const cell = this.#cells.get(`${group}/${window}`);
    if (cell === undefined) return undefined;
    const layouts = toLayouts(cell, cell);
    const [singleLayout = []] = layouts;
    return computeQuantile(layouts.length === 1 ? singleLayout : mergeLayouts(layouts), computeQuantileOf, cell);
  }
}

const createEmptyBuckets = ({ scale, zeroThreshold }: ExponentialBuckets): ExponentialBuckets => ({
  scale,
  zeroThreshold,
  zeroCount: 0,
  positive: new Map(),
  negative: new Map(),
});

const toBucketMap = ([indexes, values]: SideRow): Map<number, number> =>
  new Map(indexes.map((index, valueIndex) => [index, parseClickHouseNumber(values[valueIndex] ?? 0)]));

const toLayouts = ({ explicit, exponential }: MixedHistogram, extremes: Extremes): Bucket[][] => [
  ...[...explicit.values()].map((buckets) => toExplicitBuckets(buckets, extremes)),
  ...(exponential === undefined ? [] : [toExponentialBuckets(exponential)]),
];
