import { z } from 'zod';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { Range } from '../range.ts';
import { formatTime } from '../time.ts';
import { parseClickHouseNumber } from './cells.ts';

/** NaN and infinities are strings, because JSON cannot represent them. */
export const Value = z.union([z.number(), z.string()]);
/** Counts above 2^53 are strings. Native histograms may have fractional counts. */
const Count = z.union([z.number(), z.string()]);
const resetHints = ['reset', 'not-reset', 'gauge'] as const;
const Buckets = z.strictObject({ offset: z.int(), bucketCounts: z.array(Count) });

/** A data point in results. */
export const Point = z.strictObject({
  timestamp: z.string(),
  startTimestamp: z.string().nullable().describe('Start of the counting period, if the sender specified one'),
  flags: z.int().describe('OTLP flags; 1: no recorded value'),
  value: Value.optional().describe('For a gauge, sum or sample; an integer beyond 2^53 is a string'),
  count: Count.optional().describe('For a histogram or summary'),
  sum: Value.nullable().optional(),
  min: Value.nullable().optional(),
  max: Value.nullable().optional(),
  bounds: z.array(Value).optional().describe('Upper bounds of an explicit histogram’s buckets'),
  bucketCounts: z.array(Count).optional(),
  exponential: z
    .strictObject({
      scale: z.int(),
      zeroCount: Count,
      zeroThreshold: Value,
      positive: Buckets,
      negative: Buckets,
    })
    .optional()
    .describe('Buckets of an exponential histogram, as in OTLP'),
  resetHint: z
    .enum(resetHints)
    .optional()
    .describe("For a native histogram of remote write, its sender's hint about a counter reset before it"),
  quantiles: z.array(z.strictObject({ quantile: Value, value: Value })).optional(),
});
export type Point = z.output<typeof Point>;

/** A row of any of the tables; columns of other tables are absent. */
export interface PointRow {
  readonly id: string;
  readonly time: string;
  readonly start: string;
  readonly flags: number;
  readonly value?: string;
  /** Digits of an integer that `value` cannot represent, otherwise 0. */
  readonly integer?: string;
  readonly count?: string;
  readonly sum?: string | null;
  readonly min?: string | null;
  readonly max?: string | null;
  readonly bounds?: readonly string[];
  readonly counts?: readonly string[];
  readonly scale?: number;
  readonly zero_count?: string;
  readonly zero_threshold?: string;
  readonly positive_offset?: number;
  readonly positive?: readonly string[];
  readonly negative_offset?: number;
  readonly negative?: readonly string[];
  /** 0 for none, otherwise the index of the hint, from 1. */
  readonly reset_hint?: number;
  readonly quantiles?: readonly string[];
  readonly quantile_values?: readonly string[];
}

const textArraySql = (table: string, column: string): string => `arrayMap(x -> toString(x), ${table}.${column})`;
/**
 * Returns SQL of a histogram's count: the exact one at a position of `exact_counts` if there is one, otherwise the
 * column.
 */
const countSql = (column: string, position: number): string =>
  `if(empty(exact_counts), toString(histograms.${column}), toString(exact_counts[${position}]))`;
/**
 * Returns SQL of the counts of buckets: the exact ones from a position of `exact_counts` on if there are any, otherwise
 * the column.
 */
const countsSql = (column: string, from: string): string =>
  `if(empty(exact_counts), ${textArraySql('histograms', column)}, arrayMap(x -> toString(x), arrayResize(arraySlice(exact_counts, ${from}), length(histograms.${column}))))`;

/** Numbers are read as text, because JSON has neither NaN nor 64-bit integers. */
const pointColumns = {
  samples: 'toString(samples.value) AS value, toString(samples.integer) AS integer',
  histograms: `${countSql('count', 1)} AS count, toString(histograms.sum) AS sum, toString(histograms.min) AS min, toString(histograms.max) AS max,
    ${textArraySql('histograms', 'bounds')} AS bounds, ${countsSql('counts', '3')} AS counts, scale, ${countSql('zero_count', 2)} AS zero_count,
    toString(histograms.zero_threshold) AS zero_threshold, positive_offset, ${countsSql('positive_counts', '3')} AS positive,
    negative_offset, ${countsSql('negative_counts', '3 + length(positive_counts)')} AS negative, reset_hint`,
  summaries: `toString(summaries.count) AS count, toString(summaries.sum) AS sum, ${textArraySql('summaries', 'quantiles')} AS quantiles,
    ${textArraySql('summaries', 'quantile_values')} AS quantile_values`,
} as const;

