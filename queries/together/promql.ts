/**
 * Several PromQL queries over one range: the series of all their selectors are chosen by one question and read once a window, and each
 * expression is evaluated over its own.
 */
import { setImmediate as next } from 'node:timers/promises';
import type { Asked } from '../answer.ts';
import { withAdded } from '../promql/added.ts';
import type { EvaluationWindow } from '../promql/evaluation/messages.ts';
import { type Chosen, chooseSeries } from '../promql/fetch/choose.ts';
import { Pieces } from '../promql/fetch/pieces.ts';
import { keptFromMs, type Scope } from '../promql/fetch/scope.ts';
import { seriesOfPiece } from '../promql/fetch/series-of-piece.ts';
import { type Evaluated, evaluate, type ParsedQuery, parse, selectionsOf } from '../promql/index.ts';
import type { QueryReading } from '../promql/reading.ts';
import { answerOfPromql, faultOfPromql, windowOfPromql } from '../promql/run-promql.ts';
import type { Selection, Series } from '../promql/series.ts';
import { testOf } from '../promql/syntax/matchers.ts';
import type { PromqlQuery } from '../query.ts';
import type { Outcome } from './outcome.ts';

/** Queries whose series are read together. */
export const mostPromql = 200;
/** They are evaluated in this thread: what is more than this takes one of its own. */
const mostSeries = 10_000;
const mostSteps = 1000;
/** Samples of one window, times the steps at which each is looked at. */
const mostWork = 2_000_000;

/** Whether a query can be answered with others. */
export const isSharedPromql = (asked: Asked): boolean => {
  const { startMs, endMs, stepMs } = windowOfPromql(asked);
  return stepMs === 0 || (endMs - startMs) / stepMs <= mostSteps;
};

interface Member {
  readonly index: number;
  readonly parsed: ParsedQuery;
  readonly selections: readonly Selection[];
}

const nameOf = ({ matchers }: Selection): string | undefined =>
  matchers.find(({ name, op, value }) => name === '__name__' && op === '=' && value !== '')?.value;

const windowKey = ({ fromMs, toMs }: Selection): string => `${fromMs} ${toMs}`;

const escaped = (name: string): string => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Series by the name of their metric. */
type SeriesByName = ReadonlyMap<string, readonly Series[]>;

class TooMuch extends Error {}

/** Names of selections over one window. */
interface Wanted {
  readonly selection: Selection;
  readonly names: Set<string>;
}

const wantedOf = (members: readonly Member[]): Map<string, Wanted> => {
  const wanted = new Map<string, Wanted>();
  for (const selection of members.flatMap(({ selections }) => selections)) {
    const known = wanted.get(windowKey(selection)) ?? { selection, names: new Set() };
    wanted.set(windowKey(selection), known);
    known.names.add(nameOf(selection) ?? '');
  }
  return wanted;
};

interface Place {
  readonly scope: Scope;
  readonly keptMs: number;
  readonly window: EvaluationWindow;
}

/** At how many steps a sample is looked at: those whose part of the selection's time it lies in. */
const looksOf = ({ fromMs, toMs }: Wanted['selection'], { startMs, endMs, stepMs }: EvaluationWindow): number => {
  if (stepMs === 0) return 1;
  const steps = 1 + Math.floor((endMs - startMs) / stepMs);
  return Math.min(steps, 1 + Math.ceil(Math.max(0, toMs - fromMs - (endMs - startMs)) / stepMs));
};

const read = async (
  { scope, keptMs, window }: Place,
  { selection, names }: Wanted,
  chosen: readonly Chosen[],
): Promise<SeriesByName> => {
  const byName = new Map<string, Series[]>();
  const { fromMs, toMs } = selection;
  const looks = looksOf(selection, window);
  if (toMs <= keptMs) return byName;
  const own = chosen.filter(({ labels }) => names.has(labels['__name__'] ?? ''));
  const pieces = new Pieces(scope.columns, { fromMs: Math.max(fromMs, keptMs), toMs }, own);
  let samples = 0;
  for (let piece = await pieces.next(); piece !== undefined; piece = await pieces.next())
    for (const series of seriesOfPiece(piece, { fromMs, toMs }, [])) {
      samples += series.times.length;
      if (samples * looks > mostWork) throw new TooMuch();
      const name = series.labels['__name__'] ?? '';
      const known = byName.get(name);
      if (known === undefined) byName.set(name, [series]);
      else known.push(series);
    }
  return byName;
};

