/** Reads the sums of windows of many SLOs. SLOs with the same counting method and window lengths share a statement. */

import type { TenantReader } from '../../../queries/tenant-reader.ts';
import type { SloObjective } from '../../../schemas/slo-slices.ts';
import { type Sums, toObjective } from './error-budget.ts';
import { add, createFraction, subtract } from './fraction.ts';
import type { SloSeries } from './slices.ts';
import { readSumsBetween } from './tallies.ts';
import { clipTimes, type Window } from './windows.ts';

const hourMs = 3_600_000;
/**
 * Maximum number of statements for different window lengths. With more lengths, all windows share one statement per
 * counting method.
 */
const maxStatements = 8;

const noSums: Sums = {
  good: createFraction(0n),
  bad: createFraction(0n),
  total: createFraction(0n),
  slicesWithData: 0,
};

const combineSums = (operation: typeof add, left: Sums, right: Sums, sign: 1 | -1): Sums => ({
  good: operation(left.good, right.good),
  bad: operation(left.bad, right.bad),
  total: operation(left.total, right.total),
  slicesWithData: left.slicesWithData + sign * right.slicesWithData,
});

/** Returns the sums of any window between two of the boundaries, computed as the difference of two cumulative sums. */
export const createWindowSums = (
  boundariesMs: readonly number[],
  partSums: readonly Sums[],
): ((window: Window) => Sums) => {
  const cumulativeSums = [noSums];
  for (const partSum of partSums) cumulativeSums.push(combineSums(add, cumulativeSums.at(-1) ?? noSums, partSum, 1));
  const indexByBoundary = new Map(boundariesMs.map((ms, index) => [ms, index]));
  const getCumulativeSums = (ms: number): Sums => cumulativeSums[indexByBoundary.get(ms) ?? 0] ?? noSums;
  return ({ fromMs, toMs }) =>
    toMs <= fromMs ? noSums : combineSums(subtract, getCumulativeSums(toMs), getCumulativeSums(fromMs), -1);
};

/** Windows of one SLO. */
export interface SloWindows extends SloSeries {
  readonly objective: Pick<SloObjective, 'targetPct' | 'budgeting' | 'sliceTarget'>;
  readonly windows: readonly Window[];
  /** Excluded times, ordered and disjoint; they begin and end with slices. */
  readonly excluded?: readonly Window[];
}

/** Returns the sums of a window, without excluded times unless `all` is requested. */
export type SumsOfWindow = (window: Window, scope?: 'all') => Sums;

const createExcludingSums =
  (getSums: (window: Window) => Sums, excluded: readonly Window[]): SumsOfWindow =>
  (window, windowName) =>
    windowName === 'all'
      ? getSums(window)
      : clipTimes(window, excluded).reduce(
          (remaining, time) => combineSums(subtract, remaining, getSums(time), -1),
          getSums(window),
        );

/** Returns the sums of the windows of each SLO, by its index in the list. */
export const readWindows = async (
  reader: Pick<TenantReader, 'columns'>,
  all: readonly SloWindows[],
): Promise<(index: number) => SumsOfWindow> => {
  const indexes = all.map((_, index) => index);
  const getWindows = (index: number): SloWindows => all[index] as SloWindows;
  const toCountingKey = ({ objective: { budgeting, sliceTarget } }: SloWindows): string =>
    JSON.stringify([budgeting, sliceTarget]);
  // A window divides the days in which it begins and ends, for all SLOs of the same statement.
  const toLengthsKey = (sloWindows: SloWindows): string =>
    JSON.stringify([
      sloWindows.windows.map(({ fromMs, toMs }) => Math.round((toMs - fromMs) / hourMs)),
      sloWindows.excluded ?? [],
    ]);
  const byLengths = Map.groupBy(
    indexes,
    (index) => `${toCountingKey(getWindows(index))} ${toLengthsKey(getWindows(index))}`,
  );
  const groups =
    byLengths.size <= maxStatements ? byLengths : Map.groupBy(indexes, (index) => toCountingKey(getWindows(index)));
  const sumsByIndex = new Map<number, SumsOfWindow>();
  await Promise.all(
    [...groups.values()].map(async (group) => {
      const members = group.map(getWindows);
      const boundaries = members.flatMap(({ windows, excluded = [] }) =>
        windows.flatMap((window) =>
          [window, ...clipTimes(window, excluded)].flatMap(({ fromMs, toMs }) => [fromMs, toMs]),
        ),
      );
      const boundariesMs = [...new Set(boundaries)].toSorted((left, right) => left - right);
      const [first] = members as [SloWindows];
      const getPartSums = await readSumsBetween(reader, members, boundariesMs, toObjective(first.objective));
      for (const index of group)
        sumsByIndex.set(
          index,
          createExcludingSums(
            createWindowSums(boundariesMs, getPartSums(getWindows(index))),
            getWindows(index).excluded ?? [],
          ),
        );
    }),
  );
  return (index) => sumsByIndex.get(index) ?? (() => noSums);
};
