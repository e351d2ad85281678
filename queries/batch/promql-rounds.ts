/** Plans PromQL queries over one range: their order, their batches, and which are too large for a batch. */
import type { EvaluationWindow } from '../promql/evaluation/messages.ts';
import type { SelectedSeries } from '../promql/fetch/choose.ts';
import { type PieceFingerprints, pointsIn } from '../promql/fetch/landed-pieces.ts';
import type { Scope } from '../promql/fetch/scope.ts';
import { type ParsedQuery, selectionsOf } from '../promql/index.ts';
import type { Selection, Series } from '../promql/series.ts';
import { hasCachedSteps, pieceMsOf, type Steps, type StepsQuestion } from '../promql/steps-cache.ts';
import { countStepsPerSample, maxWork, nameOf, windowKey } from './named-series.ts';

export interface Member {
  readonly index: number;
  readonly parsed: ParsedQuery;
  /** Selections of all queries. */
  readonly selections: readonly Selection[];
}

/** Context shared by queries over one range. */
export interface BatchContext {
  readonly scope: Scope;
  readonly added: readonly Series[];
  readonly window: EvaluationWindow;
  /** Start of retention; nothing before it is read. */
  readonly retainedFromMs: number;
}

/**
 * Number of values (all series at all steps) above which a batch takes seconds, and the overhead of another statement
 * is negligible.
 */
const muchValues = 200_000;

/**
 * Returns members in the order of evaluation. In a large batch without cached results, the first member runs before all
 * others, so that a result is available after a twentieth of the time.
 */
export const roundsOf = (
  { scope, window }: BatchContext,
  members: readonly Member[],
  chosen: readonly SelectedSeries[],
): readonly (readonly Member[])[] => {
  const [first, ...others] = members;
  const values = window.stepMs === 0 ? 0 : (chosen.length * (window.endMs - window.startMs)) / window.stepMs;
  const isMuch = values >= muchValues && others.length > 0;
  return first !== undefined && isMuch && !hasCachedSteps({ scope, window, expression: first.parsed.text })
    ? [[first], others]
    : [members];
};

/** Returns the members that are too large for a batch, by stored counts; nothing is read for them here. */
export const heavyOf = (
  { window }: BatchContext,
  questions: ReadonlyMap<Member, StepsQuestion>,
  { landed, steps }: { readonly landed: PieceFingerprints; readonly steps: ReadonlyMap<Member, Steps> },
): ReadonlySet<Member> => {
  const heavy = new Set<Member>();
  const counted = new Set<string>();
  let work = 0;
  for (const [member, { reads }] of questions) {
    if (steps.get(member)?.fromMs !== window.startMs) continue;
    const keys = member.selections.map((each) => `${windowKey(each)} ${nameOf(each)}`);
    const own = reads.reduce((sum, read, at) => {
      if (counted.has(keys[at] ?? '')) return sum;
      return sum + pointsIn(read, landed, pieceMsOf(window)) * countStepsPerSample(read.window, window);
    }, 0);
    if (work + own > maxWork) {
      heavy.add(member);
      continue;
    }
    work += own;
    for (const key of keys) counted.add(key);
  }
  return heavy;
};

/** Expressions that are evaluated over one window. */
export interface Group {
  readonly window: EvaluationWindow;
  readonly members: readonly Member[];
  readonly selections: readonly Selection[];
}

/**
 * Returns groups: members that are evaluated completely, and members with cached steps, from the first step that any of
 * them lacks.
 */
export const groupsOf = (
  { window }: BatchContext,
  members: readonly Member[],
  steps: ReadonlyMap<Member, Steps>,
): Group[] => {
  const fromOf = (member: Member): number => steps.get(member)?.fromMs ?? window.startMs;
  const groupOf = (some: readonly Member[]): Group[] => {
    const startMs = Math.min(...some.map(fromOf));
    const own = { ...window, startMs };
    // Reads nothing if no step remains to be evaluated.
    const selections = startMs > window.endMs ? [] : some.flatMap(({ parsed }) => selectionsOf(parsed, own));
    return some.length === 0 ? [] : [{ window: own, members: some, selections }];
  };
  const isWhole = (member: Member): boolean => fromOf(member) === window.startMs;
  return [...groupOf(members.filter(isWhole)), ...groupOf(members.filter((member) => !isWhole(member)))];
};