/** Query for the newest points of these series in the range. */
export interface PointQuery {
  readonly metric: string;
  readonly range: Range;
  readonly ids: readonly string[];
  readonly maxPerSeries: number;
  readonly maxTotal: number;
}

export const buildPointCondition = ({ ids }: Pick<PointQuery, 'ids'>): string =>
  `tenant_id = {tenant:String} AND metric = {metric:String} AND series_id IN (${ids.join(', ')})
    AND timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')`;
export const buildPointOrder = ({ maxPerSeries, maxTotal }: PointQuery): string =>
  `ORDER BY series_id, timestamp DESC LIMIT ${maxPerSeries} BY series_id LIMIT ${maxTotal}`;
export const toPointParameters = ({ metric, range: { from, to } }: Pick<PointQuery, 'metric' | 'range'>) => ({
  metric,
  from: String(from),
  to: String(to),
});

/** Groups rows by the ids of their series, in order. */
export const groupBySeries = <Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row[]> => {
  const grouped = new Map<string, Row[]>();
  for (const row of rows) {
    const seriesRows = grouped.get(row.id);
    if (seriesRows === undefined) grouped.set(row.id, [row]);
    else seriesRows.push(row);
  }
  return grouped;
};

/** Returns rows of points by the ids of their series, newest first. */
export const readPoints = async (columns: TenantColumns, query: PointQuery): Promise<Map<string, PointRow[]>> => {
  if (query.ids.length === 0) return new Map();
  const pages = await Promise.all(
    Object.entries(pointColumns).map(([table, selected]) =>
      columns.query<PointRow>(
        `SELECT toString(series_id) AS id, toString(toUnixTimestamp64Nano(timestamp)) AS time,
          toString(toUnixTimestamp64Nano(start_timestamp)) AS start, flags, ${selected}
        FROM ${table} WHERE ${buildPointCondition(query)} ${buildPointOrder(query)}`,
        toPointParameters(query),
      ),
    ),
  );
  return groupBySeries(pages.flat());
};

/** Parses a number; NaN and infinities, which JSON cannot represent, are returned as text. */
export const parseNumberOrText = (text: string): number | string => {
  const value = parseClickHouseNumber(text);
  return Number.isFinite(value) ? value : String(value);
};
/** Returns counts beyond 2^53 as digits. */
const parseCount = (text: string): number | string =>
  /^\d{16,}$/.test(text) && !Number.isSafeInteger(Number(text)) ? text : parseNumberOrText(text);
const parseNullable = (text: string | null | undefined): number | string | null =>
  text === null || text === undefined ? null : parseNumberOrText(text);

const toBuckets = (offset: number | undefined, counts: readonly string[] | undefined) => ({
  offset: offset ?? 0,
  bucketCounts: (counts ?? []).map(parseCount),
});

/** Converts a histogram to exponential or explicit buckets; native histograms with custom bounds have explicit ones. */
const toHistogram = (row: PointRow, isExponential: boolean): Partial<Point> => ({
  min: parseNullable(row.min),
  max: parseNullable(row.max),
  ...(row.reset_hint !== undefined && row.reset_hint > 0 && { resetHint: resetHints[row.reset_hint - 1] }),
  ...(isExponential && row.bounds?.length === 0 && row.counts?.length === 0
    ? {
        exponential: {
          scale: row.scale ?? 0,
          zeroCount: parseCount(row.zero_count ?? '0'),
          zeroThreshold: parseNumberOrText(row.zero_threshold ?? '0'),
          positive: toBuckets(row.positive_offset, row.positive),
          negative: toBuckets(row.negative_offset, row.negative),
        },
      }
    : { bounds: (row.bounds ?? []).map(parseNumberOrText), bucketCounts: (row.counts ?? []).map(parseCount) }),
});

/** Converts a row to a point; `isExponential` depends on the kind of its series. */
export const toPoint = (row: PointRow, isExponential: boolean): Point => ({
  timestamp: formatTime(BigInt(row.time)),
  startTimestamp: row.start === '0' ? null : formatTime(BigInt(row.start)),
  flags: row.flags,
  ...(row.value !== undefined && { value: row.integer === '0' ? parseNumberOrText(row.value) : (row.integer ?? '') }),
  ...(row.count !== undefined && { count: parseCount(row.count), sum: parseNullable(row.sum) }),
  ...(row.bounds !== undefined && toHistogram(row, isExponential)),
  ...(row.quantiles !== undefined && {
    quantiles: row.quantiles.map((quantile, quantileIndex) => ({
      quantile: parseNumberOrText(quantile),
      value: parseNumberOrText(row.quantile_values?.[quantileIndex] ?? 'nan'),
    })),
  }),
});
