/** Plans PromQL queries over one range: their order, their batches, and which are too large for a batch. */
import type { EvaluationWindow } from '../promql/evaluation/messages.ts';
import { type BlockFingerprints, countPoints } from '../promql/fetch/block-fingerprints.ts';
import type { Scope } from '../promql/fetch/scope.ts';
import type { SelectedSeries } from '../promql/fetch/select-series.ts';
import { listSelections, type ParsedQuery } from '../promql/index.ts';
import type { Selection, Series } from '../promql/series.ts';
import { type CachedStepsReader, getBlockLengthMs, hasCachedSteps, type StepsQuery } from '../promql/steps-cache.ts';
import { countStepsPerSample, findMetricName, maxSampleEvaluations, toWindowKey } from './named-series.ts';

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
  selectedSeries: readonly SelectedSeries[],
): readonly (readonly Member[])[] => {
  const [first, ...others] = members;
  const values = window.stepMs === 0 ? 0 : (selectedSeries.length * (window.endMs - window.startMs)) / window.stepMs;
  const isLargeBatch = values >= largeBatchValues && others.length > 0;
  return first !== undefined && isLargeBatch && !hasCachedSteps({ scope, window, expression: first.parsed.text })
    ? [[first], others]
    : [members];
};

/** Returns the members that are too large for a batch. Stored sample counts decide; no samples are read. */
export const findTooLargeMembers = (
  { window }: BatchContext,
  stepsQueries: ReadonlyMap<Member, StepsQuery>,
  {
    fingerprints,
    cachedSteps,
  }: { readonly fingerprints: BlockFingerprints; readonly cachedSteps: ReadonlyMap<Member, CachedStepsReader> },
): ReadonlySet<Member> => {
  const tooLarge = new Set<Member>();
  const countedKeys = new Set<string>();
  let totalEvaluations = 0;
  for (const [member, { reads }] of stepsQueries) {
    if (cachedSteps.get(member)?.fromMs !== window.startMs) continue;
    const keys = member.selections.map((selection) => `${toWindowKey(selection)} ${findMetricName(selection)}`);
    const memberEvaluations = reads.reduce((sum, read, index) => {
      if (countedKeys.has(keys[index] ?? '')) return sum;
      return sum + countPoints(read, fingerprints, getBlockLengthMs(window)) * countStepsPerSample(read.window, window);
    }, 0);
    if (totalEvaluations + memberEvaluations > maxSampleEvaluations) {
      tooLarge.add(member);
      continue;
    }
    totalEvaluations += memberEvaluations;
    for (const key of keys) countedKeys.add(key);
  }
  return tooLarge;
};

/** Expressions that are evaluated over one window. */
export interface Group {
  readonly window: EvaluationWindow;
  readonly members: readonly Member[];
  readonly selections: readonly Selection[];
}

/**
 * Returns two groups: members that are evaluated completely, and members with cached steps, which are evaluated from
 * the first missing step of any of them.
 */
export const groupByFirstStep = (
  { window }: BatchContext,
  members: readonly Member[],
  cachedSteps: ReadonlyMap<Member, CachedStepsReader>,
): Group[] => {
  const getFirstStepMs = (member: Member): number => cachedSteps.get(member)?.fromMs ?? window.startMs;
  const buildGroup = (groupMembers: readonly Member[]): Group[] => {
    const startMs = Math.min(...groupMembers.map(getFirstStepMs));
    const groupWindow = { ...window, startMs };
    // Reads nothing if no step remains to be evaluated.
    const selections =
      startMs > window.endMs ? [] : groupMembers.flatMap(({ parsed }) => listSelections(parsed, groupWindow));
    return groupMembers.length === 0 ? [] : [{ window: groupWindow, members: groupMembers, selections }];
  };
  const startsAtFirstStep = (member: Member): boolean => getFirstStepMs(member) === window.startMs;
  return [
    ...buildGroup(members.filter(startsAtFirstStep)),
    ...buildGroup(members.filter((member) => !startsAtFirstStep(member))),
  ];
};
