/** Measures of an engine in a range, from its metrics. */

import { z } from 'zod';
import { QueryBatcher } from '../../queries/batch/query-batcher.ts';
import { requireReadAccess } from '../../queries/entitlement.ts';
import { createValidationError } from '../../queries/errors.ts';
import { findPresentMetrics } from '../../queries/metrics/present.ts';
import type { Query, QueryRequest } from '../../queries/query.ts';
import { getQueryKind, listPartQueries } from '../../queries/query-kind.ts';
import type { Range } from '../../queries/range.ts';
import type { Result } from '../../queries/result.ts';
import { parseQuery, runWithoutCost } from '../../queries/run.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { toUnknownNumber } from '../../queries/unknown-numbers.ts';
import { buildQuantileSql } from '../../schemas/tables/durations.ts';
import { type Engine, type EngineMeasure, findEngine } from './engines.ts';
import { buildCallParameters, buildDatabaseCallsSql, type InstanceQuery } from './instances.ts';

export const MeasureResult = z.strictObject({
  name: z.string(),
  unit: z.string().describe('UCUM unit'),
  summary: z.string(),
  value: z.number().nullable(),
  reason: z.string().nullable().describe('Reason why there is no value; `null` if there is one'),
  metrics: z.array(z.string()).describe('Metrics of the value or, without a value, metrics that could provide it'),
});
export type MeasureResult = z.output<typeof MeasureResult>;

/** Returns the names of the metrics that a query reads. */
const listRequestMetrics = (request: QueryRequest): readonly string[] => listQueryMetrics(parseQuery(request));

const listQueryMetrics = (query: Query): readonly string[] => [
  ...(getQueryKind(query).metrics?.(query) ?? []),
  ...listPartQueries(query).flatMap(([, part]) => listQueryMetrics(part)),
];

/** Returns the first query of a measure whose metrics all exist. */
const findQuery = (measure: EngineMeasure, metrics: ReadonlySet<string>): QueryRequest | undefined =>
  measure.queries.find((query) => listRequestMetrics(query).every((metric) => metrics.has(metric)));

const listCandidateMetrics = (figure: EngineMeasure): string[] => [
  ...new Set(figure.queries.flatMap(listRequestMetrics)),
];

/** Timeout of the measures' queries. */
const maxQueryMs = 30_000;

/** Returns all measures of an engine over a range, with or without a value. */
export const readMeasures = async (reader: TenantReader, engine: Engine, range: Range): Promise<MeasureResult[]> => {
  const { measures, senders } = engine;
  if (!reader.plan.entitlements.includes('metrics'))
    return measures.map((measure) => createAbsentMeasure(measure, 'the plan does not include metrics'));
  const metrics = await findPresentMetrics(reader, measures.flatMap(listCandidateMetrics), range);
  // Queries are not batched, because each statement reads only few points.
  const batcher = new QueryBatcher({ batchDelayMs: 0, batchTimeoutMs: maxQueryMs, singleTimeoutMs: maxQueryMs });
  return Promise.all(
    measures.map(async (measure) => {
      const query = findQuery(measure, metrics);
      if (query === undefined)
        return createAbsentMeasure(
          measure,
          `none of its metrics were received in this range; ${senders.join(' and ')} send them`,
        );
      const value = readNumber(await batcher.run(parseQuery(query), reader, { range }));
      return value === undefined
        ? {
            ...createAbsentMeasure(measure, 'its metrics have no value in this range'),
            metrics: [...listRequestMetrics(query)],
          }
        : { ...toMeasureFields(measure), value, reason: null, metrics: [...listRequestMetrics(query)] };
    }),
  );
};

const toMeasureFields = ({ name, unit, summary }: EngineMeasure) => ({ name, unit, summary });
const createAbsentMeasure = (measure: EngineMeasure, reason: string): MeasureResult => ({
  ...toMeasureFields(measure),
  ...toUnknownNumber(reason),
  metrics: listCandidateMetrics(measure),
});

