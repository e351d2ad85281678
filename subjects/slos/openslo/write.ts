/** Writes an SLO as OpenSLO. Parsing the result returns the same SLO. */

import type { Query } from '../../../queries/query.ts';
import { getPromql } from '../../../queries/query-kind.ts';
import { writeYaml } from '../../../queries/yaml-writing.ts';
import { computeHashId } from '../../../runtime/hash-id.ts';
import { formatDuration, parseDurationMs } from '../../alerts/durations.ts';
import type { SloFields } from '../document.ts';
import type { Problem } from '../problems.ts';
import { createFraction, decimalToFraction, divide, fractionToNumber } from '../slices/fraction.ts';
import { type Version, versions } from './indicators.ts';
import { remainingFieldsAnnotation } from './read.ts';
import type { Requests } from './sources.ts';
import { periodTexts } from './times.ts';

/** An export, or the fields of the SLO that the version does not support */
export type WrittenOpenSlo = { readonly text: string } | { readonly problems: readonly Problem[] };

const budgetingTexts = { occurrences: 'Occurrences', timeslices: 'Timeslices', 'ratio-timeslices': 'RatioTimeslices' };

/**
 * Converts a name to letters, digits and hyphens, the characters of OpenSLO names. Other names end with their hash, so
 * that different names stay different.
 */
const toDnsLabel = (name: string): string => {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? ['slo'];
  const label = words.join('-').slice(0, 54).replace(/-$/, '');
  return label === name ? label : `${label}-${computeHashId(name).slice(0, 8)}`;
};

type SliPart = Query | Requests;

const toSource = (part: SliPart): { readonly type: string; readonly spec: object } => {
  if ('requests' in part) {
    const { requests, latencyThresholdMs } = part;
    return { type: 'oiq', spec: { requests, ...(latencyThresholdMs !== null && { latencyThresholdMs }) } };
  }
  const expression = getPromql(part);
  return expression === undefined ? { type: 'oiq', spec: part } : { type: 'prometheus', spec: { query: expression } };
};

const toMetric = (part: SliPart, version: Version): object => {
  const { type, spec } = toSource(part);
  if (version === 'v1') return { metricSource: { type, spec } };
  if (version === 'v2alpha') return { dataSourceSpec: { type }, spec };
  const expression = 'kind' in part ? getPromql(part) : undefined;
  return expression === undefined
    ? { source: type, queryType: 'json', query: JSON.stringify(spec) }
    : { source: type, queryType: 'promql', query: expression };
};

/** Returns the queries of good, bad and total; `undefined` for a threshold. */
const getRatioParts = ({ query: { sli }, latencyThresholdMs }: SloFields) => {
  if (sli === undefined)
    return {
      good: { requests: 'good', latencyThresholdMs },
      total: { requests: 'all', latencyThresholdMs: null },
    } as const;
  return sli.total === undefined ? undefined : { good: sli.good, bad: sli.bad, total: sli.total };
};

const toWindow = ({ windowDays, query: { calendar } }: SloFields, version: Version): object => {
  const calendarFields = calendar && {
    calendar: { startTime: `${calendar.startsAt.replace('T', ' ')}:00`, timeZone: calendar.timeZone },
  };
  const window = { isRolling: calendar === undefined, ...calendarFields };
  if (version !== 'v1alpha')
    return { duration: calendar === undefined ? `${windowDays}d` : periodTexts[calendar.period], ...window };
  const unit = calendar?.period ?? 'day';
  return {
    unit: unit.replace(/^./, (first) => first.toUpperCase()),
    count: calendar === undefined ? windowDays : 1,
    ...window,
  };
};

const normalizeSlice = (slice: string): string => formatDuration(parseDurationMs(slice));

const toTarget = (targetPct: number, version: Version): object =>
  version === 'v1alpha'
    ? { target: fractionToNumber(divide(decimalToFraction(targetPct), createFraction(100n))) }
    : { targetPercent: targetPct };

const toObjective = (slo: SloFields, version: Version): object => {
  const { sli, budgeting, slice, sliceTarget } = slo.query;
  return {
    ...toTarget(slo.targetPct, version),
    ...(sli?.value !== undefined && { op: sli.operator, value: sli.threshold }),
    ...(budgeting === 'timeslices' && { timeSliceTarget: sliceTarget }),
    ...(version !== 'v1alpha' && budgeting !== 'occurrences' && { timeSliceWindow: normalizeSlice(slice) }),
  };
};

