/** Measures of an engine in a range, from its metrics. */

import { z } from 'zod';
import { QueryBatcher } from '../../queries/batch/answers.ts';
import { requireEntitlement } from '../../queries/entitlement.ts';
import { invalid } from '../../queries/errors.ts';
import { findPresentMetrics } from '../../queries/metrics/present.ts';
import type { Query, QueryRequest } from '../../queries/query.ts';
import { getQueryKind, listPartQueries } from '../../queries/query-kind.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import type { Result } from '../../queries/result.ts';
import { parseQuery, runForAnswer } from '../../queries/run.ts';
import { unknownNumber } from '../../queries/unknown.ts';
import { buildQuantileSql } from '../../schemas/tables/durations.ts';
import { type Engine, type EngineMeasure, findEngine } from './engines.ts';
import { callParameters, databaseCalls, type InstanceQuery } from './instances.ts';

export const FigureAnswer = z.strictObject({
  name: z.string(),
  unit: z.string().describe('UCUM unit'),
  summary: z.string(),
  value: z.number().nullable(),
  reason: z.string().nullable().describe('Reason why there is no value; `null` if there is one'),
  metrics: z.array(z.string()).describe('Metrics of the value or, without a value, metrics that could provide it'),
});
export type FigureAnswer = z.output<typeof FigureAnswer>;

/** Returns the names of the metrics that a query reads. */
const requestMetrics = (request: QueryRequest): readonly string[] => queryMetrics(parseQuery(request));

const queryMetrics = (query: Query): readonly string[] => [
  ...(getQueryKind(query).metrics?.(query) ?? []),
  ...listPartQueries(query).flatMap(([, part]) => queryMetrics(part)),
];

/** Returns the first query of a measure whose metrics all exist. */
const findQuery = (figure: EngineMeasure, metrics: ReadonlySet<string>): QueryRequest | undefined =>
  figure.queries.find((query) => requestMetrics(query).every((metric) => metrics.has(metric)));

const candidateMetrics = (figure: EngineMeasure): string[] => [...new Set(figure.queries.flatMap(requestMetrics))];

/** Timeout of the measures' queries. */
const maxQueryMs = 30_000;

/** Returns all measures of an engine over a range, with or without a value. */
export const readMeasures = async (reading: Reading, engine: Engine, range: Range): Promise<FigureAnswer[]> => {
  const { measures, senders } = engine;
  if (!reading.plan.entitlements.includes('metrics'))
    return measures.map((figure) => absentMeasure(figure, 'the plan does not include metrics'));
  const metrics = await findPresentMetrics(reading, measures.flatMap(candidateMetrics), range);
  // Queries are not batched, because each statement reads only few points.
  const answers = new QueryBatcher({ batchDelayMs: 0, batchTimeoutMs: maxQueryMs, singleTimeoutMs: maxQueryMs });
  return Promise.all(
    measures.map(async (figure) => {
      const query = findQuery(figure, metrics);
      if (query === undefined)
        return absentMeasure(
          figure,
          `none of its metrics were received in this range; ${senders.join(' and ')} send them`,
        );
      const value = readNumber(await answers.run(parseQuery(query), reading, { range }));
      return value === undefined
        ? { ...absentMeasure(figure, 'its metrics have no value in this range'), metrics: [...requestMetrics(query)] }
        : { ...measureFields(figure), value, reason: null, metrics: [...requestMetrics(query)] };
    }),
  );
};

const measureFields = ({ name, unit, summary }: EngineMeasure) => ({ name, unit, summary });
const absentMeasure = (figure: EngineMeasure, reason: string): FigureAnswer => ({
  ...measureFields(figure),
  ...unknownNumber(reason),
  metrics: candidateMetrics(figure),
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
type CallFigure = keyof typeof callMeasures;

const isCallFigure = (name: string): name is CallFigure => Object.hasOwn(callMeasures, name);

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
  reading: Reading,
  query: InstanceQuery & { readonly engine: string; readonly figure: string },
  { minutes, stepMs }: { readonly minutes: Range; readonly stepMs: number },
): Promise<EngineSeries> => {
  const { figure: name } = query;
  if (isCallFigure(name))
    return {
      figure: name,
      unit: callMeasures[name].unit,
      series: await readCallSeries(reading, query, name, { minutes, stepMs }),
      reason: null,
    };
  const engine = findEngine(query.engine);
  const figure = engine?.measures.find((each) => each.name === name);
  if (engine === undefined || figure === undefined)
    throw invalid(
      'figure',
      `is not a metric of ${query.engine}; valid are ${[...Object.keys(callMeasures), ...(engine?.measures.map((each) => each.name) ?? [])].join(', ')}`,
    );
  requireEntitlement(reading, 'metrics');
  const found = findQuery(figure, await findPresentMetrics(reading, candidateMetrics(figure), minutes));
  if (found === undefined)
    return {
      figure: name,
      unit: figure.unit,
      series: [],
      reason: `none of ${candidateMetrics(figure).join(', ')} were received in this range`,
    };
  const { series } = await runForAnswer(parseQuery(found), reading, { range: minutes, stepMs });
  return { figure: name, unit: figure.unit, series, reason: null };
};

const maxDatabases = 100;

const readCallSeries = async (
  reading: Reading,
  query: InstanceQuery,
  name: CallFigure,
  { minutes, stepMs }: { readonly minutes: Range; readonly stepMs: number },
): Promise<Result['series']> => {
  requireEntitlement(reading, 'traces');
  const { unit, expression } = callMeasures[name];
  const seconds = stepMs / 1000;
  const rows = await reading.columns.query<{ name: string; points: readonly (readonly [string, number])[] }>(
    `SELECT name, arraySort(groupArray((toString(at), value))) AS points FROM (
      SELECT server AS name, intDiv(toUnixTimestamp(minute), ${seconds}) * ${seconds} AS at, ${expression}${name === 'requestRate' ? ` / ${seconds}` : ''} AS value, sum(requests) AS weight
      FROM ${databaseCalls(query)} GROUP BY name, at)
    GROUP BY name ORDER BY sum(weight) DESC, name LIMIT ${maxDatabases}`,
    callParameters(query, minutes),
  );
  return rows.map(({ name: database, points }) => ({
    name,
    labels: { database },
    unit,
    points: points.map(([at, value]): [number, number] => [Number(at) * 1000, value]),
  }));
};
