/** Values of series for charts and text */
import type { Result } from '../../queries/result.ts';
import { shownDuration } from '../frame/durations.ts';

type Series = Result['series'][number];

/** A series by step */
export interface Line {
  readonly name: string;
  /** One value per step; `undefined` if there is none, or it cannot be drawn */
  readonly values: readonly (number | undefined)[];
}

const drawn = (value: number | string | null | undefined): number | undefined => {
  if (value === null || value === undefined) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
};

/** `orders{shop="north"}` */
const nameOf = ({ name, labels }: Series): string => {
  const labelTexts = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return labelTexts.length === 0 ? name : `${name}{${labelTexts.join(', ')}}`;
};

/** Returns the steps of a result, and its series by step. */
export const linesOf = ({
  series,
}: Pick<Result, 'series'>): {
  readonly steps: readonly number[];
  readonly lines: readonly Line[];
} => {
  const steps = [...new Set(series.flatMap(({ points }) => points.map(([at]) => at)))].sort(
    (one, other) => one - other,
  );
  const lines = series.map((each) => {
    const byStep = new Map(each.points);
    return { name: nameOf(each), values: steps.map((step) => drawn(byStep.get(step))) };
  });
  return { steps, lines };
};

const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });
const bytes = ['By', 'KiBy', 'MiBy', 'GiBy', 'TiBy'];
const nanoseconds: Readonly<Record<string, number>> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

/** Formats a value with a UCUM unit. */
export const shownValue = (value: number | undefined, unit: string): string => {
  if (value === undefined) return '';
  const factor = nanoseconds[unit];
  if (factor !== undefined) return shownDuration(value * factor);
  if (unit === 'By') {
    const power = Math.min(bytes.length - 1, Math.max(0, Math.floor(Math.log2(Math.abs(value) || 1) / 10)));
    return `${number.format(value / 1024 ** power)} ${bytes[power]}`;
  }
  const plainUnit = unit.replace(/[{}]/g, '');
  // Annotations of counts are singular: `{record}`.
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
