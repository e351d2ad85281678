/** Values of SLOs from stored slices; many SLOs are read in few statements. */

import { type Answer, buildSeriesAnswer, buildTableAnswer, type QueryContext } from '../../../queries/answer.ts';
import { invalid } from '../../../queries/errors.ts';
import type { Reading } from '../../../queries/reading.ts';
import { buildSteps, rangeSeconds } from '../../../queries/steps.ts';
import { parseDuration } from '../../../queries/time.ts';
import type { SloObjective } from '../../../schemas/slo-slices.ts';
import type { SloQuery } from '../query.ts';
import {
  computeBudget,
  computeBudgetSpent,
  computeBurnRate,
  computeCoverage,
  computeSli,
  type Sums,
  toObjective,
} from './figures.ts';
import { asNumber, compare, type Fraction } from './fraction.ts';
import { type MeasuredSlo, readMeasuredSlos } from './slices.ts';
import { readWindows } from './window-sums.ts';
import { countSlices, periodAt, rollingAt, type Window } from './windows.ts';

/** Maximum number of SLOs in one statement. */
export const maxSlosPerBatch = 1000;
/** Maximum number of steps of a series. */
const maxSteps = 1000;
const msNs = 1_000_000n;

/** Returns the key shared by SLOs of one batch: those with long windows read more. */
export const sloKey = ({ windows = [] }: SloQuery): string => JSON.stringify(windows);

/** Returns the ends of windows: the range, or each of its steps. */
const windowEnds = ({
  range,
  stepMs,
  stepsFrom,
}: QueryContext): { readonly atMs: readonly number[]; readonly endsMs: number[] } => {
  const endMs = Number((range.to + 1n) / msNs);
  if (stepMs === undefined) return { atMs: [endMs], endsMs: [endMs] };
  if ((rangeSeconds(range) * 1000) / stepMs > maxSteps)
    throw invalid('step', `gives more than ${maxSteps} steps, the maximum of an objective: use a larger step`);
  const { starts } = buildSteps(range, stepMs, stepsFrom);
  return { atMs: starts, endsMs: starts.map((ms) => Math.min(ms + stepMs, endMs)) };
};

/** Returns the full window of an SLO at a time. */
const fullWindowAt = ({ calendar, windowDays }: SloObjective, endMs: number): Window =>
  calendar === undefined ? rollingAt(windowDays, endMs) : { fromMs: periodAt(calendar, endMs - 1).fromMs, toMs: endMs };

const excludedWindows = ({ excluded = [] }: SloObjective): Window[] =>
  excluded.map(([fromMs, toMs]) => ({ fromMs, toMs }));

/** Returns the number of slices in the full window, including future ones, which the budget of slices is based on. */
const countWindowSlices = (objective: SloObjective, endMs: number): number => {
  const { calendar, windowDays, sliceMs } = objective;
  const whole = calendar === undefined ? rollingAt(windowDays, endMs) : periodAt(calendar, endMs - 1);
  return countSlices(whole, excludedWindows(objective), sliceMs);
};

/** Sums of an SLO for one end: its requested windows, longest first, and its full window. */
interface EndSums {
  readonly endMs: number;
  readonly windows: readonly Window[];
  readonly whole: Window;
}

interface Member {
  readonly query: SloQuery;
  readonly slo: MeasuredSlo;
  readonly instants: readonly EndSums[];
}

const needsWhole = ({ figure, windows = [] }: SloQuery): boolean =>
  windows.length === 0 || figure === 'budget-left' || figure === 'budget-spent';

const createMember = (query: SloQuery, slo: MeasuredSlo, endsMs: readonly number[]): Member => {
  const { sliceMs } = slo.objective;
  const lengths = (query.windows ?? [])
    .map((text) => Number((parseDuration(text) ?? 0n) / msNs))
    .toSorted((one, other) => other - one);
  if (lengths.some((ms) => ms % sliceMs !== 0))
    throw invalid('windows', `must be whole slices of the objective, ${sliceMs / 60_000}m each`);
  return {
    query,
    slo,
    instants: endsMs.map((ms) => {
      const endMs = Math.floor(ms / sliceMs) * sliceMs;
      const windows = lengths.map((length) => ({ fromMs: endMs - length, toMs: endMs }));
      return { endMs, windows, whole: fullWindowAt(slo.objective, endMs) };
    }),
  };
};

