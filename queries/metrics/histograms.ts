/**
 * Buckets of histograms by group and window: added by the engine if their layouts are equal, and here if they differ.
 */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { numberOf } from './cells.ts';
import { increaseOf, isReset, pairs } from './numbers.ts';
import {
  addExplicit,
  addExponential,
  type Bucket,
  type ExplicitBuckets,
  type ExponentialBuckets,
  type Extremes,
  explicitBuckets,
  exponentialBuckets,
  mixedBuckets,
  quantileOf,
} from './quantile.ts';
import { type PointSource, type Windows, windowSql } from './windows.ts';

const selected = {
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

/** Returns SQL of whether a bucket of one sign decreased, for equal scales. */
const sideFell = (offset: string, counts: string): string =>
  `(notEmpty(q${counts}) AND if(q${offset} >= ${offset},
    arrayExists((now, before) -> now < before, ${counts}, arrayResize(arrayConcat(arrayWithConstant(least(toUInt64(greatest(q${offset} - ${offset}, 0)), 65536), toUInt64(0)), q${counts}), length(${counts}))),
    q${counts}[1] > 0))`;

/** Other bounds, a finer scale or a narrower zero bucket than before indicate a new histogram. */
const fell = `(c < qc OR bs != qbs OR sc > qsc OR zt < qzt
  OR arrayExists((now, before) -> now < before, bc, arrayResize(qbc, length(bc)))
  OR (sc = qsc AND (${sideFell('po', 'pc')} OR ${sideFell('no', 'nc')})))`;

const doubles = (counts: string, sign = ''): string => `arrayMap(x -> ${sign}toFloat64(x) * part, ${counts})`;
const none = 'emptyArrayFloat64()';

/**
 * Returns SQL of the bucket indexes of one sign, with the previous point converted to the current scale, and of their
 * increases.
 */
const side = (offset: string, counts: string): readonly [indexes: string, values: string] => [
  `arrayConcat(arrayMap(x -> toInt32(${offset} + x - 1), arrayEnumerate(${counts})),
    if(is_new, emptyArrayInt32(), arrayMap(x -> toInt32(floor((q${offset} + x - 1) / exp2(qsc - sc))), arrayEnumerate(q${counts}))))`,
  `arrayConcat(${doubles(counts)}, if(is_new, ${none}, ${doubles(`q${counts}`, '-')}))`,
];

/** Returns SQL of bucket increases, by `key` (a group or a series) and window. */
const grown = (source: PointSource, windows: Windows, temporality: 'cumulative' | 'delta', key: string): string => {
  const { indexOf, isLong, isWithin, shares } = windowSql(windows);
  const { isKnown, since } = increaseOf(windows, fell);
  const steps =
    temporality === 'delta'
      ? { known: 't != qt', since: 'if(st > 0 AND st < t, st, t)', isNewCounter: 'true' }
      : { known: isKnown, since, isNewCounter: `(qt = 0 OR ${isReset(fell)})` };
  const [positive, positiveValues] = side('po', 'pc');
  const [negative, negativeValues] = side('no', 'nc');
  return `SELECT k, w, bs AS bounds, sc AS scale, zt AS threshold,
      sumForEach(more) AS counts, sum(zeros) AS zero, sumMap(positives, positive_values) AS positive, sumMap(negatives, negative_values) AS negative,
      if(countIf(lo IS NULL) > 0, NULL, min(lo)) AS least, if(countIf(hi IS NULL) > 0, NULL, max(hi)) AS most, count() AS points FROM (
    SELECT ${key} AS k, w, bs, sc, zt, lo, hi,
      (toFloat64(zc) - if(is_new, 0, toFloat64(qzc))) * part AS zeros,
      if(is_new, ${doubles('bc')}, arrayMap((x, y) -> (toFloat64(x) - y) * part, bc, arrayResize(qbc, length(bc)))) AS more,
      ${positive} AS positives, ${positiveValues} AS positive_values, ${negative} AS negatives, ${negativeValues} AS negative_values
    FROM (SELECT *, arrayJoin(${shares('t0', 't', `if(${isLong('t0', 't')}, -1, ${indexOf('t')})`)}) AS share, share.1 AS w, share.2 AS part FROM (
      SELECT *, ${steps.since} AS t0, ${steps.isNewCounter} AS is_new FROM (${pairs(source, windows, selected)}) WHERE ${isWithin('t')} AND ${steps.known})))
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
interface Mixed {
  readonly explicit: Map<string, ExplicitBuckets>;
  exponential: ExponentialBuckets | undefined;
  min: number;
  max: number;
}

/** If one of several bounds is unknown, the result is unknown. */
const extreme = (value: number | string | null, unknown: number): number =>
  value === null ? unknown : numberOf(value);

/** Histograms of groups by window, combined from several statements. */
export class HistogramCells {
  readonly #cells = new Map<string, Mixed>();
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
      grown(source, windows, temporality, key),
      { metrics: source.metrics, members, groups },
      { maxResultRows: 2_000_000 },
    );
    for (const row of rows) this.#add(row);
  }

  #add(row: Row): void {
    this.points += Number(row.points);
    const key = `${row.k}/${row.w}`;
    const known = this.#cells.get(key);
    const cell = known ?? {
      explicit: new Map(),
      exponential: undefined,
      min: Number.POSITIVE_INFINITY,
      max: Number.NEGATIVE_INFINITY,
    };
    if (known === undefined) this.#cells.set(key, cell);
    cell.min = Math.min(cell.min, extreme(row.least, Number.NEGATIVE_INFINITY));
    cell.max = Math.max(cell.max, extreme(row.most, Number.POSITIVE_INFINITY));
    if (row.counts.length > 0) {
      const layout = row.bounds.join(' ');
      const own = { bounds: row.bounds.map(numberOf), counts: row.counts.map(numberOf) };
      const other = cell.explicit.get(layout);
      cell.explicit.set(layout, other === undefined ? own : addExplicit(other, own));
      return;
    }
    const own: ExponentialBuckets = {
      scale: row.scale,
      zeroThreshold: row.threshold,
      zeroCount: numberOf(row.zero),
      positive: sideOf(row.positive),
      negative: sideOf(row.negative),
    };
    cell.exponential = addExponential(cell.exponential ?? nothingIn(own), own);
  }

  /** Returns the quantile of a group in a window; `undefined` if nothing was observed. */
  quantile(group: number, window: number, quantile: number): number | undefined {
    const cell = this.#cells.get(`${group}/${window}`);
    if (cell === undefined) return undefined;
    const layouts = layoutsOf(cell, cell);
    const [only = []] = layouts;
    return quantileOf(layouts.length === 1 ? only : mixedBuckets(layouts), quantile, cell);
  }
}

const nothingIn = ({ scale, zeroThreshold }: ExponentialBuckets): ExponentialBuckets => ({
  scale,
  zeroThreshold,
  zeroCount: 0,
  positive: new Map(),
  negative: new Map(),
});

const sideOf = ([indexes, values]: SideRow): Map<number, number> =>
  new Map(indexes.map((index, at) => [index, numberOf(values[at] ?? 0)]));

const layoutsOf = ({ explicit, exponential }: Mixed, extremes: Extremes): Bucket[][] => [
  ...[...explicit.values()].map((buckets) => explicitBuckets(buckets, extremes)),
  ...(exponential === undefined ? [] : [exponentialBuckets(exponential)]),
];
