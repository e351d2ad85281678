/** Converts series to lines for charts, and formats values */
import type { Result } from '../../queries/result.ts';
import { nameSeries } from '../../queries/series-names.ts';
import { formatDuration } from '../frame/durations.ts';

/** Series with one value per step */
export interface Line {
  readonly name: string;
  /** One value per step; `undefined` if it is missing or not finite */
  readonly values: readonly (number | undefined)[];
}

const toFiniteNumber = (value: number | string | null | undefined): number | undefined => {
  if (value === null || value === undefined) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
};

/** Returns the steps of a result, and its series with one value per step. */
export const toLines = ({
  series,
}: Pick<Result, 'series'>): {
  readonly steps: readonly number[];
  readonly lines: readonly Line[];
} => {
  const steps = [...new Set(series.flatMap(({ points }) => points.map(([at]) => at)))].sort(
    (one, other) => one - other,
  );
  const names = nameSeries(series);
  const lines = series.map(({ points }, index) => {
    const byStep = new Map(points);
    return { name: names[index] ?? '', values: steps.map((step) => toFiniteNumber(byStep.get(step))) };
  });
  return { steps, lines };
};

const precise = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** Formats a number for people: `0.048`, `12.3`, `5,132`, `2.46M`. */
export const formatNumber = (value: number): string => {
  const size = Math.abs(value);
  if (size >= 1e6) return compact.format(value);
  return size >= 1000 ? whole.format(value) : precise.format(value);
};

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const nanosecondsPerUnit: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  ms: 1e6,
  s: 1e9,
  min: 60e9,
  h: 3600e9,
  d: 86_400e9,
};
/** UCUM units that people write in another way */
const unitTexts: Readonly<Record<string, string>> = {
  '{request}/s': 'req/s',
  '{query}/s': 'queries/s',
  '{record}/s': 'records/s',
  '{span}/s': 'spans/s',
  'By/s': 'B/s',
  'bit/s': 'bit/s',
  Cel: '°C',
  '1/s': '/s',
};

/** Names of units alone, where no value precedes them */
const unitNames: Readonly<Record<string, string>> = {
  '1': '',
  By: 'bytes',
  ns: 'nanoseconds',
  us: 'microseconds',
  ms: 'milliseconds',
  s: 'seconds',
  min: 'minutes',
  h: 'hours',
  d: 'days',
};

/** Formats a UCUM unit without a value: `bytes`, `order`, `req/s`. */
export const formatUnit = (unit: string): string => unitNames[unit] ?? unitTexts[unit] ?? unit.replace(/[{}]/g, '');

type FormatNumber = (value: number) => string;

const formatBytes = (value: number, format: FormatNumber = precise.format): string => {
  const power = Math.min(byteUnits.length - 1, Math.max(0, Math.floor(Math.log2(Math.abs(value) || 1) / 10)));
  return `${format(value / 1024 ** power)} ${byteUnits[power]}`;
};

const percent = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

const formatPercent = (value: number): string =>
  Math.abs(value) >= 0.1 || value === 0 ? percent.format(value) : precise.format(value);

const formatters = new Map<number, FormatNumber>();

/** Returns the formatter with a fixed number of decimals, which is costly to create; `undefined` for the default precision. */
const getFormatter = (decimals: number | undefined): FormatNumber | undefined => {
  if (decimals === undefined) return undefined;
  const formatter =
    formatters.get(decimals) ??
    new Intl.NumberFormat('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format;
  formatters.set(decimals, formatter);
  return formatter;
};

/** Formats a value with a UCUM unit: `1.12 req/s`, `2.46 s`, `12 KiB`. The only formatter of values of the page. */
export const formatQuantity = (value: number | undefined, unit: string, decimals?: number): string => {
  if (value === undefined) return '';
  const format = getFormatter(decimals);
  const factor = nanosecondsPerUnit[unit];
  if (factor !== undefined) return formatDuration(value * factor, format);
  if (unit === 'By') return formatBytes(value, format);
  if (unit === 'By/s') return `${formatBytes(value, format)}/s`;
  if (unit === '%') return `${(format ?? formatPercent)(value)} %`;
  // UCUM annotations are singular, for example `{record}` and `{record}/s`.
  const isPlural = value !== 1 && /^\{[^{}]*[^{}sy]\}(\/s)?$/.test(unit);
  const plainUnit = unitTexts[unit] ?? unit.replace('}', isPlural ? 's' : '').replace(/[{}]/g, '');
  const number = (format ?? formatNumber)(value);
  return plainUnit === '' || plainUnit === '1' ? number : `${number} ${plainUnit}`;
};
