/** Whether a pattern is new, gone or spiking: its last hour against the same hour of earlier days. */
import { z } from 'zod';

/** Earlier days that are looked at, and how many of them the services must have sent logs on. */
export const earlierDays = 7;
const minDays = 3;
/** Deviations above the median, and how many times the median, that make a spike. */
const deviations = 5;
const times = 2;
/** Median above which an hour without a single record is no chance: exp(-7) is less than a thousandth. */
const minMedianForGone = 7;

export const Verdict = z.strictObject({
  isNew: z
    .boolean()
    .nullable()
    .describe('First seen within the range, by services that sent logs before; null where none of them did'),
  isGone: z
    .boolean()
    .nullable()
    .describe(
      'No record in the hour, and usually 7 or more; null where there are fewer than 3 earlier days to compare with',
    ),
  isSpiking: z
    .boolean()
    .nullable()
    .describe(
      'More records in the hour than the median of the same hour of earlier days by 5 deviations, and at least twice as many; null where there are fewer than 3 such days',
    ),
  hour: z.strictObject({
    from: z.string(),
    to: z.string().describe('Two minutes before now at the latest: counts come after their minute'),
    count: z.int(),
    days: z.int().describe('Earlier days, of 7, on which the services sent logs in this hour'),
    median: z.number().nullable().describe('Of the same hour of these days'),
    deviation: z
      .number()
      .nullable()
      .describe('1.4826 times the median absolute deviation, at least the square root of the median and 1'),
  }),
  reason: z.string().nullable().describe('Why something is null'),
});
export type Verdict = z.output<typeof Verdict>;

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, two) => one - two);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
};

/** Records of an hour, and of the same hour one, two … days before; `undefined` for days on which the services sent no logs then. */
export interface Hours {
  readonly count: number;
  readonly earlier: readonly (number | undefined)[];
}

/**
 * Compares an hour with the same hour of earlier days. With the median m and s = max(1.4826 · MAD, √m, 1), a count x is a spike when
 * x ≥ m + 5 s and x ≥ 2 m: the MAD is not moved by one odd day, and √m is what chance alone does to counts. With m ≥ 7, no record at
 * all is no chance. Fewer than three days say nothing: `null`.
 */
export const compareHours = ({ count, earlier }: Hours) => {
  const days = earlier.filter((each) => each !== undefined);
  if (days.length < minDays) return { days: days.length, median: null, deviation: null, isGone: null, isSpiking: null };
  const medianCount = median(days);
  const spread = 1.4826 * median(days.map((each) => Math.abs(each - medianCount)));
  const deviation = Math.max(spread, Math.sqrt(medianCount), 1);
  return {
    days: days.length,
    median: medianCount,
    deviation,
    isGone: count === 0 && medianCount >= minMedianForGone,
    isSpiking: count >= medianCount + deviations * deviation && count >= times * medianCount,
  };
};
