/** Translates names of OTLP metrics and attributes by the OpenTelemetry–Prometheus specification. */
import type { Settings } from '../../../schemas/settings.ts';

/** Translation strategy of names. */
export type TranslationStrategy = Settings['PROMQL_TRANSLATION'];

/** Properties that determine a metric's name besides its own name. */
export interface NamedMetric {
  readonly metric: string;
  readonly kind: string;
  readonly monotonic: boolean;
  readonly unit: string;
}

const units: Readonly<Record<string, string>> = {
  d: 'days',
  h: 'hours',
  min: 'minutes',
  s: 'seconds',
  ms: 'milliseconds',
  us: 'microseconds',
  ns: 'nanoseconds',
  By: 'bytes',
  KiBy: 'kibibytes',
  MiBy: 'mebibytes',
  GiBy: 'gibibytes',
  TiBy: 'tibibytes',
  KBy: 'kilobytes',
  MBy: 'megabytes',
  GBy: 'gigabytes',
  TBy: 'terabytes',
  m: 'meters',
  V: 'volts',
  A: 'amperes',
  J: 'joules',
  W: 'watts',
  g: 'grams',
  Cel: 'celsius',
  Hz: 'hertz',
  '1': '',
  '%': 'percent',
};
const perUnits: Readonly<Record<string, string>> = {
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  mo: 'month',
  y: 'year',
};

export const escapesNames = (strategy: TranslationStrategy): boolean => strategy.startsWith('UnderscoreEscaping');
const addsSuffixes = (strategy: TranslationStrategy): boolean => strategy.endsWith('WithSuffixes');

/** Returns the words of a unit: `By/s` is `bytes` and `per_second`. Text in braces is a comment and has no words. */
const splitUnit = (unit: string): { readonly main: string; readonly per: string } => {
  const slashIndex = unit.indexOf('/');
  const translateUnit = (text: string, names: Readonly<Record<string, string>>): string => {
    const trimmed = text.trim();
    return /[{}]/.test(trimmed) ? '' : Object.hasOwn(names, trimmed) ? (names[trimmed] ?? '') : trimmed;
  };
  const main = translateUnit(slashIndex < 0 ? unit : unit.slice(0, slashIndex), units);
  const per = slashIndex < 0 ? '' : translateUnit(unit.slice(slashIndex + 1), perUnits);
  return { main, per: per === '' ? '' : `per_${per}` };
};

const cleanUnit = (unit: string): string =>
  unit
    .replaceAll(/[^A-Za-z0-9:]/g, '_')
    .replaceAll(/_{2,}/g, '_')
    .replace(/^_/, '');

const prefixLeadingDigit = (name: string): string => (/^\d/.test(name) ? `_${name}` : name);

const isCounter = ({ kind, monotonic }: NamedMetric): boolean => kind === 'sum' && monotonic;
const isRatio = ({ kind, unit }: NamedMetric): boolean => kind === 'gauge' && unit === '1';

/**
 * Returns the escaped name with suffixes: words of the name, then missing words of the unit, then `total` or `ratio`.
 */
const buildEscapedName = (metric: NamedMetric): string => {
  let words = metric.metric.split(/[^A-Za-z0-9:]+/).filter((word) => word !== '');
  const { main, per } = splitUnit(metric.unit);
  const mainWord = cleanUnit(main);
  const perWord = cleanUnit(per);
  const perSuffix = perWord === 'per_' ? '' : perWord.replace(/_$/, '');
  const isMissingPer = perSuffix !== '' && !words.includes(perSuffix);
  const mainSuffix = isMissingPer ? mainWord.replace(/_$/, '') : mainWord;
  const unitSuffixes = [words.includes(mainWord) ? '' : mainSuffix, isMissingPer ? perSuffix : ''];
  words = [...words, ...unitSuffixes.filter((word) => word !== '')];
  if (isCounter(metric)) words = [...words.filter((word) => word !== 'total'), 'total'];
  if (isRatio(metric)) words = [...words.filter((word) => word !== 'ratio'), 'ratio'];
  return prefixLeadingDigit(words.join('_'));
};

/** Returns the name without a suffix and the character before it. */
const removeSuffix = (name: string, suffix: string): string =>
  name.endsWith(suffix) && name.length > suffix.length + 1 ? name.slice(0, -(suffix.length + 1)) : name;

const buildUnescapedName = (metric: NamedMetric): string => {
  const suffixes: string[] = [];
  let name = metric.metric;
  const moveToEnd = (suffix: string): void => {
    name = removeSuffix(name, suffix);
    suffixes.unshift(suffix);
  };
  if (isRatio(metric)) moveToEnd('ratio');
  if (isCounter(metric)) moveToEnd('total');
  const { main, per } = splitUnit(metric.unit);
  if (per !== '') moveToEnd(per);
  if (main !== '' && !name.endsWith(main)) name = `${name}_${main}`;
  return [name, ...suffixes].join('_');
};

/** Returns the Prometheus name of a metric without `_bucket`, `_sum` and `_count`; empty if nothing remains. */
export const buildMetricName = (metric: NamedMetric, strategy: TranslationStrategy): string => {
  if (!escapesNames(strategy)) return addsSuffixes(strategy) ? buildUnescapedName(metric) : metric.metric;
  const name = addsSuffixes(strategy)
    ? buildEscapedName(metric)
    : prefixLeadingDigit(
        metric.metric
          .split(/[^A-Za-z0-9:_]+/)
          .filter((part) => part !== '')
          .join('_'),
      );
  return name !== metric.metric && /^_*$/.test(name) ? '' : name;
};

/** Returns the unit of a metric for its metadata. */
export const buildUnitName = (unit: string, strategy: TranslationStrategy): string => {
  const { main, per } = splitUnit(unit);
  const words = escapesNames(strategy) ? [cleanUnit(main), cleanUnit(per)] : [main, per];
  return words
    .filter((word) => word !== '')
    .join('_')
    .replaceAll(/^_|_$/g, '');
};

/** Returns the name of a label; empty if nothing remains. */
export const buildLabelName = (key: string, strategy: TranslationStrategy): string => {
  if (!escapesNames(strategy) || key === '') return key;
  const name = key.replaceAll(/[^A-Za-z0-9_]/gu, '_');
  if (name !== key && /^_*$/.test(name)) return '';
  if (/^\d/.test(name)) return `key_${name}`;
  return /^_(?!_)/.test(name) ? `key${name}` : name;
};
