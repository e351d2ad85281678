import { z } from 'zod';
import { Attributes, attributesOf } from '../../../queries/attributes.ts';
import type { Range } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import type { TenantColumns } from '../../../schemas/ports/columns.ts';

/** NaN and the infinities are strings, since JSON lacks them. */
const Value = z.union([z.number(), z.string()]);
/** A string beyond 2^53. */
const Count = z.union([z.int(), z.string()]);
const Buckets = z.strictObject({ offset: z.int(), bucketCounts: z.array(Count) });

/** A data point as answers carry it. */
export const Point = z.strictObject({
  timestamp: z.string(),
  startTimestamp: z.string().nullable().describe('Start of the counting period, if the sender gave one'),
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
  quantiles: z.array(z.strictObject({ quantile: Value, value: Value })).optional(),
});
export type Point = z.output<typeof Point>;

/** A single measurement that stands for others. */
export const Exemplar = z.strictObject({
  timestamp: z.string(),
  value: Value,
  traceId: z.string().nullable(),
  spanId: z.string().nullable(),
  attributes: Attributes,
});
export type Exemplar = z.output<typeof Exemplar>;

/** A row of any of the tables; columns of the others are absent. */
export interface PointRow {
  readonly id: string;
  readonly time: string;
  readonly start: string;
  readonly flags: number;
  readonly value?: string;
  /** The digits of an integer that `value` cannot hold, else 0. */
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
  readonly quantiles?: readonly string[];
  readonly quantile_values?: readonly string[];
}

const texts = (table: string, column: string): string => `arrayMap(x -> toString(x), ${table}.${column})`;

/** Numbers are read as text, because JSON has neither NaN nor 64-bit integers. */
const pointTables = {
  samples: 'toString(samples.value) AS value, toString(samples.integer) AS integer',
  histograms: `toString(histograms.count) AS count, toString(histograms.sum) AS sum, toString(histograms.min) AS min, toString(histograms.max) AS max,
    ${texts('histograms', 'bounds')} AS bounds, ${texts('histograms', 'counts')} AS counts, scale, toString(histograms.zero_count) AS zero_count,
    toString(histograms.zero_threshold) AS zero_threshold, positive_offset, ${texts('histograms', 'positive_counts')} AS positive,
    negative_offset, ${texts('histograms', 'negative_counts')} AS negative`,
  summaries: `toString(summaries.count) AS count, toString(summaries.sum) AS sum, ${texts('summaries', 'quantiles')} AS quantiles,
    ${texts('summaries', 'quantile_values')} AS quantile_values`,
} as const;

/** Asks for the newest points of these series in the range. */
export interface PointQuery {
  readonly metric: string;
  readonly range: Range;
  readonly ids: readonly string[];
  readonly perSeries: number;
  readonly inAll: number;
}

const condition = ({ ids }: PointQuery): string =>
  `tenant_id = {tenant:String} AND metric = {metric:String} AND series_id IN (${ids.join(', ')})
    AND timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')`;
const order = ({ perSeries, inAll }: PointQuery): string =>
  `ORDER BY series_id, timestamp DESC LIMIT ${perSeries} BY series_id LIMIT ${inAll}`;
const parametersOf = ({ metric, range: { from, to } }: PointQuery) => ({ metric, from: String(from), to: String(to) });

const bySeries = <Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row[]> => {
  const grouped = new Map<string, Row[]>();
  for (const row of rows) {
    const own = grouped.get(row.id);
    if (own === undefined) grouped.set(row.id, [row]);
    else own.push(row);
  }
  return grouped;
};

/** Rows of points by the ids of their series, newest first. */
export const readPoints = async (columns: TenantColumns, query: PointQuery): Promise<Map<string, PointRow[]>> => {
  if (query.ids.length === 0) return new Map();
  const pages = await Promise.all(
    Object.entries(pointTables).map(([table, selected]) =>
      columns.query<PointRow>(
        `SELECT toString(series_id) AS id, toString(toUnixTimestamp64Nano(timestamp)) AS time,
          toString(toUnixTimestamp64Nano(start_timestamp)) AS start, flags, ${selected}
        FROM ${table} WHERE ${condition(query)} ${order(query)}`,
        parametersOf(query),
      ),
    ),
  );
  return bySeries(pages.flat());
};

