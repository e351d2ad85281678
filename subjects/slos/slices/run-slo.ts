/** Values of SLOs from stored slices; many SLOs are read in few statements. */

import { type Answer, type QueryContext, seriesAnswer, tableAnswer } from '../../../queries/answer.ts';
import { invalid } from '../../../queries/errors.ts';
import type { SloQuery } from '../../../queries/query.ts';
import type { Reading } from '../../../queries/reading.ts';
import { secondsIn, stepsOf } from '../../../queries/steps.ts';
import { parseDuration } from '../../../queries/time.ts';
import type { SloObjective } from '../../../schemas/slo-slices.ts';
import { budgetOf, budgetSpentOf, burnRateOf, coverageOf, objectiveOf, type Sums, sliOf } from './figures.ts';
import { asNumber, compared, type Fraction } from './fraction.ts';
import { type MeasuredSlo, readMeasuredSlos } from './slices.ts';
import { readWindows } from './window-sums.ts';
import { periodAt, rollingAt, slicesIn, type Window } from './windows.ts';

/** Maximum number of SLOs in one statement. */
export const maxSlosPerBatch = 1000;
/** Maximum number of steps of a series. */
const maxSteps = 1000;
const msNs = 1_000_000n;

/** Returns the key shared by SLOs of one batch: those with long windows read more. */
export const sloKey = ({ windows = [] }: SloQuery): string => JSON.stringify(windows);

/** Returns the ends of windows: the range, or each of its steps. */
const endsOf = ({
  range,
  stepMs,
  stepsFrom,
}: QueryContext): { readonly atMs: readonly number[]; readonly endsMs: number[] } => {
  const endMs = Number((range.to + 1n) / msNs);
  if (stepMs === undefined) return { atMs: [endMs], endsMs: [endMs] };
  if ((secondsIn(range) * 1000) / stepMs > maxSteps)
    throw invalid('step', `gives more than ${maxSteps} steps, the maximum of an objective: use a larger step`);
  const { starts } = stepsOf(range, stepMs, stepsFrom);
  return { atMs: starts, endsMs: starts.map((ms) => Math.min(ms + stepMs, endMs)) };
};

/** Returns the full window of an SLO at a time. */
const fullWindowAt = ({ calendar, windowDays }: SloObjective, endMs: number): Window =>
  calendar === undefined ? rollingAt(windowDays, endMs) : { fromMs: periodAt(calendar, endMs - 1).fromMs, toMs: endMs };

const excludedBy = ({ excluded = [] }: SloObjective): Window[] => excluded.map(([fromMs, toMs]) => ({ fromMs, toMs }));

/** Returns the number of slices in the full window, including future ones, which the budget of slices is based on. */
const slicesOfFullWindow = (objective: SloObjective, endMs: number): number => {
  const { calendar, windowDays, sliceMs } = objective;
  const whole = calendar === undefined ? rollingAt(windowDays, endMs) : periodAt(calendar, endMs - 1);
  return slicesIn(whole, excludedBy(objective), sliceMs);
};

/** Sums of an SLO for one end: its requested windows, longest first, and its full window. */
interface Instant {
  readonly endMs: number;
  readonly windows: readonly Window[];
  readonly whole: Window;
}

interface Member {
  readonly query: SloQuery;
  readonly slo: MeasuredSlo;
  readonly instants: readonly Instant[];
}

const needsWhole = ({ figure, windows = [] }: SloQuery): boolean =>
  windows.length === 0 || figure === 'budget-left' || figure === 'budget-spent';

const memberOf = (query: SloQuery, slo: MeasuredSlo, endsMs: readonly number[]): Member => {
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

const windowsIn = ({ query, instants }: Member): Window[] =>
  instants.flatMap(({ windows, whole }) => (needsWhole(query) ? [...windows, whole] : windows));

interface Figure {
  readonly value: Fraction | number | undefined;
  /** Sums of the longest window. */
  readonly sums: Sums;
  readonly coverage: number;
}

const lowest = (rates: readonly (Fraction | undefined)[]): Fraction | undefined =>
  rates.reduce((one, other) =>
    one === undefined || other === undefined ? undefined : compared(one, other) <= 0 ? one : other,
  );

const figureAt = (
  { query, slo: { objective: storedObjective } }: Member,
  { endMs, windows, whole }: Instant,
  summed: (window: Window) => Sums,
): Figure => {
  const objective = objectiveOf(storedObjective);
  const [longest = whole] = windows;
  const sums = summed(longest);
  const coverage = coverageOf(sums, slicesIn(longest, excludedBy(storedObjective), storedObjective.sliceMs));
  const known = { sums, coverage };
  const budget = () => budgetOf(summed(whole), objective, slicesOfFullWindow(storedObjective, endMs));
  switch (query.figure) {
    case 'sli':
      return { ...known, value: sliOf(sums) };
    case 'burn-rate':
      return { ...known, value: lowest([longest, ...windows].map((window) => burnRateOf(summed(window), objective))) };
    case 'budget-left':
      return { ...known, value: budget().leftShare };
    case 'budget-spent':
      return { ...known, value: budgetSpentOf(sums, budget()) };
    default:
      return { ...known, value: coverage };
  }
};

const toNumber = (value: Figure['value']): number | null =>
  value === undefined ? null : typeof value === 'number' ? value : asNumber(value);

const unit = '1';

const answerOf = (member: Member, summed: (window: Window) => Sums, context: QueryContext): Answer => {
  const figures = member.instants.map((instant) => figureAt(member, instant, summed));
  const { figure: name } = member.query;
  if (context.stepMs !== undefined) {
    const { atMs } = endsOf(context);
    const points = figures.map(({ value }, index): [number, number | null] => [atMs[index] ?? 0, toNumber(value)]);
    return seriesAnswer([{ name, unit, points, labels: {} }], []);
  }
  return tableAnswer(
    [name, 'bad', 'total', 'coverage'].map((column) => ({ name: column, type: 'number', unit })),
    figures.map(({ value, sums, coverage }) => [toNumber(value), asNumber(sums.bad), asNumber(sums.total), coverage]),
  );
};

const emptyAnswer = (context: QueryContext): Answer =>
  context.stepMs === undefined ? tableAnswer([], []) : seriesAnswer([], []);

/** Outcome of one query of a batch. */
type Outcome = { readonly answer: Answer } | { readonly error: unknown };

/** Returns values of SLOs with a common `sloKey`. An SLO without measurements has none. */
export const runSloBatch = async (
  queries: readonly SloQuery[],
  reading: Pick<Reading, 'columns'>,
  context: QueryContext,
): Promise<Outcome[]> => {
  const slosById = await readMeasuredSlos(reading, [...new Set(queries.map(({ sloId }) => sloId))]);
  const { endsMs } = endsOf(context);
  const members = queries.map((query): Member | { readonly error: unknown } | undefined => {
    const slo = slosById.get(query.sloId);
    try {
      return slo && memberOf(query, slo, endsMs);
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
      windows: windowsIn(member),
      excluded: excludedBy(member.slo.objective),
    })),
  );
  for (const [place, { member, index }] of known.entries())
    outcomes[index] = { answer: answerOf(member, summed(place), context) };
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
