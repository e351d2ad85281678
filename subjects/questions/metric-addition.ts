/** How the series of a metric combine to one value: by a table of well-known metrics, otherwise by unit and name */
import type { CatalogueMetric } from './catalogue.ts';

/**
 * `sum`: the values of several series add up, such as bytes of disks. `average`: they have a mean, such as utilizations.
 * `increase`: a count so far that senders report as a gauge; its growth is the number of events.
 */
export type Combination = 'sum' | 'average' | 'increase';

/** A combination, and the rule behind it, for people */
export interface MetricAddition {
  readonly combination: Combination;
  readonly rule: string;
  /** Whether a sum over series has no meaning, as for temperatures */
  readonly isNeverSummed?: true;
}

type Row = readonly [names: RegExp, combination: Combination, rule: string];

/**
 * Metrics of OpenTelemetry's semantic conventions, of receivers of its collector and of exporters for Prometheus, whose
 * unit alone does not tell how they combine. Names are compared with dots in place of underscores.
 */
const wellKnownMetrics: readonly Row[] = [
  [
    /(?:^|\.)(?:container|pod|k8s)\.restarts?$|(?:^|\.)restart\.count$|\.restarts$/,
    'increase',
    'a count of restarts so far',
  ],
  [/^k8s\.job\.(?:failed|successful)\.pods$/, 'increase', 'a count of pods so far'],
  [/(?:^|\.)load\.?average|(?:^|\.)load(?:1|5|15)$/, 'average', 'a load average'],
  [/(?:^|\.)uptime$|start\.time|boot\.time|(?:^|\.)age$/, 'average', 'a time since a start'],
  [/^(?:up|.*\.up|k8s\.node\.condition.*|k8s\.(?:pod|container)\.(?:phase|ready))$/, 'average', 'a state'],
  [/^k8s\.(?:deployment|replicaset|statefulset|daemonset|hpa|job|replication.controller)\./, 'sum', 'a number of pods'],
  [/^kube\.(?:deployment|replicaset|statefulset|daemonset|horizontalpodautoscaler|job)\./, 'sum', 'a number of pods'],
  [
    /^(?:k8s\.(?:pod|node|container)|container)\.(?:cpu\.usage|memory\.(?:usage|working\.set|rss|available))/,
    'sum',
    'a usage of resources',
  ],
  [/^container\.(?:memory\.(?:usage|working\.set)\.bytes|fs\.usage\.bytes)$/, 'sum', 'bytes'],
  [/^node\.(?:memory|filesystem)\..*\.bytes$/, 'sum', 'bytes'],
  [/(?:consumer\.?group\.lag|consumer\.lag|records\.lag)/, 'sum', 'a number of messages'],
  [
    /^(?:db\.client\.connections?\.|postgresql\.backends|mysql\.threads|redis\.clients\.|nginx\.connections|jvm\.thread\.count|process\.(?:threads|open\.))/,
    'sum',
    'a number of things in use',
  ],
];

const averageUnits: readonly (readonly [units: RegExp, rule: string])[] = [
  [/^(?:1|%|percent|ratio)$/i, 'a share'],
  [/^(?:Cel|\[degF\]|K|°C|°F|C|F|celsius|fahrenheit)$/i, 'a temperature'],
  [/^(?:ns|us|µs|ms|s|min|h|d|seconds?|milliseconds?|minutes?|hours?|days?)$/, 'a time'],
  [/\/(?:s|min|h|sec|second|minute|hour)$/, 'a rate'],
  [/^(?:V|A|Hz|MHz|GHz|bar|Pa|kPa|hPa|mbar|m|cm|mm|km|deg|dB|dBm|pH|lx|rpm)$/, 'a level'],
];

const sumUnits: readonly (readonly [units: RegExp, rule: string])[] = [
  [/^(?:By|[KMGT]i?By|bytes?|bits?|B|KB|MB|GB)$/i, 'bytes'],
  [/^\{.+\}$/, 'a count'],
];

const averageNames =
  /(?:ratio|utili[sz]ation|percent|percentage|temperature|temp|humidity|pressure|speed|voltage|latency|duration|time|age|level|score|rate|frequency|availability|price)$/;
const sumNames =
  /(?:count|bytes|number|size|total|depth|length|lag|backlog|pending|active|waiting|queued|running|connections|clients|users|sessions|workers|jobs|messages|ready|threads|in\.use|inflight|usage|used|free)$/;
const temperature = /(?:^|\.)temp(?:erature)?(?:\.|$)/;

/** Returns how the series of a gauge combine, and by which rule. */
export const getMetricAddition = ({ name, unit }: Pick<CatalogueMetric, 'name' | 'unit'>): MetricAddition => {
  const dotted = name
    .toLowerCase()
    .replace(/[_:]+/g, '.')
    .replace(/\.(?:celsius|fahrenheit)$/, '');
  if (temperature.test(dotted))
    return { combination: 'average', rule: 'temperatures are averaged', isNeverSummed: true };
  const known = wellKnownMetrics.find(([names]) => names.test(dotted));
  if (known !== undefined) return describe(known[1], `the metric is ${known[2]}`);
  const averageUnit = averageUnits.find(([units]) => units.test(unit));
  if (averageUnit !== undefined) return describe('average', `the unit ${unit} is ${averageUnit[1]}`, averageUnit[1]);
  const sumUnit = sumUnits.find(([units]) => units.test(unit));
  if (sumUnit !== undefined) return describe('sum', `the unit ${unit} is ${sumUnit[1]}`);
  if (averageNames.test(dotted)) return describe('average', 'its name is that of a share or level');
  if (sumNames.test(dotted)) return describe('sum', 'its name is that of a count or size');
  return describe('average', 'neither its unit nor its name tells that series add up');
};

const combinationTexts: Readonly<Record<Combination, string>> = {
  sum: 'series are added',
  average: 'series are averaged',
  increase: 'its growth in the range',
};

/** Kinds of units whose sum over series has no meaning */
const neverSummed: ReadonlySet<string> = new Set(['a temperature', 'a level', 'a share']);

const describe = (combination: Combination, reason: string, kind?: string): MetricAddition => ({
  combination,
  rule: `${combinationTexts[combination]}, because ${reason}`,
  ...(kind !== undefined && neverSummed.has(kind) ? { isNeverSummed: true as const } : {}),
});
