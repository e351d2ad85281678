/** Values of SLOs from stored slices; many SLOs are read in few statements. */

import { createValidationError } from '../../../queries/errors.ts';
import {
  buildSeriesResult,
  buildTableResult,
  type QueryContext,
  type ResultData,
} from '../../../queries/query-result.ts';
import { buildSteps, getRangeSeconds } from '../../../queries/steps.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
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
} from './error-budget.ts';
import { compare, type Fraction, fractionToNumber } from './fraction.ts';
import { type MeasuredSlo, readMeasuredSlos } from './slices.ts';
import { readWindows } from './window-sums.ts';
import { countSlices, createRollingWindow, findPeriod, type Window } from './windows.ts';

/** Maximum number of SLOs in one statement. */
export const maxSlosPerBatch = 1000;
/** Maximum number of steps of a series. */
const maxSteps = 1000;
const msNs = 1_000_000n;

/** Returns the key shared by SLOs of one batch: those with long windows read more. */
export const toSloKey = ({ windows = [] }: SloQuery): string => JSON.stringify(windows);

/** Returns the window ends: the end of the range, or the end of each of its steps. */
const listWindowEnds = ({
  range,
  stepMs,
  stepsFrom,
}: QueryContext): { readonly atMs: readonly number[]; readonly endsMs: number[] } => {
  const endMs = Number((range.to + 1n) / msNs);
  if (stepMs === undefined) return { atMs: [endMs], endsMs: [endMs] };
  if ((getRangeSeconds(range) * 1000) / stepMs > maxSteps)
    throw createValidationError(
      'step',
      `gives more than ${maxSteps} steps, the maximum of an objective: use a larger step`,
    );
  const { starts } = buildSteps(range, stepMs, stepsFrom);
  return { atMs: starts, endsMs: starts.map((ms) => Math.min(ms + stepMs, endMs)) };
};

/** Returns the full window of an SLO at a time. */
const getFullWindow = ({ calendar, windowDays }: SloObjective, endMs: number): Window =>
  calendar === undefined
    ? createRollingWindow(windowDays, endMs)
    : { fromMs: findPeriod(calendar, endMs - 1).fromMs, toMs: endMs };

const getExcludedWindows = ({ excluded = [] }: SloObjective): Window[] =>
  excluded.map(([fromMs, toMs]) => ({ fromMs, toMs }));

/** Returns the number of slices in the full window, including future ones, which the budget of slices is based on. */
const countWindowSlices = (objective: SloObjective, endMs: number): number => {
  const { calendar, windowDays, sliceMs } = objective;
  const fullWindow = calendar === undefined ? createRollingWindow(windowDays, endMs) : findPeriod(calendar, endMs - 1);
  return countSlices(fullWindow, getExcludedWindows(objective), sliceMs);
};

/** Sums of an SLO for one end: its requested windows, longest first, and its full window. */
interface WindowEnd {
  readonly endMs: number;
  readonly windows: readonly Window[];
  readonly fullWindow: Window;
}

interface Member {
  readonly query: SloQuery;
  readonly slo: MeasuredSlo;
  readonly windowEnds: readonly WindowEnd[];
}

const needsFullWindow = ({ figure, windows = [] }: SloQuery): boolean =>
  windows.length === 0 || figure === 'budget-left' || figure === 'budget-spent';

const createMember = (query: SloQuery, slo: MeasuredSlo, endsMs: readonly number[]): Member => {
  const { sliceMs } = slo.objective;
  const lengths = (query.windows ?? [])
    .map((text) => Number((parseDuration(text) ?? 0n) / msNs))
    .toSorted((left, right) => right - left);
  if (lengths.some((ms) => ms % sliceMs !== 0))
    throw createValidationError('windows', `must be whole slices of the objective, ${sliceMs / 60_000}m each`);
  return {
    query,
    slo,
    windowEnds: endsMs.map((ms) => {
      const endMs = Math.floor(ms / sliceMs) * sliceMs;
      const windows = lengths.map((length) => ({ fromMs: endMs - length, toMs: endMs }));
      return { endMs, windows, fullWindow: getFullWindow(slo.objective, endMs) };
    }),
  };
};

const listMemberWindows = ({ query, windowEnds }: Member): Window[] =>
  windowEnds.flatMap(({ windows, fullWindow }) => (needsFullWindow(query) ? [...windows, fullWindow] : windows));

interface SloValue {
  readonly value: Fraction | number | undefined;
  /** Sums of the longest window. */
  readonly sums: Sums;
  readonly coverage: number;
}