const memberWindows = ({ query, instants }: Member): Window[] =>
  instants.flatMap(({ windows, whole }) => (needsWhole(query) ? [...windows, whole] : windows));

interface SloValue {
  readonly value: Fraction | number | undefined;
  /** Sums of the longest window. */
  readonly sums: Sums;
  readonly coverage: number;
}

const lowestRate = (rates: readonly (Fraction | undefined)[]): Fraction | undefined =>
  rates.reduce((one, other) =>
    one === undefined || other === undefined ? undefined : compare(one, other) <= 0 ? one : other,
  );

const computeValue = (
  { query, slo: { objective: storedObjective } }: Member,
  { endMs, windows, whole }: EndSums,
  summed: (window: Window) => Sums,
): SloValue => {
  const objective = toObjective(storedObjective);
  const [longest = whole] = windows;
  const sums = summed(longest);
  const coverage = computeCoverage(
    sums,
    countSlices(longest, excludedWindows(storedObjective), storedObjective.sliceMs),
  );
  const known = { sums, coverage };
  const budget = () => computeBudget(summed(whole), objective, countWindowSlices(storedObjective, endMs));
  switch (query.figure) {
    case 'sli':
      return { ...known, value: computeSli(sums) };
    case 'burn-rate':
      return {
        ...known,
        value: lowestRate([longest, ...windows].map((window) => computeBurnRate(summed(window), objective))),
      };
    case 'budget-left':
      return { ...known, value: budget().leftShare };
    case 'budget-spent':
      return { ...known, value: computeBudgetSpent(sums, budget()) };
    default:
      return { ...known, value: coverage };
  }
};

const toNumber = (value: SloValue['value']): number | null =>
  value === undefined ? null : typeof value === 'number' ? value : asNumber(value);

const unit = '1';

const toAnswer = (member: Member, summed: (window: Window) => Sums, context: QueryContext): Answer => {
  const figures = member.instants.map((instant) => computeValue(member, instant, summed));
  const { figure: name } = member.query;
  if (context.stepMs !== undefined) {
    const { atMs } = windowEnds(context);
    const points = figures.map(({ value }, index): [number, number | null] => [atMs[index] ?? 0, toNumber(value)]);
    return buildSeriesAnswer([{ name, unit, points, labels: {} }], []);
  }
  return buildTableAnswer(
    [name, 'bad', 'total', 'coverage'].map((column) => ({ name: column, type: 'number', unit })),
    figures.map(({ value, sums, coverage }) => [toNumber(value), asNumber(sums.bad), asNumber(sums.total), coverage]),
  );
};

const emptyAnswer = (context: QueryContext): Answer =>
  context.stepMs === undefined ? buildTableAnswer([], []) : buildSeriesAnswer([], []);

/** Outcome of one query of a batch. */
type Outcome = { readonly answer: Answer } | { readonly error: unknown };

/** Returns values of SLOs with a common `sloKey`. An SLO without measurements has none. */
export const runSloBatch = async (
  queries: readonly SloQuery[],
  reading: Pick<Reading, 'columns'>,
  context: QueryContext,
): Promise<Outcome[]> => {
  const slosById = await readMeasuredSlos(reading, [...new Set(queries.map(({ sloId }) => sloId))]);
  const { endsMs } = windowEnds(context);
  const members = queries.map((query): Member | { readonly error: unknown } | undefined => {
    const slo = slosById.get(query.sloId);
    try {
      return slo && createMember(query, slo, endsMs);
    } catch (error) {
      return { error };
    }
  });
  const outcomes = members.map(
    (member): Outcome => (member !== undefined && 'error' in member ? member : { answer: emptyAnswer(context) }),
  );
  const known = members.flatMap((member, index) =>
    member === undefined || 'error' in member ? [] : [{ member, index }],
  );
  const summed = await readWindows(
    reading,
    known.map(({ member }) => ({
      ...member.slo,
      windows: memberWindows(member),
      excluded: excludedWindows(member.slo.objective),
    })),
  );
  for (const [place, { member, index }] of known.entries())
    outcomes[index] = { answer: toAnswer(member, summed(place), context) };
  return outcomes;
};

/** Returns a value of one SLO. */
export const runSlo = async (
  query: SloQuery,
  reading: Pick<Reading, 'columns'>,
  context: QueryContext,
): Promise<Answer> => {
  const [outcome] = await runSloBatch([query], reading, context);
  if (outcome === undefined || 'error' in outcome) throw outcome?.error;
  return outcome.answer;
};
