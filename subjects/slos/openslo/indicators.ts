/** Indicators of OpenSLO: their location in each version, and their metrics */
import type { Fields, OpenSloObject } from './objects.ts';
import { type IndicatorPart, parseSpecPart, parseTextPart } from './sources.ts';

/** Good or bad events of a total, or a value */
export type Indicator =
  | {
      readonly counter: boolean;
      readonly good?: IndicatorPart | undefined;
      readonly bad?: IndicatorPart | undefined;
      readonly total?: IndicatorPart | undefined;
    }
  | { readonly value: IndicatorPart };

/** Versions by `apiVersion` */
export const versions = { 'openslo/v1alpha': 'v1alpha', 'openslo/v1': 'v1', 'openslo.com/v2alpha': 'v2alpha' } as const;
export type Version = (typeof versions)[keyof typeof versions];

/** Referenced objects by kind and name */
export type ObjectsByName = ReadonlyMap<string, OpenSloObject>;
export const toNameKey = (kind: string, name: string): string => `${kind} ${name}`;

const supportedTypes = ['prometheus', 'oiq'];

const checkType = (type: string, fields: Fields, key: string): string | undefined =>
  supportedTypes.includes(type.toLowerCase())
    ? type.toLowerCase()
    : fields.fail(key, `is ${type}: only prometheus and oiq are supported`);

/** Returns the type of a referenced data source. */
const findReferencedType = (name: string, fields: Fields, key: string, objects: ObjectsByName): string | undefined => {
  const source = objects.get(toNameKey('DataSource', name));
  if (source === undefined) return fields.fail(key, `names the data source ${name}, which no document defines`);
  const type = source.fields.map('spec')?.text('type');
  return type === undefined
    ? fields.fail(key, `names the data source ${name}, which has no type`)
    : checkType(type, fields, key);
};

/** Parses a metric of v1: `metricSource`. */
const parseV1Part = (metric: Fields, objects: ObjectsByName): IndicatorPart | undefined => {
  const source = metric.map('metricSource');
  metric.reportUnread();
  if (source === undefined) return undefined;
  const [ref, type] = [source.text('metricSourceRef', false), source.text('type', !source.has('metricSourceRef'))];
  // A data source is often in a separate file, and only its type is required.
  const isElsewhere = type !== undefined && ref !== undefined && !objects.has(toNameKey('DataSource', ref));
  const referencedSourceType =
    ref === undefined || isElsewhere ? undefined : findReferencedType(ref, source, 'metricSourceRef', objects);
  const declaredType = type === undefined ? undefined : checkType(type, source, 'type');
  if (
    (ref !== undefined && !isElsewhere && referencedSourceType === undefined) ||
    (type !== undefined && declaredType === undefined)
  )
    return undefined;
  if (declaredType !== undefined && referencedSourceType !== undefined && declaredType !== referencedSourceType)
    return source.fail('type', `is ${type}, but the data source ${ref} has the type ${referencedSourceType}`);
  const part = parseSpecPart(declaredType ?? referencedSourceType ?? '', source);
  source.reportUnread();
  return part;
};

/** Parses a metric of v2alpha: `dataSourceRef` or `dataSourceSpec`, and `spec`. */
const parseV2Part = (metric: Fields, objects: ObjectsByName): IndicatorPart | undefined => {
  const ref = metric.text('dataSourceRef', !metric.has('dataSourceSpec'));
  const inline = metric.map('dataSourceSpec', false);
  if (ref !== undefined && inline !== undefined)
    return metric.fail('dataSourceSpec', 'must not be set together with dataSourceRef');
  const text = inline?.text('type');
  const declaredType = inline === undefined || text === undefined ? undefined : checkType(text, inline, 'type');
  const type = ref === undefined ? declaredType : findReferencedType(ref, metric, 'dataSourceRef', objects);
  const parsePart = type === undefined ? undefined : parseSpecPart(type, metric);
  if (type !== undefined) metric.reportUnread();
  return parsePart;
};

const parseRatio = (ratio: Fields, part: (metric: Fields) => IndicatorPart | undefined): Indicator | undefined => {
  const counter = ratio.flag('counter') ?? false;
  if (ratio.has('raw')) return ratio.fail('raw', 'cannot be imported: a precomputed ratio has no event counts');
  const parseEvents = (key: string): IndicatorPart | undefined => {
    const metric = ratio.map(key, key === 'total');
    return metric && part(metric);
  };
  if (ratio.has('good') === ratio.has('bad')) return ratio.fail('', 'must have either good or bad');
  const [good, bad, total] = [parseEvents('good'), parseEvents('bad'), parseEvents('total')];
  ratio.reportUnread();
  return { counter, good, bad, total };
};

/** Parses the `spec` of an indicator of v1 or v2alpha. */
const parseIndicatorSpec = (spec: Fields, version: Version, objects: ObjectsByName): Indicator | undefined => {
  const parsePart = (metric: Fields): IndicatorPart | undefined =>
    (version === 'v1' ? parseV1Part : parseV2Part)(metric, objects);
  spec.text('description', false);
  const [ratio, threshold] = [spec.map('ratioMetric', false), spec.map('thresholdMetric', false)];
  spec.reportUnread();
  if (ratio !== undefined && threshold === undefined) return parseRatio(ratio, parsePart);
  if (threshold === undefined || ratio !== undefined)
    return spec.fail('', 'must have either ratioMetric or thresholdMetric');
  const value = parsePart(threshold);
  return value && { value };
};

/** Returns the indicator of an objective, either inline or in a separate document. */
export const parseIndicator = (spec: Fields, version: Version, objects: ObjectsByName): Indicator | undefined => {
  const key = version === 'v1' ? 'indicator' : 'sli';
  const ref = spec.text(`${key}Ref`, false);
  const inline = spec.map(key, false);
  if ((ref === undefined) === (inline === undefined)) return spec.fail('', `must have either ${key} or ${key}Ref`);
  if (inline !== undefined) {
    inline.map('metadata', false);
    const indicatorSpec = inline.map('spec');
    inline.reportUnread();
    return indicatorSpec && parseIndicatorSpec(indicatorSpec, version, objects);
  }
  const name = ref ?? '';
  const sli = objects.get(toNameKey('SLI', name));
  if (sli === undefined) return spec.fail(`${key}Ref`, `names the SLI ${name}, which no document defines`);
  const problemCount = sli.problems.length;
  const indicatorSpec = sli.fields.map('spec');
  const indicator = indicatorSpec && parseIndicatorSpec(indicatorSpec, version, objects);
  return sli.problems.length > problemCount
    ? spec.fail(`${key}Ref`, `names the SLI ${name}, which cannot be imported`)
    : indicator;
};

/** In v1alpha, the SLO contains the indicator of a threshold, and each objective that of a ratio. */
export const parseAlphaIndicator = (spec: Fields, objective: Fields): Indicator | undefined => {
  const ratio = objective.map('ratioMetrics', false);
  const sloIndicator = spec.map('indicator', false);
  if ((ratio === undefined) === (sloIndicator === undefined))
    return objective.fail('', 'must have ratioMetrics, unless the SLO has an indicator');
  if (ratio === undefined) {
    const metric = sloIndicator?.map('thresholdMetric');
    sloIndicator?.reportUnread();
    const value = metric && parseTextPart(metric);
    return value && { value };
  }
  const counter = (ratio.flag('incremental') ?? false) || (ratio.flag('counter') ?? false);
  const [good, total] = (['good', 'total'] as const).map((key) => {
    const metric = ratio.map(key);
    return metric && parseTextPart(metric);
  });
  ratio.reportUnread();
  return { counter, good, total };
};
