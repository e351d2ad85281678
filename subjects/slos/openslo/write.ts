/** Writes an SLO as OpenSLO. Parsing the result returns the same SLO. */

import type { Query } from '../../../queries/query.ts';
import { promqlOf } from '../../../queries/query-kind.ts';
import { writeYaml } from '../../../queries/yaml-writing.ts';
import { durationText, msOf } from '../../alerts/durations.ts';
import type { SloFields } from '../document.ts';
import type { Problem } from '../problems.ts';
import { asNumber, decimal, dividedBy, fraction } from '../slices/fraction.ts';
import { type Version, versions } from './indicators.ts';
import { restAnnotation } from './read.ts';
import type { Requests } from './sources.ts';
import { periodTexts } from './times.ts';

/** An export, or the fields of the SLO that the version does not support */
export type WrittenOpenSlo = { readonly text: string } | { readonly problems: readonly Problem[] };

const budgetingTexts = { occurrences: 'Occurrences', timeslices: 'Timeslices', 'ratio-timeslices': 'RatioTimeslices' };

/** Converts a name to letters, digits and hyphens, the characters of OpenSLO names. */
const dnsLabel = (name: string): string => {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? ['slo'];
  return words.join('-').slice(0, 63).replace(/-$/, '');
};

type SliPart = Query | Requests;

const sourceOf = (part: SliPart): { readonly type: string; readonly spec: object } => {
  if ('requests' in part) {
    const { requests, latencyThresholdMs } = part;
    return { type: 'oiq', spec: { requests, ...(latencyThresholdMs !== null && { latencyThresholdMs }) } };
  }
  const expression = promqlOf(part);
  return expression === undefined ? { type: 'oiq', spec: part } : { type: 'prometheus', spec: { query: expression } };
};

const metricOf = (part: SliPart, version: Version): object => {
  const { type, spec } = sourceOf(part);
  if (version === 'v1') return { metricSource: { type, spec } };
  if (version === 'v2alpha') return { dataSourceSpec: { type }, spec };
  const expression = 'kind' in part ? promqlOf(part) : undefined;
  return expression === undefined
    ? { source: type, queryType: 'json', query: JSON.stringify(spec) }
    : { source: type, queryType: 'promql', query: expression };
};

/** Returns the queries of good, bad and total; `undefined` for a threshold. */
const ratioOf = ({ query: { sli }, latencyThresholdMs }: SloFields) => {
  if (sli === undefined)
    return {
      good: { requests: 'good', latencyThresholdMs },
      total: { requests: 'all', latencyThresholdMs: null },
    } as const;
  return sli.total === undefined ? undefined : { good: sli.good, bad: sli.bad, total: sli.total };
};

const windowOf = ({ windowDays, query: { calendar } }: SloFields, version: Version): object => {
  const times = calendar && {
    calendar: { startTime: `${calendar.startsAt.replace('T', ' ')}:00`, timeZone: calendar.timeZone },
  };
  const window = { isRolling: calendar === undefined, ...times };
  if (version !== 'v1alpha')
    return { duration: calendar === undefined ? `${windowDays}d` : periodTexts[calendar.period], ...window };
  const unit = calendar?.period ?? 'day';
  return {
    unit: unit.replace(/^./, (first) => first.toUpperCase()),
    count: calendar === undefined ? windowDays : 1,
    ...window,
  };
};

const sliceText = (slice: string): string => durationText(msOf(slice));

const targetOf = (targetPct: number, version: Version): object =>
  version === 'v1alpha'
    ? { target: asNumber(dividedBy(decimal(targetPct), fraction(100n))) }
    : { targetPercent: targetPct };

const objectiveOf = (slo: SloFields, version: Version): object => {
  const { sli, budgeting, slice, sliceTarget } = slo.query;
  return {
    ...targetOf(slo.targetPct, version),
    ...(sli?.value !== undefined && { op: sli.operator, value: sli.threshold }),
    ...(budgeting === 'timeslices' && { timeSliceTarget: sliceTarget }),
    ...(version !== 'v1alpha' && budgeting !== 'occurrences' && { timeSliceWindow: sliceText(slice) }),
  };
};

