/** Web vitals of a range: percentiles of all samples, where the last report of a vital is its sample. */
import { z } from 'zod';
import type { Range } from '../../queries/range.ts';
import { rumReportsSource, rumVitalsSource } from '../../queries/signals/rum-events-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { type VitalName, vitalNames, vitalRatings, vitalThresholds } from '../../schemas/rum.ts';
import { buildPercentileSql, minRatedSamples } from './percentile.ts';
import { buildEventsCondition, type RumFilter } from './scope.ts';
import { rateVital } from './vitals.ts';

export const vitalGroups = ['page', 'device', 'country', 'browser', 'os', 'release', 'application'] as const;
export type VitalGroup = (typeof vitalGroups)[number];
const groupColumns = {
  page: 'page',
  device: 'device',
  country: 'country',
  browser: 'browser',
  os: 'os',
  release: 'release',
  application: 'service',
} as const;

export const WebVital = z.strictObject({
  name: z.enum(vitalNames as [VitalName, ...VitalName[]]),
  unit: z.enum(['ms', '1']),
  samples: z.int().describe('Number of measured values'),
  p75: z.number().describe('75th percentile of all samples, by nearest rank'),
  interval: z
    .strictObject({ low: z.number(), high: z.number() })
    .nullable()
    .describe('95 % confidence interval of the percentile; `null` for too few samples'),
  rating: z
    .enum(vitalRatings)
    .nullable()
    .describe(`Rating of the percentile; \`null\` below ${minRatedSamples} samples`),
  distribution: z
    .strictObject({ good: z.int(), needsImprovement: z.int(), poor: z.int() })
    .describe('Number of samples by rating'),
  thresholds: z.strictObject({ good: z.number(), poor: z.number() }),
});
export type WebVital = z.output<typeof WebVital>;

export const VitalTrend = z.strictObject({
  from: z.string(),
  stepSeconds: z.int(),
  vitals: z.array(
    z.strictObject({
      name: z.enum(vitalNames as [VitalName, ...VitalName[]]),
      p75: z.array(z.number().nullable()),
      samples: z.array(z.int()),
    }),
  ),
});
export type VitalTrend = z.output<typeof VitalTrend>;

interface Row {
  readonly grouped: string;
  readonly name: VitalName;
  readonly samples: string;
  readonly p75: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly good: string;
  readonly acceptable: string;
}

/** SQL of the threshold of the vital `name`. */
const buildThresholdSql = (index: 0 | 1): string =>
  `transform(name, [${vitalNames.map((name) => `'${name}'`).join(', ')}], [${vitalNames.map((name) => vitalThresholds[name][index]).join(', ')}], 0.)`;

const position = '(timestamp, partition, offset, ordinal)';
/** Reports without an id are separate samples. */
const sampleKey =
  "if(event_id = '', cityHash64(partition, offset, ordinal), cityHash64(session_id, toString(name), event_id))";

/**
 * SQL of the samples: the last report of each vital, with the value of an expression in this report. A search may name
 * fields that only events have, so it reads the events.
 */
const buildSamplesSql = ({ search }: RumFilter, condition: string, grouped: string): string =>
  search === undefined
    ? `SELECT name, value AS sample, ${grouped} AS grouped FROM ${rumVitalsSource} WHERE ${condition}`
    : `SELECT name, argMax(assumeNotNull(value), ${position}) AS sample, argMax(${grouped}, ${position}) AS grouped
  FROM ${rumReportsSource} WHERE kind = 'vital' AND isNotNull(value) AND ${condition} GROUP BY name, ${sampleKey} AS sample_key`;