const findLowestRate = (rates: readonly (Fraction | undefined)[]): Fraction | undefined =>
  rates.reduce((left, right) =>
    left === undefined || right === undefined ? undefined : compare(left, right) <= 0 ? left : right,
  );

const computeValue = (
  { query, slo: { objective: storedObjective } }: Member,
  { endMs, windows, fullWindow }: WindowEnd,
  getSums: (window: Window) => Sums,
): SloValue => {
  const objective = toObjective(storedObjective);
  const [longest = fullWindow] = windows;
  const sums = getSums(longest);
  const coverage = computeCoverage(
    sums,
    countSlices(longest, getExcludedWindows(storedObjective), storedObjective.sliceMs),
  );
  const commonFields = { sums, coverage };
  const budget = () => computeBudget(getSums(fullWindow), objective, countWindowSlices(storedObjective, endMs));
  switch (query.figure) {
    case 'sli':
      return { ...commonFields, value: computeSli(sums) };
    case 'burn-rate':
      return {
        ...commonFields,
        value: findLowestRate([longest, ...windows].map((window) => computeBurnRate(getSums(window), objective))),
      };
    case 'budget-left':
      return { ...commonFields, value: budget().remainingShare };
    case 'budget-spent':
      return { ...commonFields, value: computeBudgetSpent(sums, budget()) };
    default:
      return { ...commonFields, value: coverage };
  }
};

const toNumber = (value: SloValue['value']): number | null =>
  value === undefined ? null : typeof value === 'number' ? value : fractionToNumber(value);

const unit = '1';

const toResult = (member: Member, getSums: (window: Window) => Sums, context: QueryContext): ResultData => {
  const values = member.windowEnds.map((instant) => computeValue(member, instant, getSums));
  const { figure: name } = member.query;
  if (context.stepMs !== undefined) {
    const { atMs } = listWindowEnds(context);
    const points = values.map(({ value }, index): [number, number | null] => [atMs[index] ?? 0, toNumber(value)]);
    return buildSeriesResult([{ name, unit, points, labels: {} }], []);
  }
  return buildTableResult(
    [name, 'bad', 'total', 'coverage'].map((column) => ({ name: column, type: 'number', unit })),
    values.map(({ value, sums, coverage }) => [
      toNumber(value),
      fractionToNumber(sums.bad),
      fractionToNumber(sums.total),
      coverage,
    ]),
  );
};

const createEmptyResult = (context: QueryContext): ResultData =>
  context.stepMs === undefined ? buildTableResult([], []) : buildSeriesResult([], []);

/** Outcome of one query of a batch. */
type Outcome = { readonly result: ResultData } | { readonly error: unknown };

/** Returns values of SLOs with a common key (`toSloKey`). An SLO without measurements has no value. */
export const runSloBatch = async (
  queries: readonly SloQuery[],
  reader: Pick<TenantReader, 'columns'>,
  context: QueryContext,
): Promise<Outcome[]> => {
  const slosById = await readMeasuredSlos(reader, [...new Set(queries.map(({ sloId }) => sloId))]);
  const { endsMs } = listWindowEnds(context);
  const members = queries.map((query): Member | { readonly error: unknown } | undefined => {
    const slo = slosById.get(query.sloId);
    try {
      return slo && createMember(query, slo, endsMs);
    } catch (error) {
      return { error };
    }
  });
  const outcomes = members.map(
    (member): Outcome => (member !== undefined && 'error' in member ? member : { result: createEmptyResult(context) }),
  );
  const validMembers = members.flatMap((member, index) =>
    member === undefined || 'error' in member ? [] : [{ member, index }],
  );
  const getSums = await readWindows(
    reader,
    validMembers.map(({ member }) => ({
      ...member.slo,
      windows: listMemberWindows(member),
      excluded: getExcludedWindows(member.slo.objective),
    })),
  );
  for (const [memberIndex, { member, index }] of validMembers.entries())
    outcomes[index] = { result: toResult(member, getSums(memberIndex), context) };
  return outcomes;
};

/** Returns a value of one SLO. */
export const runSlo = async (
  query: SloQuery,
  reader: Pick<TenantReader, 'columns'>,
  context: QueryContext,
): Promise<ResultData> => {
  const [outcome] = await runSloBatch([query], reader, context);
  if (outcome === undefined || 'error' in outcome) throw outcome?.error;
  return outcome.result;
};
