/** Plans PromQL queries over one range: their order, their batches, and which are too large for a batch. */
import type { EvaluationWindow } from '../promql/evaluation/messages.ts';
import type { SelectedSeries } from '../promql/fetch/choose.ts';
import { countPoints, type PieceFingerprints } from '../promql/fetch/landed-pieces.ts';
import type { Scope } from '../promql/fetch/scope.ts';
import { listSelections, type ParsedQuery } from '../promql/index.ts';
import type { Selection, Series } from '../promql/series.ts';
import { blockLengthMs, type CachedStepsReader, hasCachedSteps, type StepsQuery } from '../promql/steps-cache.ts';
import { countStepsPerSample, findMetricName, maxSampleEvaluations, windowKey } from './named-series.ts';

export interface Member {
  readonly index: number;
  readonly parsed: ParsedQuery;
  /** Selections of all queries. */
  readonly selections: readonly Selection[];
}

/** Context shared by queries over one range. */
export interface BatchContext {
  readonly scope: Scope;
  readonly additionalSeries: readonly Series[];
  readonly window: EvaluationWindow;
  /** Start of retention; nothing before it is read. */
  readonly retainedFromMs: number;
}

/**
 * Number of values (all series at all steps) above which a batch takes seconds, and the overhead of another statement
 * is negligible.
 */
const largeBatchValues = 200_000;

/**
 * Returns members in the order of evaluation. In a large batch without cached results, the first member runs before all
 * others, so that a first result is available early.
 */
export const planRounds = (
  { scope, window }: BatchContext,
  members: readonly Member[],
  chosen: readonly SelectedSeries[],
): readonly (readonly Member[])[] => {
  const [first, ...others] = members;
  const values = window.stepMs === 0 ? 0 : (chosen.length * (window.endMs - window.startMs)) / window.stepMs;
  const isLargeBatch = values >= largeBatchValues && others.length > 0;
  return first !== undefined && isLargeBatch && !hasCachedSteps({ scope, window, expression: first.parsed.text })
    ? [[first], others]
    : [members];
};

/** Returns the members that are too large for a batch. Stored sample counts decide; no samples are read. */
export const findTooLargeMembers = (
  { window }: BatchContext,
  questions: ReadonlyMap<Member, StepsQuery>,
  { landed, steps }: { readonly landed: PieceFingerprints; readonly steps: ReadonlyMap<Member, CachedStepsReader> },
): ReadonlySet<Member> => {
  const heavy = new Set<Member>();
  const countedKeys = new Set<string>();
  let work = 0;
  for (const [member, { reads }] of questions) {
    if (steps.get(member)?.fromMs !== window.startMs) continue;
    const keys = member.selections.map((each) => `${windowKey(each)} ${findMetricName(each)}`);
    const memberWork = reads.reduce((sum, read, at) => {
      if (countedKeys.has(keys[at] ?? '')) return sum;
      return sum + countPoints(read, landed, blockLengthMs(window)) * countStepsPerSample(read.window, window);
    }, 0);
    if (work + memberWork > maxSampleEvaluations) {
      heavy.add(member);
      continue;
    }
    work += memberWork;
    for (const key of keys) countedKeys.add(key);
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
export const groupByFirstStep = (
  { window }: BatchContext,
  members: readonly Member[],
  steps: ReadonlyMap<Member, CachedStepsReader>,
): Group[] => {
  const firstStepMs = (member: Member): number => steps.get(member)?.fromMs ?? window.startMs;
  const buildGroup = (groupMembers: readonly Member[]): Group[] => {
    const startMs = Math.min(...groupMembers.map(firstStepMs));
    const own = { ...window, startMs };
    // Reads nothing if no step remains to be evaluated.
    const selections = startMs > window.endMs ? [] : groupMembers.flatMap(({ parsed }) => listSelections(parsed, own));
    return groupMembers.length === 0 ? [] : [{ window: own, members: groupMembers, selections }];
  };
  const isWhole = (member: Member): boolean => firstStepMs(member) === window.startMs;
  return [...buildGroup(members.filter(isWhole)), ...buildGroup(members.filter((member) => !isWhole(member)))];
};
