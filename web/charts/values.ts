/** Converts series to lines for charts, and formats values */
import type { Result } from '../../queries/result.ts';
import { formatDuration } from '../frame/durations.ts';

type Series = Result['series'][number];

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

/** Formats the name and labels of a series, for example `orders{shop="north"}`. */
const formatSeriesName = ({ name, labels }: Series): string => {
  const labelTexts = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return labelTexts.length === 0 ? name : `${name}{${labelTexts.join(', ')}}`;
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
  const lines = series.map((item) => {
    const byStep = new Map(item.points);
    return { name: formatSeriesName(item), values: steps.map((step) => toFiniteNumber(byStep.get(step))) };
  });
  return { steps, lines };
};

const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });
const byteUnits = ['By', 'KiBy', 'MiBy', 'GiBy', 'TiBy'];
const nanosecondsPerUnit: Readonly<Record<string, number>> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

/** Formats a value with a UCUM unit. */
export const formatQuantity = (value: number | undefined, unit: string): string => {
  if (value === undefined) return '';
  const factor = nanosecondsPerUnit[unit];
  if (factor !== undefined) return formatDuration(value * factor);
  if (unit === 'By') {
    const power = Math.min(byteUnits.length - 1, Math.max(0, Math.floor(Math.log2(Math.abs(value) || 1) / 10)));
    return `${number.format(value / 1024 ** power)} ${byteUnits[power]}`;
  }
  const plainUnit = unit.replace(/[{}]/g, '');
  // UCUM annotations are singular, for example `{record}`.
  if (
    value !== 1 &&
    plainUnit !== '' &&
    unit === `{${plainUnit}}` &&
    !plainUnit.endsWith('s') &&
    !plainUnit.endsWith('y')
  )
    return `${number.format(value)} ${plainUnit}s`;
  return plainUnit === '' || plainUnit === '1' ? number.format(value) : `${number.format(value)} ${plainUnit}`;
};
