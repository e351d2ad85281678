/** Web vitals: their names and ratings. */
import { type VitalName, type VitalRating, vitalNames, vitalThresholds } from '../../schemas/rum.ts';

const nameByText = new Map<string, VitalName>(
  vitalNames.flatMap((name) => [
    [name, name],
    [name.toLowerCase(), name],
  ]),
);

/** Returns the vital of a name in any case; undefined for another metric. */
export const parseVitalName = (name: string): VitalName | undefined =>
  nameByText.get(name) ?? nameByText.get(name.toLowerCase());

/** Returns the rating of a value by the thresholds. */
export const rateVital = (name: VitalName, value: number): VitalRating => {
  const [good, acceptable] = vitalThresholds[name];
  if (value <= good) return 'good';
  return value <= acceptable ? 'needs-improvement' : 'poor';
};