const matching = (series: readonly Series[], { matchers }: Selection): readonly Series[] => {
  const tests = matchers
    .filter(({ name }) => name !== '__name__')
    .map((matcher) => ({ name: matcher.name, test: testOf(matcher) }));
  return tests.length === 0
    ? series
    : series.filter(({ labels }) => tests.every(({ name, test }) => test(labels[name] ?? '')));
};

/** The answers that `runPromql` gives to each. Throws where the series cannot be read; what is too much is to be asked alone. */
export const promqlTogether = async (
  queries: readonly PromqlQuery[],
  reading: QueryReading,
  asked: Asked,
): Promise<Outcome[]> => {
  const expressions = queries.map(({ expression }) => expression);
  const found = await evaluatedTogether(expressions, reading, windowOfPromql(asked));
  return found.map((one, index): Outcome => {
    if (one === undefined || 'error' in one) return one;
    try {
      return { answer: answerOfPromql(queries[index] as PromqlQuery, one, asked) };
    } catch (error) {
      return { error };
    }
  });
};

/** What `evaluatePromql` gives of each expression, or why not; undefined where it is to be asked alone. Throws where the series cannot be read. */
export const evaluatedTogether = async (
  expressions: readonly string[],
  { columns, promql, plan, nowMs }: QueryReading,
  window: EvaluationWindow,
): Promise<(Evaluated | { readonly error: unknown } | undefined)[]> => {
  const outcomes: (Evaluated | { readonly error: unknown } | undefined)[] = expressions.map(() => undefined);
  if (promql === undefined) return outcomes;
  const { added = [] } = promql;
  const members: Member[] = [];
  for (const [index, expression] of expressions.entries())
    try {
      const parsed = parse(expression);
      const selections = selectionsOf(parsed, window);
      if (selections.every((each) => nameOf(each) !== undefined)) members.push({ index, parsed, selections });
    } catch (error) {
      outcomes[index] = { error: faultOfPromql(error) };
    }
  const all = members.flatMap(({ selections }) => selections);
  const scope = { columns, translation: promql.translation };
  const keptMs = keptFromMs(plan, nowMs);
  const byWindow = new Map<string, SeriesByName>();
  try {
    const wanted = wantedOf(members);
    const names = [...new Set(all.map((each) => nameOf(each) ?? ''))].sort();
    const span = {
      fromMs: Math.max(keptMs, Math.min(...all.map(({ fromMs }) => fromMs))),
      toMs: Math.max(...all.map(({ toMs }) => toMs)),
    };
    const named = { name: '__name__', op: '=~', value: names.map(escaped).join('|') } as const;
    const chosen = names.length === 0 ? [] : await chooseSeries(scope, span, [named], mostSeries);
    const place = { scope, keptMs, window };
    const reads = [...wanted].map(async ([key, one]) => byWindow.set(key, await read(place, one, chosen)));
    await Promise.all(reads);
  } catch (error) {
    if (error instanceof TooMuch || faultOfPromql(error) !== error) return outcomes;
    throw error;
  }
  for (const { index, parsed, selections } of members) {
    try {
      outcomes[index] = evaluate(parsed, window, (number) => {
        const selection = selections[number] as Selection;
        const series = byWindow.get(windowKey(selection))?.get(nameOf(selection) ?? '') ?? [];
        return withAdded(matching(series, selection), selection, added);
      });
    } catch (error) {
      outcomes[index] = { error: faultOfPromql(error) };
    }
    // Others have their turn between two of them.
    await next();
  }
  return outcomes;
};
