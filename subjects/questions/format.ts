/** Describes how the words of a question were interpreted */
import { formatTimeText } from '../../queries/time-text.ts';
import type { CatalogueMetric } from './catalogue.ts';
import type { Target } from './lexicon.ts';
import type { Mark, Noun } from './marks.ts';
import { getMetricAddition } from './metric-addition.ts';

const nounTexts: Readonly<Record<Exclude<Noun, 'metric'>, string>> = {
  logs: 'log records',
  requests: 'spans of kind server',
  calls: 'spans of kind server or client',
  spans: 'spans',
  traces: 'traces',
  latency: 'duration',
};

/** Text of words such as "right now" */
export const currentText = 'the last value';

const markTexts: Readonly<Partial<Record<Mark['is'], string>>> = {
  count: 'count',
  distinct: 'distinct values',
  share: 'share in percent',
  total: 'in all',
  current: currentText,
  group: 'by',
  which: 'by',
  or: 'or',
  not: 'not',
  overTime: 'series',
  trend: 'series',
  slowest: 'longest duration first',
  fastest: 'shortest duration first',
  most: 'largest first',
  least: 'smallest first',
  newest: 'newest first',
  oldest: 'oldest first',
  table: 'a table',
  compare: 'by the compared field',
  time: 'range',
  unknown: 'not known',
};

export const describeMark = (mark: Mark, target: Target): string | null => {
  switch (mark.is) {
    case 'noun':
      if (mark.noun !== 'metric') return nounTexts[mark.noun];
      return target.signal === 'metrics' ? describeMetric(target.metric) : null;
    case 'condition':
      return mark.condition.search;
    case 'figure':
      return mark.measure.function === 'percentile' ? `percentile ${mark.measure.percentile}` : mark.measure.function;
    case 'field':
      return mark.field;
    case 'traffic':
      return 'number of spans of kind server';
    case 'throughput':
      return 'rate of spans of kind server';
    case 'having':
      return `only ${mark.condition.operator.replace('-', ' ')} ${mark.condition.value} ${mark.condition.unit}`.trim();
    case 'limit':
      return `at most ${mark.limit}`;
    case 'step':
      return `steps of ${formatDuration(mark.stepMs)}`;
    default:
      return markTexts[mark.is] ?? null;
  }
};

/** Gauges state by which rule their series combine, because it is derived from names and units. */
const describeMetric = (metric: CatalogueMetric): string =>
  metric.kind === 'gauge' ? `${metric.name}; ${getMetricAddition(metric).rule}` : metric.name;

const durationUnits: readonly (readonly [ms: number, unit: string])[] = [
  ...([
    [604_800_000, 'week'],
    [86_400_000, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
    [1000, 'second'],
    [1, 'millisecond'],
  ] as const),
];

/** Formats a duration: `5 minutes`, `1 hour`. */
export const formatDuration = (ms: number): string => {
  const [size, unit] = durationUnits.find(([value]) => ms >= value && ms % value === 0) ?? [1, 'millisecond'];
  return `${ms / size} ${unit}${ms === size ? '' : 's'}`;
};

/** Formats a time in a time zone, without seconds if they are 0. */
export const formatTime = (ns: bigint, timeZone: string): string => {
  const ms = Number(ns / 1_000_000n);
  const isFullMinute = ms % 60_000 === 0;
  return `${formatTimeText(ms, isFullMinute ? 'YYYY-MM-DD HH:mm' : 'YYYY-MM-DD HH:mm:ss', timeZone)}`;
};
