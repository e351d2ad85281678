/** The series of many selectors that name a metric: chosen by one question, and read once a window. */

import { inOrderOfLabels } from '../promql/engine/labels.ts';
import type { EvaluationWindow } from '../promql/evaluation/messages.ts';
import { type Chosen, chooseSeries } from '../promql/fetch/choose.ts';
import { Pieces } from '../promql/fetch/pieces.ts';
import type { Scope, Window } from '../promql/fetch/scope.ts';
import { seriesOfPiece } from '../promql/fetch/series-of-piece.ts';
import type { Selection, Series } from '../promql/series.ts';
import { RowCache } from '../row-cache.ts';
import { regexText } from '../variables/formats.ts';

/** They are evaluated in this thread: what is more than this takes one of its own. */
const maxSeries = 10_000;
/** Samples of one window, times the steps at which each is looked at. */
export const maxWork = 2_000_000;

/** More than is to be evaluated with others. */
export class TooMuch extends Error {}

/** The name of the metric that a selection names. */
export const nameOf = ({ matchers }: Selection): string | undefined =>
  matchers.find(({ name, op, value }) => name === '__name__' && op === '=' && value !== '')?.value;

export const windowKey = ({ fromMs, toMs }: Window): string => `${fromMs} ${toMs}`;

interface Choice {
  readonly chosen: readonly Chosen[];
  /** Of `series`, before they were chosen. */
  readonly changes: number;
  /** Series that ended before are not known. */
  readonly fromMs: number;
}

/** Series of all that is kept. */
const maxCachedSeries = 50_000;
const known = new RowCache<Choice>(maxCachedSeries, ({ chosen }) => chosen.length + 1);

/** Series of some names. While no series was written they are those that were chosen before. */
export const chooseNamed = async (scope: Scope, span: Window, names: readonly string[]): Promise<readonly Chosen[]> => {
  if (names.length === 0) return [];
  const cache = known.of(scope.columns);
  const key = JSON.stringify([scope.projectId, scope.translation, names]);
  const changes = scope.columns.changesOf?.('series');
  const before = cache.get(key);
  if (before !== undefined && before.changes === changes && span.fromMs >= before.fromMs) return before.chosen;
  const named = { name: '__name__', op: '=~', value: names.map(regexText).join('|') } as const;
  const chosen = await chooseSeries(scope, span, [named], maxSeries);
  if (changes !== undefined) cache.set(key, { chosen, changes, fromMs: span.fromMs });
  return chosen;
};

/** Names of selections over one window. */
interface NamedSelection {
  readonly window: Window;
  readonly names: Set<string>;
}

/** At how many steps a sample is looked at: those whose part of the selection's time it lies in. */
export const countStepsPerSample = ({ fromMs, toMs }: Window, { startMs, endMs, stepMs }: EvaluationWindow): number => {
  if (stepMs === 0) return 1;
  const steps = 1 + Math.floor((endMs - startMs) / stepMs);
  return Math.min(steps, 1 + Math.ceil(Math.max(0, toMs - fromMs - (endMs - startMs)) / stepMs));
};

/** Series by the name of their metric. */
type SeriesByName = ReadonlyMap<string, readonly Series[]>;
export type SeriesByWindow = ReadonlyMap<string, SeriesByName>;

interface Place {
  readonly scope: Scope;
  /** Nothing before it is read. */
  readonly retainedFromMs: number;
  readonly window: EvaluationWindow;
}

const read = async (
  { scope, retainedFromMs, window }: Place,
  { window: { fromMs, toMs }, names }: NamedSelection,
  chosen: readonly Chosen[],
): Promise<SeriesByName> => {
  const byName = new Map<string, Series[]>();
  const stepsPerSample = countStepsPerSample({ fromMs, toMs }, window);
  if (toMs <= retainedFromMs) return byName;
  const own = chosen.filter(({ labels }) => names.has(labels['__name__'] ?? ''));
  const pieces = new Pieces(scope.columns, { fromMs: Math.max(fromMs, retainedFromMs), toMs }, own);
  let samples = 0;
  let count = 0;
  for (let piece = await pieces.next(); piece !== undefined; piece = await pieces.next()) {
    count++;
    for (const series of seriesOfPiece(piece, { fromMs, toMs }, [])) {
      samples += series.times.length;
      if (samples * stepsPerSample > maxWork) throw new TooMuch();
      const name = series.labels['__name__'] ?? '';
      const before = byName.get(name);
      if (before === undefined) byName.set(name, [series]);
      else before.push(series);
    }
  }
  // Several pieces come as they are stored. The order must not depend on how much is read.
  if (count > 1) for (const [name, all] of byName) byName.set(name, inOrderOfLabels(all));
  return byName;
};

/** What selections of an evaluation read, by window and name. Throws `TooMuch`. */
export const readNamed = async (
  place: Place,
  selections: readonly Selection[],
  chosen: readonly Chosen[],
): Promise<SeriesByWindow> => {
  const selectionsByWindow = new Map<string, NamedSelection>();
  for (const selection of selections) {
    const { fromMs, toMs } = selection;
    const before = selectionsByWindow.get(windowKey(selection)) ?? { window: { fromMs, toMs }, names: new Set() };
    selectionsByWindow.set(windowKey(selection), before);
    before.names.add(nameOf(selection) ?? '');
  }
  const reads = [...selectionsByWindow].map(async ([key, one]) => [key, await read(place, one, chosen)] as const);
  return new Map(await Promise.all(reads));
};