const restOfQuery = ({ query }: SloFields): object => {
  const { budgeting, slice, minimumEvents, excludeMaintenance, alerting } = query;
  const isSliceWritten = slice === '1m' || (budgeting !== 'occurrences' && sliceText(slice) === slice);
  return {
    ...(!isSliceWritten && { slice }),
    ...(minimumEvents !== undefined && { minimumEvents }),
    ...(excludeMaintenance && { excludeMaintenance }),
    ...((!alerting.enabled || alerting.rules !== undefined || alerting.severityLabels !== undefined) && { alerting }),
  };
};

const typeOfSli = ({ type, query: { sli } }: SloFields): SloFields['type'] => {
  if (sli === undefined) return type;
  return sli.value === undefined ? 'ratio' : 'threshold';
};

/** Returns the fields that OpenSLO lacks, in our own form. */
const restOf = (slo: SloFields): object => {
  const query = restOfQuery(slo);
  return {
    ...(slo.type !== typeOfSli(slo) && { type: slo.type }),
    ...(slo.signal !== 'traces' && { signal: slo.signal }),
    ...(slo.service === '' && { service: '' }),
    ...(!slo.enabled && { enabled: false }),
    ...(slo.query.calendar !== undefined && slo.windowDays !== 30 && { windowDays: slo.windowDays }),
    ...(Object.keys(query).length > 0 && { query }),
  };
};

const unwrittenIn = (slo: SloFields): Problem[] => {
  const { budgeting, slice, sli, calendar, alerting } = slo.query;
  const checks: readonly (readonly [path: string, isWrong: boolean])[] = [
    ['query.budgeting', budgeting === 'ratio-timeslices'],
    ['query.slice', slice !== '1m'],
    ['query.sli.bad', sli?.bad !== undefined],
    ['query.calendar.period', calendar?.period === 'year'],
    ['query.alerting', Object.keys({ ...alerting.labels, ...alerting.annotations }).length > 0],
    ...Object.keys(restOf(slo)).map((path) => [path, true] as const),
  ];
  return checks.flatMap(([path, isWrong]) => (isWrong ? [{ path, message: 'has no field in v1alpha: use v1' }] : []));
};

const metadataOf = (slo: SloFields, rest: object): object => {
  const { labels, annotations } = slo.query.alerting;
  const all = { ...annotations, ...(Object.keys(rest).length > 0 && { [restAnnotation]: JSON.stringify(rest) }) };
  return {
    name: dnsLabel(slo.name),
    displayName: slo.name,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(all).length > 0 && { annotations: all }),
  };
};

/** Returns the indicator in the form and location of each version. */
const measuredOf = (slo: SloFields, version: Version): { readonly spec: object; readonly objective: object } => {
  const ratio = ratioOf(slo);
  const parts = Object.entries(ratio ?? {}).flatMap(([key, part]) =>
    part === undefined ? [] : [[key, metricOf(part, version)] as const],
  );
  const metrics = Object.fromEntries(parts);
  const { value } = slo.query.sli ?? {};
  const threshold = value && { thresholdMetric: metricOf(value, version) };
  if (version === 'v1alpha')
    return threshold === undefined
      ? { spec: {}, objective: { value: 1, ratioMetrics: { incremental: false, ...metrics } } }
      : { spec: { indicator: threshold }, objective: {} };
  const indicator = {
    metadata: { name: dnsLabel(slo.name) },
    spec: threshold ?? { ratioMetric: { counter: false, ...metrics } },
  };
  return { spec: { [version === 'v1' ? 'indicator' : 'sli']: indicator }, objective: {} };
};

/** Returns an SLO as OpenSLO of a version. */
export const writeOpenSlo = (slo: SloFields, version: Version = 'v1'): WrittenOpenSlo => {
  const problems = version === 'v1alpha' ? unwrittenIn(slo) : [];
  if (problems.length > 0) return { problems };
  const { spec, objective } = measuredOf(slo, version);
  const [apiVersion] = Object.entries(versions).find(([, each]) => each === version) ?? [];
  const document = {
    apiVersion,
    kind: 'SLO',
    metadata: metadataOf(slo, version === 'v1alpha' ? {} : restOf(slo)),
    spec: {
      ...(slo.description !== '' && { description: slo.description }),
      service: slo.service || 'none',
      ...spec,
      [version === 'v1alpha' ? 'timeWindows' : 'timeWindow']: [windowOf(slo, version)],
      budgetingMethod: budgetingTexts[slo.query.budgeting],
      objectives: [{ ...objectiveOf(slo, version), ...objective }],
    },
  };
  return { text: writeYaml(document) };
};
