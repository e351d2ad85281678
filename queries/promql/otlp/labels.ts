/** Prometheus labels of OTLP series. */
import type { Labels } from '../series.ts';
import { buildLabelName, buildMetricName, type NamedMetric, type TranslationStrategy } from './names.ts';

/** Translation of OTLP to Prometheus' series. */
export interface Translation {
  readonly strategy: TranslationStrategy;
  /** Resource attributes that become labels of each series. */
  readonly promoted: readonly string[];
  /** Whether the scope becomes labels. */
  readonly scopeLabels: boolean;
}

/** Attributes as text. */
export type AttributeTexts = ReadonlyMap<string, string>;

export interface ScopeTexts {
  readonly name: string;
  readonly version: string;
  readonly url: string;
  /** As JSON; empty for none. */
  readonly attributes: string;
}

/** Suffixes of the series names of a histogram or summary in Prometheus. */
export const partSuffixes = { buckets: '_bucket', count: '_count', sum: '_sum' } as const;

/** Parts of an OTLP metric: each is one series, or several series (`buckets`, `quantiles`). */
export type SeriesPart = 'value' | 'native' | 'buckets' | 'quantiles' | 'count' | 'sum' | 'presence';
export const listSeriesParts = (kind: string): readonly SeriesPart[] => {
  switch (kind) {
    case 'histogram':
      return ['buckets', 'count', 'sum'];
    case 'exponential_histogram':
      return ['native'];
    case 'summary':
      return ['quantiles', 'count', 'sum'];
    default:
      return ['value'];
  }
};

/** Returns the name of one part of a metric. */
export const buildPartName = (metric: NamedMetric, part: SeriesPart, strategy: TranslationStrategy): string => {
  const name = buildMetricName(metric, strategy);
  if (name === '' || !(part in partSuffixes)) return name;
  return `${name}${partSuffixes[part as keyof typeof partSuffixes]}`;
};

/** Resource attributes that identify the target: they become `job` and `instance`. */
const identifyingAttributes = ['service.name', 'service.namespace', 'service.instance.id'];

const addTargetLabels = (labels: Map<string, string>, resource: AttributeTexts): void => {
  const service = resource.get('service.name');
  const namespace = resource.get('service.namespace');
  if (service !== undefined) labels.set('job', namespace === undefined ? service : `${namespace}/${service}`);
  const instance = resource.get('service.instance.id');
  if (instance !== undefined) labels.set('instance', instance);
};

/**
 * Translates attributes to labels. If several keys translate to one name, their values are joined by `;` in the order
 * of the keys, as the specification requires.
 */
const translateAttributes = (attributes: AttributeTexts, strategy: TranslationStrategy): Map<string, string> => {
  const labels = new Map<string, string>();
  const keys = [...attributes.keys()].sort();
  for (const key of keys) {
    const name = buildLabelName(key, strategy);
    if (name === '') continue;
    const value = attributes.get(key) ?? '';
    const previousValue = labels.get(name);
    labels.set(name, previousValue === undefined ? value : `${previousValue};${value}`);
  }
  return labels;
};

/** Returns the labels of a series without `__name__`, `le` and `quantile`. */
export const buildSeriesLabels = (
  attributes: AttributeTexts,
  resource: AttributeTexts,
  scope: ScopeTexts,
  { strategy, promoted, scopeLabels }: Translation,
): Map<string, string> => {
  const labels = translateAttributes(attributes, strategy);
  for (const key of promoted) {
    const value = resource.get(key);
    const name = buildLabelName(key, strategy);
    if (value !== undefined && name !== '' && !labels.has(name)) labels.set(name, value);
  }
  if (scopeLabels && scope.name !== '') {
    labels.set('otel_scope_name', scope.name);
    labels.set('otel_scope_version', scope.version);
    labels.set('otel_scope_schema_url', scope.url);
    for (const [key, value] of Object.entries(parseScopeAttributes(scope)))
      labels.set(
        buildLabelName(`otel_scope_${key}`, strategy),
        typeof value === 'string' ? value : JSON.stringify(value),
      );
  }
  addTargetLabels(labels, resource);
  return labels;
};

const parseScopeAttributes = ({ attributes }: ScopeTexts): Record<string, unknown> =>
  attributes === '' ? {} : (JSON.parse(attributes) as Record<string, unknown>);

/** Returns labels of `target_info`; undefined if the resource has neither a service nor any other attribute. */
export const buildTargetLabels = (
  resource: AttributeTexts,
  { strategy }: Translation,
): Map<string, string> | undefined => {
  const otherAttributes = new Map([...resource].filter(([key]) => !identifyingAttributes.includes(key)));
  const labels = translateAttributes(otherAttributes, strategy);
  const attributeLabelCount = labels.size;
  addTargetLabels(labels, resource);
  return attributeLabelCount === 0 || labels.size === attributeLabelCount ? undefined : labels;
};

/** Returns labels ordered by name, without empty values, which Prometheus treats as absent. */
export const sortLabels = (labels: Iterable<readonly [string, string]>): Labels =>
  Object.fromEntries(
    [...labels].filter(([, value]) => value !== '').sort(([left], [right]) => (left < right ? -1 : 1)),
  );
