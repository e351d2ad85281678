/** Which values set selected spans or traces apart from the others. How that is decided is in the README of `queries/traces/`. */
import { z } from 'zod';
import { invalid } from '../../errors.ts';
import type { Range } from '../../range.ts';
import { refuseBeyondRetention } from '../../range.ts';
import type { Reading } from '../../reading.ts';
import { Unknown } from '../../result.ts';
import { candidatesOf, unitsOf } from './counts.ts';
import { correlationsOf, type Difference, falseDiscoveryRate, groupsOf, rankedDifferences } from './ranking.ts';
import { Sample, type Selection, sampleSize } from './sample.ts';

/** Differences whose correlation is looked at. */
const maxCorrelated = 60;

const share = z.strictObject({ count: z.int(), share: z.number() });
const set = z.strictObject({
  count: z.int().describe('In the range; of traces, close to it'),
  sampled: z.int().describe('Looked at'),
});
const value = z.string().nullable().describe('Null: that there is any value; for a rank test, the numbers');

const TraceDifference = z.strictObject({
  field: z.string().describe('As a search names it; `statement` is a database statement without its literals'),
  value,
  test: z.enum(['g', 'fisher', 'rank']),
  selected: share.describe('How many have it'),
  baseline: share,
  difference: z
    .number()
    .describe(
      'Of the shares; of a rank test, how much more often than not the number of a selected one is larger. From -1 to 1',
    ),
  interval: z.tuple([z.number(), z.number()]).describe('Of the difference, 95 %'),
  lift: z.union([z.number(), Unknown]).describe('The share of the selected by that of the baseline'),
  pValue: z.number(),
  adjustedPValue: z.number().describe('For the number of tests'),
  correlated: z
    .array(z.strictObject({ field: z.string(), value, correlation: z.number() }))
    .describe('Differences that are at nearly the same spans, or at nearly all the others where it is negative'),
});

export const TraceComparison = z.strictObject({
  by: z.enum(['spans', 'traces']),
  selected: set,
  baseline: set,
  isSampled: z.boolean().describe(`Whether a sample of one set was looked at, of about ${sampleSize}`),
  tests: z.int().describe('How many tests were made'),
  falseDiscoveryRate: z.number().describe('The share of the differences that is expected to be wrong, at most'),
  items: z.array(TraceDifference).describe('The largest first, by the end of the interval that is nearer to 0'),
  found: z.int().describe('Differences in all, those that are correlated with another included'),
  excluded: z
    .array(z.strictObject({ field: z.string(), reason: z.string() }))
    .describe('Fields that were not compared, or not in all their values'),
  reason: z.string().nullable().describe('Why nothing could be compared'),
});
export type TraceComparison = z.output<typeof TraceComparison>;

/** Compares the selected of a range with the others. Throws `VALIDATION_FAILED` where nothing says which are selected. */
export const compareTraces = async (
  selection: Selection,
  reading: Reading,
  { range, limit }: { readonly range: Range; readonly limit: number },
): Promise<TraceComparison> => {
  refuseBeyondRetention(range, { caller: reading, signal: 'traces', nowMs: reading.nowMs });
  const { selection: search, status, minDurationNs, maxDurationNs } = selection;
  if (search === undefined && status === undefined && minDurationNs === undefined && maxDurationNs === undefined)
    throw invalid(
      'selection',
      'is required, or minDuration, maxDuration or status: they say what is compared with the rest',
    );
  const sample = new Sample(selection, range);
  const sizes = await sample.measure(reading);
  const nothing = reasonOf(selection.by, sizes);
  const {
    candidates,
    excluded,
    sizes: sampled,
  } = nothing === null ? await candidatesOf(reading, sample) : { candidates: [], excluded: [], sizes: { n: 0, m: 0 } };
  const { tests, found } = rankedDifferences(candidates);
  return {
    by: selection.by,
    selected: { count: sizes.selected, sampled: sampled.n },
    baseline: { count: sizes.baseline, sampled: sampled.m },
    isSampled: sample.isThinned,
    tests,
    falseDiscoveryRate,
    found: found.length,
    items: (await grouped(reading, sample, found)).slice(0, limit),
    excluded: [...excluded],
    reason: nothing,
  };
};

const reasonOf = (by: string, { selected, baseline }: { selected: number; baseline: number }): string | null => {
  if (selected + baseline === 0) return `there are no ${by} to compare`;
  if (selected === 0) return `none of ${baseline} ${by} is selected`;
  return baseline === 0 ? `all ${selected} ${by} are selected: there are no others to compare with` : null;
};

/** One item for each group of differences that go together. */
const grouped = async (
  reading: Reading,
  sample: Sample,
  found: readonly Difference[],
): Promise<TraceComparison['items']> => {
  const first = found.slice(0, maxCorrelated);
  if (first.length === 0) return [];
  const units = await unitsOf(
    reading,
    sample,
    first.map(({ candidate }) => candidate),
  );
  const correlation = correlationsOf(units, first.length);
  return groupsOf(first.length, correlation).map(([one = 0, ...others]) => ({
    ...itemOf(first[one] as Difference),
    correlated: others.map((other) => ({
      ...nameOf(first[other] as Difference),
      correlation: correlation(one, other),
    })),
  }));
};

const nameOf = ({ candidate: { kind, key, value: text } }: Difference): { field: string; value: string | null } => ({
  field: kind === 'field' ? key : `${kind}.${key}`,
  value: text ?? null,
});

const itemOf = (each: Difference): Omit<TraceComparison['items'][number], 'correlated'> => {
  const { a, n, b, m } = each.candidate.counts;
  return {
    ...nameOf(each),
    test: each.test,
    difference: each.difference,
    pValue: each.p,
    adjustedPValue: each.adjustedP,
    selected: { count: a, share: a / n },
    baseline: { count: b, share: b / m },
    interval: [each.interval.low, each.interval.high],
    lift: b === 0 ? { value: null, reason: 'none of the others has it' } : a / n / (b / m),
  };
};
