/** Describes anomalies of series in words. */
import { formatShort } from '../../../queries/figures.ts';
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
  const valueText = `${formatShort(value)}${unit === '' ? '' : ` ${unit}`}`;
  const rangeText = low === null || high === null ? '' : `, normal range ${formatShort(low)} to ${formatShort(high)}`;
  const expectedText = before === null ? '' : `, expected ${formatShort(before)}`;
  return `${signTexts[sign]}: ${valueText}${expectedText}${rangeText}`;
};
