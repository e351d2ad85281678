/** Reconstructs the state of a check during gaps without judgements, from runs that probes store in the meantime */
import { createHash } from 'node:crypto';
import { type JudgedCheck, judgeChanges, type KnownStates, voteTiming } from './judged.ts';
import { maxSilentIntervals } from './state.ts';
import type { CheckResult } from './stored-results.ts';
import type { StateChange } from './uptime.ts';

/** A time between two judgements that is long enough to miss state changes */
export interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
  /** States before the gap, and after the judgement that ended it */
  readonly before: KnownStates;
  readonly after: KnownStates;
}

/** Minimum length of a gap; shorter times miss at most one or two intervals of the most frequent checks */
const minGapLengthMs = 20_000;
/** Time in which probes send stored results */
const resendPeriodMs = 300_000;
const maxSpreadMs = 300_000;

/** Returns whether judgements are far enough apart to miss changes. A check that was never judged has no gap. */
export const isGap = (judgedMs: number, nowMs: number): boolean => judgedMs > 0 && nowMs - judgedMs > minGapLengthMs;

/** Returns when a gap is filled, distributed over time per check. */
export const fillTimeMs = (checkId: string, { toMs }: Gap): number =>
  toMs + resendPeriodMs + (createHash('sha256').update(checkId).digest().readUInt32BE() % maxSpreadMs);

/** Returns moments at which the state may change: a location changes its result, or has sent none for too long. */
const findChangeMoments = (runs: readonly CheckResult[], voteMs: number): readonly number[] =>
  [...Map.groupBy(runs, ({ location }) => location).values()].flatMap((own) =>
    own.flatMap(({ startedAtMs, outcome }, at) => {
      const [before, next] = [own[at - 1], own[at + 1]];
      const isSame = before?.outcome === outcome && startedAtMs - before.startedAtMs <= voteMs;
      const silentFromMs = startedAtMs + voteMs + 1;
      const isFollowed = next !== undefined && next.startedAtMs < silentFromMs;
      return [...(isSame ? [] : [startedAtMs]), ...(isFollowed ? [] : [silentFromMs])];
    }),
  );

export type LocatedChange = StateChange & { readonly location: string };

/**
 * Returns the changes of a gap. `runs` are those of the gap and of the preceding time in which results are votes, in
 * order.
 */
export const reconstructChanges = (
  check: JudgedCheck,
  { fromMs, toMs, before, after }: Gap,
  { runs, suspects }: { readonly runs: readonly CheckResult[]; readonly suspects: ReadonlySet<string> },
): readonly LocatedChange[] => {
  const { everyMs, voteMs = maxSilentIntervals * everyMs } = voteTiming(check, new Map());
  const moments = findChangeMoments(runs, voteMs).filter((ms) => ms > fromMs && ms < toMs);
  const latest = new Map<string, CheckResult>();
  const changes: LocatedChange[] = [];
  let [known, at] = [before, 0];
  // Results that were stored late are also judged at their start.
  for (const nowMs of [...new Set([fromMs, ...moments])].toSorted((one, other) => one - other)) {
    for (let run = runs[at]; run !== undefined && run.startedAtMs <= nowMs; run = runs[++at])
      latest.set(run.location, run);
    const judged = judgeChanges(check, known, { latest: [...latest.values()], suspects, nowMs });
    known = judged.known;
    changes.push(...judged.changes);
  }
  // If the state at the end of the gap differs from the one judged then, the judged one applies from there.
  for (const [location, { state }] of Object.entries(after))
    if ((known[location]?.state ?? 'unknown') !== state) changes.push({ location, state, atMs: toMs });
  return changes;
};
