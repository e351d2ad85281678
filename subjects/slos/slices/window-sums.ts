/** Sums of windows of many SLOs; those with equal counting and equal window length share statements. */

import type { Reading } from '../../../queries/reading.ts';
import type { SloObjective } from '../../../schemas/slo-slices.ts';
import { objectiveOf, type Sums } from './figures.ts';
import { fraction, minus, plus } from './fraction.ts';
import type { SloSeries } from './slices.ts';
import { readCuts } from './tallies.ts';
import { clippedTo, type Window } from './windows.ts';

const hourMs = 3_600_000;
/** Maximum number of statements by window length; more lengths share a statement. */
const maxStatements = 8;

const nothing: Sums = { good: fraction(0n), bad: fraction(0n), total: fraction(0n), known: 0 };

const by = (combined: typeof plus, one: Sums, other: Sums, sign: 1 | -1): Sums => ({
  good: combined(one.good, other.good),
  bad: combined(one.bad, other.bad),
  total: combined(one.total, other.total),
  known: one.known + sign * other.known,
});

/** Returns the sums of any window between cuts, computed as the difference of two cumulative sums. */
export const summedBetween = (cutsMs: readonly number[], pieces: readonly Sums[]): ((window: Window) => Sums) => {
  const upTo = [nothing];
  for (const piece of pieces) upTo.push(by(plus, upTo.at(-1) ?? nothing, piece, 1));
  const places = new Map(cutsMs.map((ms, index) => [ms, index]));
  const at = (ms: number): Sums => upTo[places.get(ms) ?? 0] ?? nothing;
  return ({ fromMs, toMs }) => (toMs <= fromMs ? nothing : by(minus, at(toMs), at(fromMs), -1));
};

/** Windows of one SLO. */
export interface Windows extends SloSeries {
  readonly objective: Pick<SloObjective, 'targetPct' | 'budgeting' | 'sliceTarget'>;
  readonly windows: readonly Window[];
  /** Excluded times, ordered and disjoint; they begin and end with slices. */
  readonly excluded?: readonly Window[];
}

/** Returns the sums of a window, without excluded times unless `all` is requested. */
export type SumsOfWindow = (window: Window, which?: 'all') => Sums;

const without =
  (summed: (window: Window) => Sums, excluded: readonly Window[]): SumsOfWindow =>
  (window, which) =>
    which === 'all'
      ? summed(window)
      : clippedTo(window, excluded).reduce((left, time) => by(minus, left, summed(time), -1), summed(window));

/** Returns the sums of the windows of each SLO, by its index in the list. */
export const readWindows = async (
  reading: Pick<Reading, 'columns'>,
  all: readonly Windows[],
): Promise<(place: number) => SumsOfWindow> => {
  const places = all.map((_, place) => place);
  const of = (place: number): Windows => all[place] as Windows;
  const wayOf = ({ objective: { budgeting, sliceTarget } }: Windows): string =>
    JSON.stringify([budgeting, sliceTarget]);
  // A window divides the days it begins and ends in, also for the others of its statement.
  const lengths = (one: Windows): string =>
    JSON.stringify([one.windows.map(({ fromMs, toMs }) => Math.round((toMs - fromMs) / hourMs)), one.excluded ?? []]);
  const byLengths = Map.groupBy(places, (place) => `${wayOf(of(place))} ${lengths(of(place))}`);
  const alike = byLengths.size <= maxStatements ? byLengths : Map.groupBy(places, (place) => wayOf(of(place)));
  const found = new Map<number, SumsOfWindow>();
  await Promise.all(
    [...alike.values()].map(async (group) => {
      const members = group.map(of);
      const edges = members.flatMap(({ windows, excluded = [] }) =>
        windows.flatMap((window) =>
          [window, ...clippedTo(window, excluded)].flatMap(({ fromMs, toMs }) => [fromMs, toMs]),
        ),
      );
      const cutsMs = [...new Set(edges)].toSorted((one, other) => one - other);
      const [first] = members as [Windows];
      const piecesOf = await readCuts(reading, members, cutsMs, objectiveOf(first.objective));
      for (const place of group)
        found.set(place, without(summedBetween(cutsMs, piecesOf(of(place))), of(place).excluded ?? []));
    }),
  );
  return (place) => found.get(place) ?? (() => nothing);
};
