/** Measures of an engine in a range, from its metrics. */

import { z } from 'zod';
import { Answers } from '../../queries/batch/answers.ts';
import { requireEntitlement } from '../../queries/entitlement.ts';
import { invalid } from '../../queries/errors.ts';
import { presentMetrics } from '../../queries/metrics/present.ts';
import type { Query } from '../../queries/query.ts';
import { kindOf, partsOf } from '../../queries/query-kind.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import type { Result } from '../../queries/result.ts';
import { answerOnly, type QueryRequest, queryOf } from '../../queries/run.ts';
import { unknown } from '../../queries/unknown.ts';
import { durationQuantile } from '../../schemas/tables/durations.ts';
import { type Engine, engineOf, type Figure } from './engines.ts';
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

/** Names of the metrics that a query reads. */
const metricsOf = (request: QueryRequest): readonly string[] => metricsIn(queryOf(request));

const metricsIn = (query: Query): readonly string[] => [
  ...(kindOf(query).metrics?.(query) ?? []),
  ...partsOf(query).flatMap(([, part]) => metricsIn(part)),
];

/** Query for a measure that the existing metrics can answer. */
const answerable = (figure: Figure, metrics: ReadonlySet<string>): QueryRequest | undefined =>
  figure.of.find((query) => metricsOf(query).every((metric) => metrics.has(metric)));

const candidates = (figure: Figure): string[] => [...new Set(figure.of.flatMap(metricsOf))];

/** Timeout of the measures' queries. */
const maxQueryMs = 30_000;

/** Returns all measures of an engine over a range, with or without a value. */
export const readFigures = async (reading: Reading, engine: Engine, range: Range): Promise<FigureAnswer[]> => {
  const { figures, senders } = engine;
  if (!reading.plan.entitlements.includes('metrics'))
    return figures.map((figure) => absent(figure, 'the plan does not include metrics'));
  const metrics = await presentMetrics(reading, figures.flatMap(candidates), range);
  // Each statement costs as much as reading the engine's points: the points of all measures are few.
  const answers = new Answers({ gatherMs: 0, sharedMs: maxQueryMs, aloneMs: maxQueryMs });
  return Promise.all(
    figures.map(async (figure) => {
      const query = answerable(figure, metrics);
      if (query === undefined)
        return absent(figure, `none of its metrics were received in this range; ${senders.join(' and ')} send them`);
      const value = numberIn(await answers.run(queryOf(query), reading, { range }));
      return value === undefined
        ? { ...absent(figure, 'its metrics have no value in this range'), metrics: [...metricsOf(query)] }
        : { ...about(figure), value, reason: null, metrics: [...metricsOf(query)] };
    }),
  );
};

const about = ({ name, unit, summary }: Figure) => ({ name, unit, summary });
const absent = (figure: Figure, reason: string): FigureAnswer => ({
  ...about(figure),
  ...unknown(reason),
  metrics: candidates(figure),
});

/** The number in a table with one row. */
const numberIn = ({ rows }: Pick<Result, 'rows'>): number | undefined => {
  const value = rows[0]?.at(-1);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
};

/** Time series of an engine's calls. */
export const callFigures = {
  requests: { unit: '{request}', expression: 'toFloat64(sum(requests))' },
  requestRate: { unit: '{request}/s', expression: 'sum(requests)' },
  errors: { unit: '{request}', expression: 'toFloat64(sum(errors))' },
  errorRate: { unit: '1', expression: 'sum(errors) / sum(requests)' },
  p50: { unit: 'ns', expression: durationQuantile(0.5) },
  p95: { unit: 'ns', expression: durationQuantile(0.95) },
  p99: { unit: 'ns', expression: durationQuantile(0.99) },
} as const;
type CallFigure = keyof typeof callFigures;

const isCallFigure = (name: string): name is CallFigure => Object.hasOwn(callFigures, name);

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
      unit: callFigures[name].unit,
      series: await callSeries(reading, query, name, { minutes, stepMs }),
      reason: null,
    };
  const engine = engineOf(query.engine);
  const figure = engine?.figures.find((each) => each.name === name);
  if (engine === undefined || figure === undefined)
    throw invalid(
      'figure',
      `is not a metric of ${query.engine}; valid are ${[...Object.keys(callFigures), ...(engine?.figures.map((each) => each.name) ?? [])].join(', ')}`,
    );
  requireEntitlement(reading, 'metrics');
  const found = answerable(figure, await presentMetrics(reading, candidates(figure), minutes));
  if (found === undefined)
    return {
      figure: name,
      unit: figure.unit,
      series: [],
      reason: `none of ${candidates(figure).join(', ')} were received in this range`,
    };
  const { series } = await answerOnly(queryOf(found), reading, { range: minutes, stepMs });
  return { figure: name, unit: figure.unit, series, reason: null };
};

const maxSeries = 100;

const callSeries = async (
  reading: Reading,
  query: InstanceQuery,
  name: CallFigure,
  { minutes, stepMs }: { readonly minutes: Range; readonly stepMs: number },
): Promise<Result['series']> => {
  requireEntitlement(reading, 'traces');
  const { unit, expression } = callFigures[name];
  const seconds = stepMs / 1000;
  const rows = await reading.columns.query<{ name: string; points: readonly (readonly [string, number])[] }>(
    `SELECT name, arraySort(groupArray((toString(at), value))) AS points FROM (
      SELECT server AS name, intDiv(toUnixTimestamp(minute), ${seconds}) * ${seconds} AS at, ${expression}${name === 'requestRate' ? ` / ${seconds}` : ''} AS value, sum(requests) AS weight
      FROM ${databaseCalls(query)} GROUP BY name, at)
    GROUP BY name ORDER BY sum(weight) DESC, name LIMIT ${maxSeries}`,
    callParameters(query, minutes),
  );
  return rows.map(({ name: database, points }) => ({
    name,
    labels: { database },
    unit,
    points: points.map(([at, value]): [number, number] => [Number(at) * 1000, value]),
  }));
};
