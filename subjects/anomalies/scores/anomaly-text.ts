/** Describes anomalies of series in words. */
import { formatShort } from '../../../queries/round-numbers.ts';
import type { AnomalyChange } from '../../../schemas/anomalies.ts';

import type { Sign } from './signs.ts';

export type Direction = AnomalyChange['direction'];

const directions: Readonly<Record<Sign, Direction>> = {
  up: 'up',
  jumpUp: 'up',
  driftUp: 'up',
  down: 'down',
  jumpDown: 'down',
  driftDown: 'down',
  noise: 'other',
  flat: 'other',
};

/** Returns the direction of a sign; noise and stillness have none. */
export const getSignDirection = (sign: Sign): Direction => directions[sign];

const signTexts: Readonly<Record<Sign, string>> = {
  up: 'higher than expected',
  down: 'lower than expected',
  jumpUp: 'risen to a new level',
  jumpDown: 'fallen to a new level',
  driftUp: 'rising slowly',
  driftDown: 'falling slowly',
  noise: 'varies more than usual',
  flat: 'unusually constant',
};

/** Returns a sentence about an anomaly. */
export const describeAnomaly = ({
  sign,
  value,
  unit,
  low,
  high,
  before,
}: Pick<AnomalyChange, 'sign' | 'value' | 'unit' | 'low' | 'high' | 'before'>): string => {
  const unitText = formatUnit(unit);
  const valueText = `${formatShort(value)}${unitText}`;
  const expectedText = before === null ? '' : `, expected ${formatShort(before)}${unitText}`;
  // Signs over several points may be unusual although the last value is in its range.
  const isOutside = low !== null && high !== null && value !== null && (value < low || value > high);
  const lowest = isCount(unit) && low !== null ? Math.max(0, low) : low;
  const rangeText =
    isOutside && lowest !== null ? `, normal range ${formatShort(lowest)} to ${formatShort(high)}${unitText}` : '';
  return `${signTexts[sign]}: ${valueText}${expectedText}${rangeText}`;
};

/** Returns a unit behind a value: the unit 1 has no name, and `{order}` is an annotation of UCUM. */
const formatUnit = (unit: string): string => {
  const name = unit === '1' ? '' : unit.replace(/[{}]/g, '');
  return name === '' ? '' : ` ${name}`;
};

/** Returns whether values of a unit are never negative: counts and bytes. */
const isCount = (unit: string): boolean => unit === 'By' || unit.startsWith('{');