const toVital = ({ name, samples, p75, low, high, good, acceptable }: Row): WebVital => {
  const count = Number(samples);
  const [goodCount, acceptableCount] = [Number(good), Number(acceptable)];
  return {
    name,
    unit: name === 'CLS' ? '1' : 'ms',
    samples: count,
    p75,
    interval: low === null || high === null ? null : { low, high },
    rating: count < minRatedSamples ? null : rateVital(name, p75),
    distribution: {
      good: goodCount,
      needsImprovement: acceptableCount - goodCount,
      poor: count - acceptableCount,
    },
    thresholds: { good: vitalThresholds[name][0], poor: vitalThresholds[name][1] },
  };
};

const byName = (left: WebVital, right: WebVital): number =>
  vitalNames.indexOf(left.name) - vitalNames.indexOf(right.name);

const { p75, low, high } = buildPercentileSql('sorted', 'sample_count');

/** Returns the vitals of each group, those with the most samples first; without a group, of all samples. */
export const readWebVitals = async (
  { columns }: TenantReader,
  range: Range,
  filter: RumFilter,
  group: VitalGroup | undefined,
): Promise<{ readonly value: string; readonly vitals: WebVital[] }[]> => {
  const { sql, parameters } = buildEventsCondition(filter, range);
  const samplesSql = buildSamplesSql(filter, sql, group === undefined ? "''" : `toString(${groupColumns[group]})`);
  const rows = await columns.query<Row>(
    `SELECT grouped, name, toString(sample_count) AS samples, ${p75} AS p75, ${low} AS low, ${high} AS high,
      toString(arrayCount(sample -> sample <= ${buildThresholdSql(0)}, sorted)) AS good,
      toString(arrayCount(sample -> sample <= ${buildThresholdSql(1)}, sorted)) AS acceptable
    FROM (SELECT grouped, toString(name) AS name, count() AS sample_count, arraySort(groupArray(sample)) AS sorted
      FROM (${samplesSql}) GROUP BY grouped, name)
    ORDER BY grouped, name LIMIT 20000`,
    parameters,
  );
  const groups = [...Map.groupBy(rows, ({ grouped }) => grouped)].map(([value, ofGroup]) => ({
    value,
    vitals: ofGroup.map(toVital).sort(byName),
  }));
  const countSamples = (vitals: readonly WebVital[]): number => vitals.reduce((sum, { samples }) => sum + samples, 0);
  return groups.sort((left, right) => countSamples(right.vitals) - countSamples(left.vitals));
};

/** Returns the percentile of each vital over time. */
export const readVitalTrend = async (
  { columns }: TenantReader,
  range: Range,
  filter: RumFilter,
  stepMs: number,
): Promise<VitalTrend> => {
  const { sql, parameters } = buildEventsCondition(filter, range);
  const beginMs = Math.floor(Number(range.from / 1_000_000n) / stepMs) * stepMs;
  const count = Math.floor((Number(range.to / 1_000_000n) - beginMs) / stepMs) + 1;
  const rows = await columns.query<{ name: VitalName; step: number; samples: string; p75: number }>(
    `SELECT name, toUInt32(grouped) AS step, toString(sample_count) AS samples, ${p75} AS p75
    FROM (SELECT toString(name) AS name, grouped, count() AS sample_count, arraySort(groupArray(sample)) AS sorted
      FROM (${buildSamplesSql(filter, sql, 'intDiv(toUnixTimestamp64Milli(timestamp) - {beginMs:Int64}, {stepMs:Int64})')})
      GROUP BY name, grouped) LIMIT 100000`,
    { ...parameters, beginMs: String(beginMs), stepMs: String(stepMs) },
  );
  const vitals = vitalNames
    .filter((name) => rows.some((row) => row.name === name))
    .map((name) => {
      const percentiles: (number | null)[] = Array.from({ length: count }, () => null);
      const samples: number[] = Array.from({ length: count }, () => 0);
      for (const row of rows) {
        if (row.name !== name) continue;
        percentiles[row.step] = row.p75;
        samples[row.step] = Number(row.samples);
      }
      return { name, p75: percentiles, samples };
    });
  return { from: formatTime(BigInt(beginMs) * 1_000_000n), stepSeconds: stepMs / 1000, vitals };
};
