/** Names of OTLP metrics and attributes as Prometheus has them, by the OpenTelemetry–Prometheus specification. */
import type { Settings } from '../../../schemas/settings.ts';

/** How names are translated. */
export type TranslationStrategy = Settings['PROMQL_TRANSLATION'];

/** What decides a metric's name besides its own. */
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

export const escapes = (strategy: TranslationStrategy): boolean => strategy.startsWith('UnderscoreEscaping');
const addsSuffixes = (strategy: TranslationStrategy): boolean => strategy.endsWith('WithSuffixes');

/** Words of a unit: `By/s` is `bytes` and `per_second`. What stands in braces is a comment and gives none. */
const unitWords = (unit: string): { readonly main: string; readonly per: string } => {
  const slash = unit.indexOf('/');
  const of = (text: string, names: Readonly<Record<string, string>>): string => {
    const trimmed = text.trim();
    return /[{}]/.test(trimmed) ? '' : Object.hasOwn(names, trimmed) ? (names[trimmed] ?? '') : trimmed;
  };
  const main = of(slash < 0 ? unit : unit.slice(0, slash), units);
  const per = slash < 0 ? '' : of(unit.slice(slash + 1), perUnits);
  return { main, per: per === '' ? '' : `per_${per}` };
};

const cleanUnit = (unit: string): string =>
  unit
    .replaceAll(/[^A-Za-z0-9:]/g, '_')
    .replaceAll(/_{2,}/g, '_')
    .replace(/^_/, '');

const notStartingWithDigit = (name: string): string => (/^\d/.test(name) ? `_${name}` : name);

const isCounter = ({ kind, monotonic }: NamedMetric): boolean => kind === 'sum' && monotonic;
const isRatio = ({ kind, unit }: NamedMetric): boolean => kind === 'gauge' && unit === '1';

/** Escaped with suffixes: words of the name, then those of the unit that it lacks, then `total` or `ratio`. */
const escapedWithSuffixes = (named: NamedMetric): string => {
  let words = named.metric.split(/[^A-Za-z0-9:]+/).filter((word) => word !== '');
  const { main, per } = unitWords(named.unit);
  const mainWord = cleanUnit(main);
  const perWord = cleanUnit(per);
  const perSuffix = perWord === 'per_' ? '' : perWord.replace(/_$/, '');
  const isMissingPer = perSuffix !== '' && !words.includes(perSuffix);
  const mainSuffix = isMissingPer ? mainWord.replace(/_$/, '') : mainWord;
  const added = [words.includes(mainWord) ? '' : mainSuffix, isMissingPer ? perSuffix : ''];
  words = [...words, ...added.filter((word) => word !== '')];
  if (isCounter(named)) words = [...words.filter((word) => word !== 'total'), 'total'];
  if (isRatio(named)) words = [...words.filter((word) => word !== 'ratio'), 'ratio'];
  return notStartingWithDigit(words.join('_'));
};

/** The name without a suffix and the character before it. */
const withoutSuffix = (name: string, suffix: string): string =>
  name.endsWith(suffix) && name.length > suffix.length + 1 ? name.slice(0, -(suffix.length + 1)) : name;

const plainWithSuffixes = (named: NamedMetric): string => {
  const ends: string[] = [];
  let name = named.metric;
  const moveToEnd = (suffix: string): void => {
    name = withoutSuffix(name, suffix);
    ends.unshift(suffix);
  };
  if (isRatio(named)) moveToEnd('ratio');
  if (isCounter(named)) moveToEnd('total');
  const { main, per } = unitWords(named.unit);
  if (per !== '') moveToEnd(per);
  if (main !== '' && !name.endsWith(main)) name = `${name}_${main}`;
  return [name, ...ends].join('_');
};

/** The name of a metric in Prometheus, without `_bucket`, `_sum` and `_count`; empty where none is left. */
export const metricNameOf = (named: NamedMetric, strategy: TranslationStrategy): string => {
  if (!escapes(strategy)) return addsSuffixes(strategy) ? plainWithSuffixes(named) : named.metric;
  const name = addsSuffixes(strategy)
    ? escapedWithSuffixes(named)
    : notStartingWithDigit(
        named.metric
          .split(/[^A-Za-z0-9:_]+/)
          .filter((part) => part !== '')
          .join('_'),
      );
  return name !== named.metric && /^_*$/.test(name) ? '' : name;
};

/** The unit of a metric as its metadata has it. */
export const unitNameOf = (unit: string, strategy: TranslationStrategy): string => {
  const { main, per } = unitWords(unit);
  const words = escapes(strategy) ? [cleanUnit(main), cleanUnit(per)] : [main, per];
  return words
    .filter((word) => word !== '')
    .join('_')
    .replaceAll(/^_|_$/g, '');
};

/** The name of a label; empty where none is left. */
export const labelNameOf = (key: string, strategy: TranslationStrategy): string => {
  if (!escapes(strategy) || key === '') return key;
  const name = key.replaceAll(/[^A-Za-z0-9_]/gu, '_');
  if (name !== key && /^_*$/.test(name)) return '';
  if (/^\d/.test(name)) return `key_${name}`;
  return /^_(?!_)/.test(name) ? `key${name}` : name;
};
