/** What a check was while nobody judged it: worked out afterwards from its runs, which probes keep meanwhile. */
import { createHash } from 'node:crypto';
import { type Judged, judge, type KnownStates, votesFor } from './judged.ts';
import { silentIntervals } from './state.ts';
import type { Latest } from './stored-results.ts';
import type { StateChange } from './uptime.ts';

/** A time between two judgements that was so long that changes may have come and gone in it. */
export interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
  /** What was known when it began, and after the judgement that ended it. */
  readonly before: KnownStates;
  readonly after: KnownStates;
}

/** Judgements that are closer miss less than an interval of the most frequent checks, or two. */
const minGapMs = 20_000;
/** Probes send what they kept in this time. */
const settledMs = 300_000;
const spreadMs = 300_000;

/** Whether judgements are so far apart that something may have been missed. A check that was never judged missed nothing. */
export const isGap = (judgedMs: number, nowMs: number): boolean => judgedMs > 0 && nowMs - judgedMs > minGapMs;

/** From when on a gap is filled: not all checks in one moment. */
export const filledFromMs = (checkId: string, { toMs }: Gap): number =>
  toMs + settledMs + (createHash('sha256').update(checkId).digest().readUInt32BE() % spreadMs);

/** Moments at which a state may change: a location says something else, or has said nothing for too long. */
const momentsOf = (runs: readonly Latest[], voteMs: number): readonly number[] =>
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

/** The changes of a gap. `runs` are those of the gap and of the time before in which results are votes, in order. */
export const changesOfGap = (
  check: Judged,
  { fromMs, toMs, before, after }: Gap,
  { runs, suspects }: { readonly runs: readonly Latest[]; readonly suspects: ReadonlySet<string> },
): readonly LocatedChange[] => {
  const { everyMs, voteMs = silentIntervals * everyMs } = votesFor(check, new Map());
  const moments = momentsOf(runs, voteMs).filter((ms) => ms > fromMs && ms < toMs);
  const latest = new Map<string, Latest>();
  const changes: LocatedChange[] = [];
  let [known, at] = [before, 0];
  // What landed late is judged as of its begin, too.
  for (const nowMs of [...new Set([fromMs, ...moments])].toSorted((one, other) => one - other)) {
    for (let run = runs[at]; run !== undefined && run.startedAtMs <= nowMs; run = runs[++at])
      latest.set(run.location, run);
    const judged = judge(check, known, { latest: [...latest.values()], suspects, nowMs });
    known = judged.known;
    changes.push(...judged.changes);
  }
  // Where the gap ends otherwise than it was judged to be then, what was judged holds from there on.
  for (const [location, { state }] of Object.entries(after))
    if ((known[location]?.state ?? 'unknown') !== state) changes.push({ location, state, atMs: toMs });
  return changes;
};
