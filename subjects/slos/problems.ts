/** Finds problems that the schema of an SLO does not detect and that prevent its measurement */

import { findPromqlProblem } from '../../queries/promql-problem.ts';
import type { AggregateQuery, MetricQuery, Query } from '../../queries/query.ts';
import { listPartQueries } from '../../queries/query-kind.ts';
import { listStaticErrors } from '../../queries/validity.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import { findTemplateProblems } from '../alerts/rule-problems.ts';
import type { SloFields } from './document.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** A problem and its path: `query.sli.good.groupBy` */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

type Checks = readonly (readonly [path: string, isWrong: boolean, message: string])[];
const toProblems = (checks: Checks): Problem[] =>
  checks.flatMap(([path, isWrong, message]) => (isWrong ? [{ path, message }] : []));

const findAggregateProblems = (query: AggregateQuery, path: string, isCount: boolean): Problem[] => {
  const isAdditive = query.measures.every((measure) => measure.function === 'count' || measure.function === 'sum');
  return toProblems([
    [`${path}.groupBy`, query.groupBy.length > 0, 'must be empty: an SLO has one value for each slice'],
    [`${path}.measures`, query.measures.length > 1, 'must contain exactly one measure'],
    [`${path}.measures.0.function`, isCount && !isAdditive, 'must be count or sum, so that slices add up'],
  ]);
};

const findMetricProblems = (query: MetricQuery, path: string, isCount: boolean): Problem[] => {
  const isAdditive = ['increase', 'sum', 'count'].includes(query.overTime) && query.across === 'sum';
  return toProblems([
    [`${path}.groupBy`, query.groupBy.length > 0, 'must be empty: an SLO has one value for each slice'],
    [`${path}.across`, query.across === 'none', 'must not be none: an SLO has one value for each slice'],
    [`${path}.overTime`, isCount && !isAdditive, 'must be increase, sum or count, across sum, so that slices add up'],
  ]);
};

/** Kinds of queries that an SLO cannot measure. */
const unsupportedKinds: Readonly<Partial<Record<Query['kind'], string>>> = {
  slo: 'must query telemetry, not an SLO',
  check: 'must query telemetry: query the signal synthetics for runs',
  anomaly: 'must query telemetry, not anomalies or forecasts',
  forecast: 'must query telemetry, not anomalies or forecasts',
  rows: 'must return a value, not rows: use an aggregate',
};

const findQueryProblems = (query: Query, path: string, isCount: boolean): Problem[] => {
  const rejection = unsupportedKinds[query.kind];
  if (rejection !== undefined) return [{ path: `${path}.kind`, message: rejection }];
  if ('measures' in query) return findAggregateProblems(query, path, isCount);
  if ('overTime' in query) return findMetricProblems(query, path, isCount);
  const message = findPromqlProblem(query);
  if (message !== undefined) return [{ path: `${path}.expression`, message }];
  return listPartQueries(query).flatMap(([partPath, part]) => findQueryProblems(part, `${path}.${partPath}`, false));
};

const findPartProblems = (query: Query | undefined, path: string, isCount: boolean): readonly Problem[] => {
  if (query === undefined) return [];
  const problems = findQueryProblems(query, path, isCount);
  return problems.length > 0 ? problems : listStaticErrors(query, path);
};

const findWindowProblems = ({ query, windowDays }: SloFields): Problem[] => {
  const { slice, sliceTarget, budgeting, calendar } = query;
  const sliceMs = parseDurationMs(slice);
  const dividesWindow = calendar === undefined ? (windowDays * dayMs) % sliceMs === 0 : hourMs % sliceMs === 0;
  const dividend =
    calendar === undefined ? `the window of ${windowDays} days` : 'one hour, because calendar days have 23 to 25';
  return toProblems([
    ['query.slice', sliceMs % minuteMs !== 0, 'must be whole minutes'],
    ['query.slice', sliceMs % minuteMs === 0 && !dividesWindow, `must divide ${dividend}`],
    ['query.sliceTarget', sliceTarget !== undefined && budgeting !== 'timeslices', 'is for timeslices only'],
    ['query.sliceTarget', sliceTarget === undefined && budgeting === 'timeslices', 'is required for timeslices'],
  ]);
};

const findShortFormProblems = ({ type, signal, service, latencyThresholdMs }: SloFields): Problem[] =>
  toProblems([
    ['query.sli', type === 'ratio' || type === 'threshold', `is required for the type ${type}`],
    ['service', service === '', 'is required: without query.sli, the requests of a service are counted'],
    ['signal', signal !== 'traces', 'must be traces: without query.sli, requests are counted from spans'],
    ['latencyThresholdMs', type === 'latency' && latencyThresholdMs === null, 'is required for the type latency'],
    ['latencyThresholdMs', type !== 'latency' && latencyThresholdMs !== null, 'is for the type latency only'],
  ]);

const findTextProblems = ({ query: { alerting } }: SloFields): Problem[] => [
  ...findTemplateProblems(alerting).map(({ path, message }) => ({ path: `query.alerting.${path}`, message })),
  ...Object.entries(alerting.severityLabels ?? {}).flatMap(([severity, labels = {}]) =>
    findTemplateProblems({ labels, annotations: {} }).map(({ path, message }) => ({
      path: path.replace('labels', `query.alerting.severityLabels.${severity}`),
      message,
    })),
  ),
];

/** Returns the problems of an SLO, each with its path; empty if it can be measured. */
export const findSloProblems = (slo: SloFields): Problem[] => {
  const { sli, alerting } = slo.query;
  const rules = [
    ...(alerting.rules ?? []).flatMap(({ long, short }, index) =>
      toProblems([
        [
          `query.alerting.rules.${index}.short`,
          parseDurationMs(short) >= parseDurationMs(long),
          `must be shorter than ${long}`,
        ],
      ]),
    ),
    ...findTextProblems(slo),
  ];
  if (sli === undefined) return [...findShortFormProblems(slo), ...findWindowProblems(slo), ...rules];
  const isThreshold = sli.value !== undefined;
  return [
    ...toProblems([
      ['query.sli.total', slo.type === 'ratio' && isThreshold, 'is required for the type ratio'],
      ['query.sli.value', slo.type === 'threshold' && !isThreshold, 'is required for the type threshold'],
      ['latencyThresholdMs', slo.latencyThresholdMs !== null, 'must not be set together with query.sli'],
    ]),
    ...(['good', 'bad', 'total', 'value'] as const).flatMap((part) =>
      findPartProblems(sli[part], `query.sli.${part}`, part !== 'value'),
    ),
    ...findWindowProblems(slo),
    ...rules,
  ];
};
