/**
 * Finds the values that distinguish selected spans or traces from the others. The README of `queries/traces/` describes
 * the method.
 */
import { z } from 'zod';
import { createValidationError } from '../../errors.ts';
import type { Range } from '../../range.ts';
import { requireRetained } from '../../range.ts';
import { Unknown } from '../../result.ts';
import type { TenantReader } from '../../tenant-reader.ts';
import { findCandidates, readUnits } from './counts.ts';
import {
  computeCorrelations,
  type Difference,
  falseDiscoveryRate,
  groupByCorrelation,
  rankDifferences,
} from './rank-differences.ts';
import { Sample, type Selection, sampleSize } from './sample.ts';

/** Maximum number of differences checked for correlation. */
const maxCorrelatedDifferences = 60;

const shareSchema = z.strictObject({ count: z.int(), share: z.number() });
const setSchema = z.strictObject({
  count: z.int().describe('Number in the range; for traces, an approximation'),
  sampled: z.int().describe('Number of sampled units'),
});
const valueSchema = z
  .string()
  .nullable()
  .describe('`null` for the presence of any value; for a rank test, the numbers');

const TraceDifference = z.strictObject({
  field: z.string().describe('Name as in searches; `statement` is a database statement without its literals'),
  value: valueSchema,
  test: z.enum(['g', 'fisher', 'rank']),
  selected: shareSchema.describe('Number of units with the value'),
  baseline: shareSchema,
  difference: z
    .number()
    .describe(
      'Difference of the shares; for a rank test, the probability that a selected number is larger minus that it is smaller. From -1 to 1',
    ),
  interval: z.tuple([z.number(), z.number()]).describe('95 % interval of the difference'),
  lift: z.union([z.number(), Unknown]).describe('Share of the selected divided by the share of the baseline'),
  pValue: z.number(),
  adjustedPValue: z.number().describe('Adjusted for the number of tests'),
  correlated: z
    .array(z.strictObject({ field: z.string(), value: valueSchema, correlation: z.number() }))
    .describe(
      'Differences that occur on nearly the same spans, or on nearly all other spans if the correlation is negative',
    ),
});

export const TraceComparison = z.strictObject({
  by: z.enum(['spans', 'traces']),
  selected: setSchema,
  baseline: setSchema,
  isSampled: z.boolean().describe(`Whether a sample of about ${sampleSize} of one set was used`),
  tests: z.int().describe('Number of tests'),
  falseDiscoveryRate: z.number().describe('Maximum expected share of false differences'),
  items: z.array(TraceDifference).describe('Largest first, by the bound of the interval nearer to 0'),
  found: z.int().describe('Total number of differences, including correlated ones'),
  excluded: z
    .array(z.strictObject({ field: z.string(), reason: z.string() }))
    .describe('Fields that were not compared, or not in all their values'),
  reason: z.string().nullable().describe('Why nothing could be compared'),
});
export type TraceComparison = z.output<typeof TraceComparison>;

/** Compares the selected traces of a range with the others. Throws `VALIDATION_FAILED` if nothing is selected. */
export const compareTraces = async (
  selection: Selection,
  reader: TenantReader,
  { range, limit }: { readonly range: Range; readonly limit: number },
): Promise<TraceComparison> => {
  requireRetained(range, { caller: reader, signal: 'traces', nowMs: reader.nowMs });
  const { selection: search, status, minDurationNs, maxDurationNs } = selection;
  if (search === undefined && status === undefined && minDurationNs === undefined && maxDurationNs === undefined)
    throw createValidationError(
      'selection',
      'is required, or minDuration, maxDuration or status: they select what is compared with the rest',
    );
  const sample = new Sample(selection, range);
  await sample.correctClocks(reader);
  const sizes = await sample.measureSizes(reader);
  const emptyReason = explainEmpty(selection.by, sizes);
  const {
    candidates,
    excluded,
    sizes: sampled,
  } = emptyReason === null
    ? await findCandidates(reader, sample)
    : { candidates: [], excluded: [], sizes: { n: 0, m: 0 } };
  const { tests, significant } = rankDifferences(candidates);
  return {
    by: selection.by,
    selected: { count: sizes.selected, sampled: sampled.n },
    baseline: { count: sizes.baseline, sampled: sampled.m },
    isSampled: sample.isSampled,
    tests,
    falseDiscoveryRate,
    found: significant.length,
    items: (await groupCorrelated(reader, sample, significant)).slice(0, limit),
    excluded: [...excluded],
    reason: emptyReason,
  };
};

const explainEmpty = (by: string, { selected, baseline }: { selected: number; baseline: number }): string | null => {
  if (selected + baseline === 0) return `there are no ${by} to compare`;
  if (selected === 0) return `none of ${baseline} ${by} is selected`;
  return baseline === 0 ? `all ${selected} ${by} are selected: there are no others to compare with` : null;
};

/** Returns one item for each group of correlated differences. */
const groupCorrelated = async (
  reader: TenantReader,
  sample: Sample,
  differences: readonly Difference[],
): Promise<TraceComparison['items']> => {
  const largestDifferences = differences.slice(0, maxCorrelatedDifferences);
  if (largestDifferences.length === 0) return [];
  const units = await readUnits(
    reader,
    sample,
    largestDifferences.map(({ candidate }) => candidate),
  );
  const correlation = computeCorrelations(units, largestDifferences.length);
  return groupByCorrelation(largestDifferences.length, correlation).map(([one = 0, ...others]) => ({
    ...toItem(largestDifferences[one] as Difference),
    correlated: others.map((other) => ({
      ...toFieldAndValue(largestDifferences[other] as Difference),
      correlation: correlation(one, other),
    })),
  }));
};

const toFieldAndValue = ({
  candidate: { kind, key, value: text },
}: Difference): { field: string; value: string | null } => ({
  field: kind === 'field' ? key : `${kind}.${key}`,
  value: text ?? null,
});

const toItem = (difference: Difference): Omit<TraceComparison['items'][number], 'correlated'> => {
  const { a, n, b, m } = difference.candidate.counts;
  return {
    ...toFieldAndValue(difference),
    test: difference.test,
    difference: difference.difference,
    pValue: difference.p,
    adjustedPValue: difference.adjustedP,
    selected: { count: a, share: a / n },
    baseline: { count: b, share: b / m },
    interval: [difference.interval.low, difference.interval.high],
    lift: b === 0 ? { value: null, reason: 'not in the baseline' } : a / n / (b / m),
  };
};
