/** Problems of an SLO that prevent its measurement, beyond its schema */

import { promqlProblem } from '../../queries/promql-problem.ts';
import type { AggregateQuery, MetricQuery, Query } from '../../queries/query.ts';
import { partsOf } from '../../queries/query-kind.ts';
import { staticErrorsOf } from '../../queries/validity.ts';
import { msOf } from '../alerts/durations.ts';
import { textProblemsOf } from '../alerts/rule-problems.ts';
import type { SloFields } from './document.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** A problem and its path: `query.sli.good.groupBy` */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

type Check = readonly (readonly [path: string, isWrong: boolean, message: string])[];
const found = (checks: Check): Problem[] =>
  checks.flatMap(([path, isWrong, message]) => (isWrong ? [{ path, message }] : []));

const aggregateProblems = (query: AggregateQuery, path: string, isCount: boolean): Problem[] => {
  const adds = query.measures.every((measure) => measure.function === 'count' || measure.function === 'sum');
  return found([
    [`${path}.groupBy`, query.groupBy.length > 0, 'must be empty: an SLO has one value for each slice'],
    [`${path}.measures`, query.measures.length > 1, 'must contain exactly one measure'],
    [`${path}.measures.0.function`, isCount && !adds, 'must be count or sum, so that slices add up'],
  ]);
};

const metricProblems = (query: MetricQuery, path: string, isCount: boolean): Problem[] => {
  const adds = ['increase', 'sum', 'count'].includes(query.overTime) && query.across === 'sum';
  return found([
    [`${path}.groupBy`, query.groupBy.length > 0, 'must be empty: an SLO has one value for each slice'],
    [`${path}.across`, query.across === 'none', 'must not be none: an SLO has one value for each slice'],
    [`${path}.overTime`, isCount && !adds, 'must be increase, sum or count, across sum, so that slices add up'],
  ]);
};

/** Kinds of queries that an SLO cannot measure. */
const refusals: Readonly<Partial<Record<Query['kind'], string>>> = {
  slo: 'must query telemetry, not an SLO',
  check: 'must query telemetry: query the signal synthetics for runs',
  anomaly: 'must query telemetry, not anomalies or forecasts',
  forecast: 'must query telemetry, not anomalies or forecasts',
  rows: 'must return a value, not rows: use an aggregate',
};

const queryProblems = (query: Query, path: string, isCount: boolean): Problem[] => {
  const refusal = refusals[query.kind];
  if (refusal !== undefined) return [{ path: `${path}.kind`, message: refusal }];
  if ('measures' in query) return aggregateProblems(query, path, isCount);
  if ('overTime' in query) return metricProblems(query, path, isCount);
  const message = promqlProblem(query);
  if (message !== undefined) return [{ path: `${path}.expression`, message }];
  return partsOf(query).flatMap(([at, part]) => queryProblems(part, `${path}.${at}`, false));
};

const partProblems = (query: Query | undefined, path: string, isCount: boolean): readonly Problem[] => {
  if (query === undefined) return [];
  const problems = queryProblems(query, path, isCount);
  return problems.length > 0 ? problems : staticErrorsOf(query, path);
};

const windowProblems = ({ query, windowDays }: SloFields): Problem[] => {
  const { slice, sliceTarget, budgeting, calendar } = query;
  const sliceMs = msOf(slice);
  const isDividing = calendar === undefined ? (windowDays * dayMs) % sliceMs === 0 : hourMs % sliceMs === 0;
  const what =
    calendar === undefined ? `the window of ${windowDays} days` : 'one hour, because calendar days have 23 to 25';
  return found([
    ['query.slice', sliceMs % minuteMs !== 0, 'must be whole minutes'],
    ['query.slice', sliceMs % minuteMs === 0 && !isDividing, `must divide ${what}`],
    ['query.sliceTarget', sliceTarget !== undefined && budgeting !== 'timeslices', 'is for timeslices only'],
    ['query.sliceTarget', sliceTarget === undefined && budgeting === 'timeslices', 'is required for timeslices'],
  ]);
};

const shortFormProblems = ({ type, signal, service, latencyThresholdMs }: SloFields): Problem[] =>
  found([
    ['query.sli', type === 'ratio' || type === 'threshold', `is required for the type ${type}`],
    ['service', service === '', 'is required: without query.sli, the requests of a service are counted'],
    ['signal', signal !== 'traces', 'must be traces: without query.sli, requests are counted from spans'],
    ['latencyThresholdMs', type === 'latency' && latencyThresholdMs === null, 'is required for the type latency'],
    ['latencyThresholdMs', type !== 'latency' && latencyThresholdMs !== null, 'is for the type latency only'],
  ]);

const textProblems = ({ query: { alerting } }: SloFields): Problem[] => [
  ...textProblemsOf(alerting).map(({ path, message }) => ({ path: `query.alerting.${path}`, message })),
  ...Object.entries(alerting.severityLabels ?? {}).flatMap(([severity, labels = {}]) =>
    textProblemsOf({ labels, annotations: {} }).map(({ path, message }) => ({
      path: path.replace('labels', `query.alerting.severityLabels.${severity}`),
      message,
    })),
  ),
];

/** Returns the problems of an SLO, each with its path; empty if it can be measured. */
export const sloProblems = (slo: SloFields): Problem[] => {
  const { sli, alerting } = slo.query;
  const rules = [
    ...(alerting.rules ?? []).flatMap(({ long, short }, index) =>
      found([[`query.alerting.rules.${index}.short`, msOf(short) >= msOf(long), `must be shorter than ${long}`]]),
    ),
    ...textProblems(slo),
  ];
  if (sli === undefined) return [...shortFormProblems(slo), ...windowProblems(slo), ...rules];
  const isThreshold = sli.value !== undefined;
  return [
    ...found([
      ['query.sli.total', slo.type === 'ratio' && isThreshold, 'is required for the type ratio'],
      ['query.sli.value', slo.type === 'threshold' && !isThreshold, 'is required for the type threshold'],
      ['latencyThresholdMs', slo.latencyThresholdMs !== null, 'must not be set together with query.sli'],
    ]),
    ...(['good', 'bad', 'total', 'value'] as const).flatMap((part) =>
      partProblems(sli[part], `query.sli.${part}`, part !== 'value'),
    ),
    ...windowProblems(slo),
    ...rules,
  ];
};
