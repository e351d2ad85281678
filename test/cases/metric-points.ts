/** Writes series and points to the metric tables as sinks do, and queries them. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { runMetric } from '../../queries/metrics/metric.ts';
import { type MetricLimits, metricLimits } from '../../queries/metrics/plan.ts';
import { MetricQuery } from '../../queries/query.ts';
import type { ResultData } from '../../queries/query-result.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { copyColumns } from '../services/columns-template.ts';

/** A time series; times are seconds since `epoch`. */
export interface TestSeries {
  readonly id: number;
  readonly metric: string;
  readonly kind?: string;
  readonly temporality?: 0 | 1 | 2;
  readonly monotonic?: boolean;
  readonly unit?: string;
  readonly source?: 'otlp' | 'prometheus';
  readonly project?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly resource?: number;
  readonly service?: string;
  readonly points?: readonly TestPoint[];
  readonly firstSeen?: number;
  readonly lastSeen?: number;
}

export interface TestPoint {
  readonly at: number;
  readonly start?: number;
  readonly isStale?: boolean;
  readonly value?: number;
  readonly integer?: bigint;
  readonly histogram?: TestHistogram;
}

export interface TestHistogram {
  readonly count: number;
  readonly sum?: number | null;
  readonly min?: number | null;
  readonly max?: number | null;
  readonly bounds?: readonly number[];
  readonly counts?: readonly number[];
  readonly scale?: number;
  readonly zeroCount?: number;
  readonly zeroThreshold?: number;
  readonly positive?: readonly [offset: number, counts: readonly number[]];
  readonly negative?: readonly [offset: number, counts: readonly number[]];
}

/** The origin of all times. */
export const epoch = Date.UTC(2026, 2, 1, 10);
export const nanoseconds = (seconds: number): bigint => BigInt(epoch) * 1_000_000n + BigInt(Math.round(seconds * 1e9));
/** As text in the column format, so that rows are parsed and not computed. */
const time = (seconds: number): string => `'${formatTime(nanoseconds(seconds)).slice(0, -1)}'`;
const milliseconds = (seconds: number): string =>
  `'${new Date(epoch + Math.round(seconds * 1000)).toISOString().slice(0, -1)}'`;
const number = (value: number): string => String(value).replace('Infinity', 'inf').toLowerCase();
const list = (values: readonly number[]): string => `[${values.join(', ')}]`;
const optional = (value: number | null | undefined): string =>
  value === null || value === undefined ? 'NULL' : number(value);

const seriesRow = (tenant: string, one: TestSeries): string => {
  const labels = Object.entries(one.labels ?? {});
  const texts = [tenant, one.project ?? 'shop', one.metric].map(quoteString).join(', ');
  const map = `{${labels.map(([key, value]) => `${quoteString(key)}: ${quoteString(value)}`).join(', ')}}`;
  return `(${texts}, ${one.id}, ${quoteString(one.kind ?? 'gauge')}, ${one.temporality ?? 0}, ${one.monotonic ?? false}, ${quoteString(one.unit ?? '')},
    'about it', ${quoteString(one.source ?? 'otlp')}, ${quoteString(one.service ?? 'cart')}, ${one.resource ?? 7}, ${map}, '${'s'.repeat(labels.length)}',
    ${milliseconds(one.firstSeen ?? 0)}, ${milliseconds(one.lastSeen ?? 86_400)})`;
};

const pointStart = (tenant: string, one: TestSeries, { at, start, isStale = false }: TestPoint): string =>
  `${quoteString(tenant)}, 'shop', ${milliseconds(at)}, 0, 0, ${quoteString(one.metric)}, ${one.id}, ${time(at)}, ${start === undefined ? "'1970-01-01 00:00:00'" : time(start)}, ${isStale ? 1 : 0}`;
const pointColumns =
  'tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp, start_timestamp, flags';

const histogramRow = ({
  count,
  sum,
  min,
  max,
  bounds = [],
  counts = [],
  scale = 0,
  zeroCount = 0,
  zeroThreshold = 0,
  positive = [0, []],
  negative = [0, []],
}: TestHistogram): string =>
  [
    count,
    optional(sum),
    optional(min),
    optional(max),
    list(bounds),
    list(counts),
    scale,
    zeroCount,
    zeroThreshold,
    positive[0],
    list(positive[1]),
    negative[0],
    list(negative[1]),
  ].join(', ');

export interface MetricTables {
  readonly columns: Columns;
  put(tenants: readonly { readonly tenant: string; readonly series: readonly TestSeries[] }[]): Promise<void>;
  /** The result over a range in seconds, both ends inclusive. */
  query(
    tenant: string,
    query: Partial<MetricQuery> & { readonly metric: string },
    range: readonly [from: number, to: number],
    stepSeconds?: number,
    limits?: Partial<MetricLimits>,
  ): Promise<ResultData>;
  close(): Promise<void>;
}

export const createReader = (columns: Columns, tenant: string): TenantReader => ({
  columns: columns.forTenant(tenant),
  plan: { name: 'everything', entitlements: ['metrics'], retentionDays: { logs: 30, metrics: 30, traces: 30 } },
  nowMs: epoch + 86_400_000,
});

export const openMetricTables = async (): Promise<MetricTables> => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-metrics-'));
  copyColumns(directory);
  const columns = await openChdbColumns({ directory });
  await migrate(columns, silentLog);
  const insert = async (table: string, names: string, rows: readonly string[]): Promise<void> => {
    for (let at = 0; at < rows.length; at += 20_000)
      await columns.execute(`INSERT INTO ${table} (${names}) VALUES ${rows.slice(at, at + 20_000).join(',\n')}`);
  };
  return {
    columns,
    async put(tenants) {
      const all = tenants.flatMap(({ tenant, series }) => series.map((one) => ({ tenant, one })));
      await insert(
        'series',
        'tenant_id, project_id, metric, series_id, kind, temporality, monotonic, unit, description, source, service, resource_id, attributes, attribute_types, first_seen, last_seen',
        all.map(({ tenant, one }) => seriesRow(tenant, one)),
      );
      const points = all.flatMap(({ tenant, one }) => (one.points ?? []).map((point) => ({ tenant, one, point })));
      await insert(
        'samples',
        `${pointColumns}, value, integer`,
        points
          .filter(({ point }) => point.histogram === undefined)
          .map(
            ({ tenant, one, point }) =>
              `(${pointStart(tenant, one, point)}, ${number(point.value ?? Number(point.integer ?? 0))}, ${point.integer ?? 0})`,
          ),
      );
      await insert(
        'histograms',
        `${pointColumns}, count, sum, min, max, bounds, counts, scale, zero_count, zero_threshold, positive_offset, positive_counts, negative_offset, negative_counts`,
        points.flatMap(({ tenant, one, point }) =>
          point.histogram === undefined
            ? []
            : [`(${pointStart(tenant, one, point)}, ${histogramRow(point.histogram)})`],
        ),
      );
    },
    query: (tenant, query, [from, to], stepSeconds, limits = {}) =>
      runMetric(
        MetricQuery.parse({ kind: 'metric', overTime: 'last', ...query }),
        createReader(columns, tenant),
        {
          range: { from: nanoseconds(from), to: nanoseconds(to) },
          ...(stepSeconds === undefined ? {} : { stepMs: stepSeconds * 1000 }),
        },
        { ...metricLimits, ...limits },
      ),
    async close() {
      await columns.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
