/** Sums of windows of many SLOs; those with equal counting and equal window length share statements. */

import type { Reading } from '../../../queries/reading.ts';
import type { SloObjective } from '../../../schemas/slo-slices.ts';
import { type Sums, toObjective } from './figures.ts';
import { add, fraction, subtract } from './fraction.ts';
import type { SloSeries } from './slices.ts';
import { readCuts } from './tallies.ts';
import { clipTimes, type Window } from './windows.ts';

const hourMs = 3_600_000;
/** Maximum number of statements by window length; more lengths share a statement. */
const maxStatements = 8;

const noSums: Sums = { good: fraction(0n), bad: fraction(0n), total: fraction(0n), known: 0 };

const combineSums = (combined: typeof add, one: Sums, other: Sums, sign: 1 | -1): Sums => ({
  good: combined(one.good, other.good),
  bad: combined(one.bad, other.bad),
  total: combined(one.total, other.total),
  known: one.known + sign * other.known,
});

/** Returns the sums of any window between cuts, computed as the difference of two cumulative sums. */
export const createWindowSums = (cutsMs: readonly number[], pieces: readonly Sums[]): ((window: Window) => Sums) => {
  const cumulativeSums = [noSums];
  for (const piece of pieces) cumulativeSums.push(combineSums(add, cumulativeSums.at(-1) ?? noSums, piece, 1));
  const places = new Map(cutsMs.map((ms, index) => [ms, index]));
  const at = (ms: number): Sums => cumulativeSums[places.get(ms) ?? 0] ?? noSums;
  return ({ fromMs, toMs }) => (toMs <= fromMs ? noSums : combineSums(subtract, at(toMs), at(fromMs), -1));
};

/** Windows of one SLO. */
export interface SloWindows extends SloSeries {
  readonly objective: Pick<SloObjective, 'targetPct' | 'budgeting' | 'sliceTarget'>;
  readonly windows: readonly Window[];
  /** Excluded times, ordered and disjoint; they begin and end with slices. */
  readonly excluded?: readonly Window[];
}

/** Returns the sums of a window, without excluded times unless `all` is requested. */
export type SumsOfWindow = (window: Window, which?: 'all') => Sums;

const excludeTimes =
  (summed: (window: Window) => Sums, excluded: readonly Window[]): SumsOfWindow =>
  (window, which) =>
    which === 'all'
      ? summed(window)
      : clipTimes(window, excluded).reduce(
          (left, time) => combineSums(subtract, left, summed(time), -1),
          summed(window),
        );

/** Returns the sums of the windows of each SLO, by its index in the list. */
export const readWindows = async (
  reading: Pick<Reading, 'columns'>,
  all: readonly SloWindows[],
): Promise<(place: number) => SumsOfWindow> => {
  const places = all.map((_, place) => place);
  const windowsAt = (place: number): SloWindows => all[place] as SloWindows;
  const countingKey = ({ objective: { budgeting, sliceTarget } }: SloWindows): string =>
    JSON.stringify([budgeting, sliceTarget]);
  // A window divides the days it begins and ends in, also for the others of its statement.
  const lengthsKey = (one: SloWindows): string =>
    JSON.stringify([one.windows.map(({ fromMs, toMs }) => Math.round((toMs - fromMs) / hourMs)), one.excluded ?? []]);
  const byLengths = Map.groupBy(places, (place) => `${countingKey(windowsAt(place))} ${lengthsKey(windowsAt(place))}`);
  const groups =
    byLengths.size <= maxStatements ? byLengths : Map.groupBy(places, (place) => countingKey(windowsAt(place)));
  const found = new Map<number, SumsOfWindow>();
  await Promise.all(
    [...groups.values()].map(async (group) => {
      const members = group.map(windowsAt);
      const edges = members.flatMap(({ windows, excluded = [] }) =>
        windows.flatMap((window) =>
          [window, ...clipTimes(window, excluded)].flatMap(({ fromMs, toMs }) => [fromMs, toMs]),
        ),
      );
      const cutsMs = [...new Set(edges)].toSorted((one, other) => one - other);
      const [first] = members as [SloWindows];
      const piecesOf = await readCuts(reading, members, cutsMs, toObjective(first.objective));
      for (const place of group)
        found.set(
          place,
          excludeTimes(createWindowSums(cutsMs, piecesOf(windowsAt(place))), windowsAt(place).excluded ?? []),
        );
    }),
  );
  return (place) => found.get(place) ?? (() => noSums);
};