interface ExemplarRow {
  readonly id: string;
  readonly time: string;
  readonly value: string;
  readonly trace: string;
  readonly span: string;
  readonly keys: readonly string[];
  readonly values: readonly string[];
  readonly types: string;
}

/** Exemplars by the ids of their series, newest first. */
export const readExemplars = async (columns: TenantColumns, query: PointQuery): Promise<Map<string, Exemplar[]>> => {
  if (query.ids.length === 0) return new Map();
  const rows = await columns.query<ExemplarRow>(
    `SELECT toString(series_id) AS id, toString(toUnixTimestamp64Nano(timestamp)) AS time, toString(exemplars.value) AS value,
      lower(hex(trace_id)) AS trace, lower(hex(span_id)) AS span, mapKeys(attributes) AS keys, mapValues(attributes) AS values, attribute_types AS types
    FROM exemplars WHERE ${condition(query)} ${order(query)}`,
    parametersOf(query),
  );
  return new Map([...bySeries(rows)].map(([id, own]) => [id, own.map(exemplarOf)]));
};

const idOf = (hex: string): string | null => (/^0*$/.test(hex) ? null : hex);

const exemplarOf = (row: ExemplarRow): Exemplar => ({
  timestamp: formatTime(BigInt(row.time)),
  value: numberOf(row.value),
  traceId: idOf(row.trace),
  spanId: idOf(row.span),
  attributes: attributesOf(row.keys, row.values, row.types),
});

const numberOf = (text: string): number | string => {
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  return text === 'inf' ? 'Infinity' : text === '-inf' ? '-Infinity' : 'NaN';
};
const integerOf = (text: string): number | string => (Number.isSafeInteger(Number(text)) ? Number(text) : text);
const nullable = (text: string | null | undefined): number | string | null =>
  text === null || text === undefined ? null : numberOf(text);

const bucketsOf = (offset: number | undefined, counts: readonly string[] | undefined) => ({
  offset: offset ?? 0,
  bucketCounts: (counts ?? []).map(integerOf),
});

/** A histogram has exponential or explicit buckets; native histograms with custom bounds have explicit ones. */
const histogramOf = (row: PointRow, isExponential: boolean): Partial<Point> => ({
  min: nullable(row.min),
  max: nullable(row.max),
  ...(isExponential && row.bounds?.length === 0 && row.counts?.length === 0
    ? {
        exponential: {
          scale: row.scale ?? 0,
          zeroCount: integerOf(row.zero_count ?? '0'),
          zeroThreshold: numberOf(row.zero_threshold ?? '0'),
          positive: bucketsOf(row.positive_offset, row.positive),
          negative: bucketsOf(row.negative_offset, row.negative),
        },
      }
    : { bounds: (row.bounds ?? []).map(numberOf), bucketCounts: (row.counts ?? []).map(integerOf) }),
});

/** A point from its row; `isExponential` by the kind of its series. */
export const pointOf = (row: PointRow, isExponential: boolean): Point => ({
  timestamp: formatTime(BigInt(row.time)),
  startTimestamp: row.start === '0' ? null : formatTime(BigInt(row.start)),
  flags: row.flags,
  ...(row.value !== undefined && { value: row.integer === '0' ? numberOf(row.value) : (row.integer ?? '') }),
  ...(row.count !== undefined && { count: integerOf(row.count), sum: nullable(row.sum) }),
  ...(row.bounds !== undefined && histogramOf(row, isExponential)),
  ...(row.quantiles !== undefined && {
    quantiles: row.quantiles.map((quantile, at) => ({
      quantile: numberOf(quantile),
      value: numberOf(row.quantile_values?.[at] ?? 'nan'),
    })),
  }),
});