/** Returns the number in a table with one row. */
const readNumber = ({ rows }: Pick<Result, 'rows'>): number | undefined => {
  const value = rows[0]?.at(-1);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
};

/** Time series of an engine's calls. */
export const callMeasures = {
  requests: { unit: '{request}', expression: 'toFloat64(sum(requests))' },
  requestRate: { unit: '{request}/s', expression: 'sum(requests)' },
  errors: { unit: '{request}', expression: 'toFloat64(sum(errors))' },
  errorRate: { unit: '1', expression: 'sum(errors) / sum(requests)' },
  p50: { unit: 'ns', expression: buildQuantileSql(0.5) },
  p95: { unit: 'ns', expression: buildQuantileSql(0.95) },
  p99: { unit: 'ns', expression: buildQuantileSql(0.99) },
} as const;
type CallMeasure = keyof typeof callMeasures;

const isCallMeasure = (name: string): name is CallMeasure => Object.hasOwn(callMeasures, name);

export interface EngineSeries {
  readonly figure: string;
  readonly unit: string;
  readonly series: Result['series'];
  readonly reason: string | null;
}

/**
 * Returns a measure of an engine over time: of its calls, by database, or of its metrics. Steps are multiples of a
 * minute (`wholeMinutes`).
 */
export const readEngineSeries = async (
  reader: TenantReader,
  query: InstanceQuery & { readonly engine: string; readonly figure: string },
  { minutes, stepMs }: { readonly minutes: Range; readonly stepMs: number },
): Promise<EngineSeries> => {
  const { figure: name } = query;
  if (isCallMeasure(name))
    return {
      figure: name,
      unit: callMeasures[name].unit,
      series: await readCallSeries(reader, query, name, { minutes, stepMs }),
      reason: null,
    };
  const engine = findEngine(query.engine);
  const measure = engine?.measures.find((engineMeasure) => engineMeasure.name === name);
  if (engine === undefined || measure === undefined)
    throw createValidationError(
      'figure',
      `is not a metric of ${query.engine}; valid are ${[...Object.keys(callMeasures), ...(engine?.measures.map((measure) => measure.name) ?? [])].join(', ')}`,
    );
  requireReadAccess(reader, 'metrics');
  const measureQuery = findQuery(measure, await findPresentMetrics(reader, listCandidateMetrics(measure), minutes));
  if (measureQuery === undefined)
    return {
      figure: name,
      unit: measure.unit,
      series: [],
      reason: `none of ${listCandidateMetrics(measure).join(', ')} were received in this range`,
    };
  const { series } = await runWithoutCost(parseQuery(measureQuery), reader, { range: minutes, stepMs });
  return { figure: name, unit: measure.unit, series, reason: null };
};

const maxDatabases = 100;

const readCallSeries = async (
  reader: TenantReader,
  query: InstanceQuery,
  name: CallMeasure,
  { minutes, stepMs }: { readonly minutes: Range; readonly stepMs: number },
): Promise<Result['series']> => {
  requireReadAccess(reader, 'traces');
  const { unit, expression } = callMeasures[name];
  const seconds = stepMs / 1000;
  const rows = await reader.columns.query<{ name: string; points: readonly (readonly [string, number])[] }>(
    `SELECT name, arraySort(groupArray((toString(at), value))) AS points FROM (
      SELECT server AS name, intDiv(toUnixTimestamp(minute), ${seconds}) * ${seconds} AS at, ${expression}${name === 'requestRate' ? ` / ${seconds}` : ''} AS value, sum(requests) AS weight
      FROM ${buildDatabaseCallsSql(query)} GROUP BY name, at)
    GROUP BY name ORDER BY sum(weight) DESC, name LIMIT ${maxDatabases}`,
    buildCallParameters(query, minutes),
  );
  return rows.map(({ name: database, points }) => ({
    name,
    labels: { database },
    unit,
    points: points.map(([at, value]): [number, number] => [Number(at) * 1000, value]),
  }));
};
