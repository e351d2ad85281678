/** Determines whether a pattern is new, gone or spiking: compares its last hour with the same hour of earlier days */
import { z } from 'zod';

/** Number of earlier days, and minimum number of them on which the services must have sent logs */
export const earlierDays = 7;
const minDays = 3;
/** Minimum deviations above the median, and minimum multiple of the median, for a spike */
const minSpikeDeviations = 5;
const minSpikeFactor = 2;
/** Minimum median for which an hour without records is significant: exp(-7) is less than 0.001 */
const minMedianForGone = 7;

export const Verdict = z.strictObject({
  isNew: z
    .boolean()
    .nullable()
    .describe(
      'Whether the pattern was first seen within the range, by services that sent logs before; `null` if none did',
    ),
  isGone: z
    .boolean()
    .nullable()
    .describe(
      'Whether the hour has no record although the median is at least 7; `null` with fewer than 3 earlier days',
    ),
  isSpiking: z
    .boolean()
    .nullable()
    .describe(
      'Whether the records exceed the median of the same hour of earlier days by 5 deviations and are at least twice the median; `null` with fewer than 3 earlier days',
    ),
  hour: z.strictObject({
    from: z.string(),
    to: z
      .string()
      .describe('End of the hour, at most two minutes before now, because counts arrive after their minute'),
    count: z.int(),
    days: z.int().describe('Number of the 7 earlier days on which the services sent logs in this hour'),
    median: z.number().nullable().describe('Median of the same hour of these days'),
    deviation: z
      .number()
      .nullable()
      .describe('1.4826 times the median absolute deviation, at least the square root of the median, and at least 1'),
  }),
  reason: z.string().nullable().describe('Why a field is `null`'),
});
export type Verdict = z.output<typeof Verdict>;

const computeMedian = (values: readonly number[]): number => {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
};

/**
 * Records of an hour, and of the same hour one, two … days before; `undefined` for days on which the services sent no
 * logs at that hour
 */
export interface HourHistory {
  readonly count: number;
  readonly earlier: readonly (number | undefined)[];
}

/**
 * Compares an hour with the same hour of earlier days. Let m be the median and s = max(1.4826 · MAD, √m, 1). A count x
 * is a spike if x ≥ m + 5 s and x ≥ 2 m. The MAD is robust against one unusual day, and √m is the random deviation of
 * counts. With m ≥ 7, an hour without records is significant. With fewer than three days, the result is `null`.
 */
export const compareHours = ({ count, earlier }: HourHistory) => {
  const days = earlier.filter((count) => count !== undefined);
  if (days.length < minDays) return { days: days.length, median: null, deviation: null, isGone: null, isSpiking: null };
  const medianCount = computeMedian(days);
  const scaledMad = 1.4826 * computeMedian(days.map((count) => Math.abs(count - medianCount)));
  const deviation = Math.max(scaledMad, Math.sqrt(medianCount), 1);
  return {
    days: days.length,
    median: medianCount,
    deviation,
    isGone: count === 0 && medianCount >= minMedianForGone,
    isSpiking: count >= medianCount + minSpikeDeviations * deviation && count >= minSpikeFactor * medianCount,
  };
};