const getRemainingQueryFields = ({ query }: SloFields): object => {
  const { budgeting, slice, minimumEvents, excludeMaintenance, alerting } = query;
  const isSliceWritten = slice === '1m' || (budgeting !== 'occurrences' && normalizeSlice(slice) === slice);
  return {
    ...(!isSliceWritten && { slice }),
    ...(minimumEvents !== undefined && { minimumEvents }),
    ...(excludeMaintenance && { excludeMaintenance }),
    ...((!alerting.enabled || alerting.rules !== undefined || alerting.severityLabels !== undefined) && { alerting }),
  };
};

const getImpliedType = ({ type, query: { sli } }: SloFields): SloFields['type'] => {
  if (sli === undefined) return type;
  return sli.value === undefined ? 'ratio' : 'threshold';
};

/** Returns the fields that OpenSLO lacks, in our own form. */
const getRemainingFields = (slo: SloFields): object => {
  const query = getRemainingQueryFields(slo);
  return {
    ...(slo.type !== getImpliedType(slo) && { type: slo.type }),
    ...(slo.signal !== 'traces' && { signal: slo.signal }),
    ...(slo.service === '' && { service: '' }),
    ...(!slo.enabled && { enabled: false }),
    ...(slo.query.calendar !== undefined && slo.windowDays !== 30 && { windowDays: slo.windowDays }),
    ...(Object.keys(query).length > 0 && { query }),
  };
};

const findUnsupportedFields = (slo: SloFields): Problem[] => {
  const { budgeting, slice, sli, calendar, alerting } = slo.query;
  const checks: readonly (readonly [path: string, isWrong: boolean])[] = [
    ['query.budgeting', budgeting === 'ratio-timeslices'],
    ['query.slice', slice !== '1m'],
    ['query.sli.bad', sli?.bad !== undefined],
    ['query.calendar.period', calendar?.period === 'year'],
    ['query.alerting', Object.keys({ ...alerting.labels, ...alerting.annotations }).length > 0],
    ...Object.keys(getRemainingFields(slo)).map((path) => [path, true] as const),
  ];
  return checks.flatMap(([path, isUnsupported]) =>
    isUnsupported ? [{ path, message: 'has no field in v1alpha: use v1' }] : [],
  );
};

const toMetadata = (slo: SloFields, name: string, remaining: object): object => {
  const { labels, annotations } = slo.query.alerting;
  const allAnnotations = {
    ...annotations,
    ...(Object.keys(remaining).length > 0 && { [remainingFieldsAnnotation]: JSON.stringify(remaining) }),
  };
  return {
    name,
    displayName: slo.name,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(allAnnotations).length > 0 && { annotations: allAnnotations }),
  };
};

/** Returns the indicator in the form and location of each version. */
const toIndicator = (slo: SloFields, version: Version): { readonly spec: object; readonly objective: object } => {
  const ratio = getRatioParts(slo);
  const parts = Object.entries(ratio ?? {}).flatMap(([key, part]) =>
    part === undefined ? [] : [[key, toMetric(part, version)] as const],
  );
  const metrics = Object.fromEntries(parts);
  const { value } = slo.query.sli ?? {};
  const threshold = value && { thresholdMetric: toMetric(value, version) };
  if (version === 'v1alpha')
    return threshold === undefined
      ? { spec: {}, objective: { value: 1, ratioMetrics: { incremental: false, ...metrics } } }
      : { spec: { indicator: threshold }, objective: {} };
  const indicator = {
    metadata: { name: toDnsLabel(slo.name) },
    spec: threshold ?? { ratioMetric: { counter: false, ...metrics } },
  };
  return { spec: { [version === 'v1' ? 'indicator' : 'sli']: indicator }, objective: {} };
};

/** Returns an SLO as OpenSLO of a version. `name` is that of the document; by default it is made from the title. */
export const writeOpenSlo = (
  slo: SloFields,
  version: Version = 'v1',
  name: string = toDnsLabel(slo.name),
): WrittenOpenSlo => {
  const problems = version === 'v1alpha' ? findUnsupportedFields(slo) : [];
  if (problems.length > 0) return { problems };
  const { spec, objective } = toIndicator(slo, version);
  const [apiVersion] = Object.entries(versions).find(([, value]) => value === version) ?? [];
  const document = {
    apiVersion,
    kind: 'SLO',
    metadata: toMetadata(slo, name, version === 'v1alpha' ? {} : getRemainingFields(slo)),
    spec: {
      ...(slo.description !== '' && { description: slo.description }),
      service: slo.service || 'none',
      ...spec,
      [version === 'v1alpha' ? 'timeWindows' : 'timeWindow']: [toWindow(slo, version)],
      budgetingMethod: budgetingTexts[slo.query.budgeting],
      objectives: [{ ...toObjective(slo, version), ...objective }],
    },
  };
  return { text: writeYaml(document) };
};
