/** Works out the states of a check again for a time whose results were read after it was judged */
import { createHash } from 'node:crypto';
import { parseDurationMs } from '../alerts/durations.ts';
import { getVoteTiming, type JudgedCheck, judgeChanges, type KnownStates, type ReadResults } from './location-votes.ts';
import { maxSilentIntervals } from './state.ts';
import type { CheckResult } from './stored-results.ts';
import type { StateChange, TimePeriod } from './uptime.ts';

/** Time between two judgements, or between the start of a result and its first judgement, that misses no state */
const promptMs = 20_000;
/** Part of the interval by which the next result of a location may start later than the previous one */
const maxSpacing = 1.5;
/** Age of results that probes may still send */
const maxAgeMs = 3_900_000;
/** Time in which results arrive that were read in another order: after it, the time is worked out a second time. */
const settlePeriodMs = 300_000;
const maxSpreadMs = 300_000;

export type LocatedChange = StateChange & { readonly location: string };

/** Returns when a time is worked out again, distributed over time per check. */
export const settledAtMs = (checkId: string, toMs: number): number =>
  toMs + settlePeriodMs + (createHash('sha256').update(checkId).digest().readUInt32BE() % maxSpreadMs);

/**
 * Returns the latest result of each location that is in order, with the time when it was first read. `before` are those
 * of the previous judgement.
 */
export const recordResults = (latest: readonly CheckResult[], before: ReadResults, nowMs: number): ReadResults =>
  Object.fromEntries(
    latest.map(({ location, startedAtMs }) => {
      const known = before[location];
      return [location, known?.startedAtMs === startedAtMs ? known : { startedAtMs, readAtMs: nowMs }];
    }),
  );

/**
 * Returns the time from which states may be other than they were judged; `undefined` if all results were read in time.
 * A check that was never judged has no such time.
 */
export const findReviewStart = (
  { every, locations }: Pick<JudgedCheck, 'every' | 'locations'>,
  { judgedMs, read: before }: { readonly judgedMs: number; readonly read: ReadResults },
  { read, nowMs }: { readonly read: ReadResults; readonly nowMs: number },
): number | undefined => {
  const everyMs = parseDurationMs(every);
  const starts = locations.flatMap((location) => {
    const [known, now] = [before[location], read[location]];
    if (now === undefined || now.startedAtMs <= (known?.startedAtMs ?? 0)) return [];
    const isLate = nowMs - now.startedAtMs > Math.max(promptMs, everyMs);
    const isApart = known !== undefined && now.startedAtMs - known.startedAtMs > maxSpacing * everyMs;
    return isLate || isApart ? [known?.startedAtMs ?? now.startedAtMs - 1] : [];
  });
  if (judgedMs > 0 && nowMs - judgedMs > promptMs) starts.push(judgedMs);
  return starts.length === 0 ? undefined : Math.max(Math.min(...starts), nowMs - maxAgeMs);
};

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

/**
 * Returns the changes of a time, as if each result had been read when it began, and the states at its end. `runs` are
 * those of the time and of the preceding one in which results are votes, in order.
 */
export const reconstructChanges = (
  check: JudgedCheck,
  { fromMs, toMs, before }: TimePeriod & { readonly before: KnownStates },
  { runs, suspects }: { readonly runs: readonly CheckResult[]; readonly suspects: ReadonlySet<string> },
): { readonly known: KnownStates; readonly changes: readonly LocatedChange[] } => {
  const { everyMs, voteMs = maxSilentIntervals * everyMs } = getVoteTiming(check, new Map());
  const moments = findChangeMoments(runs, voteMs).filter((ms) => ms > fromMs && ms < toMs);
  const latest = new Map<string, CheckResult>();
  const changes: LocatedChange[] = [];
  let [known, at] = [before, 0];
  for (const nowMs of [...new Set([fromMs, ...moments])].toSorted((left, right) => left - right)) {
    for (let run = runs[at]; run !== undefined && run.startedAtMs <= nowMs; run = runs[++at])
      latest.set(run.location, run);
    const judged = judgeChanges(check, known, { latest: [...latest.values()], suspects, nowMs });
    known = judged.known;
    changes.push(...judged.changes);
  }
  return { known, changes };
};

const inOrder = (changes: Iterable<LocatedChange>): readonly LocatedChange[] =>
  [...changes].toSorted((left, right) => left.atMs - right.atMs);

const getCheckKey = ({ location, atMs }: LocatedChange): string => `${atMs} ${location}`;

/** Combines changes; of two at one time and location, the later in the list applies. */
export const mergeChanges = (...lists: readonly (readonly LocatedChange[])[]): readonly LocatedChange[] =>
  inOrder(new Map(lists.flat().map((change) => [getCheckKey(change), change])).values());

/** Returns the states at a time, with the start of each. */
export const statesAt = (changes: readonly LocatedChange[], atMs: number): KnownStates =>
  Object.fromEntries(
    changes.filter((change) => change.atMs <= atMs).map(({ location, ...change }) => [location, change]),
  );

/**
 * Returns the changes to store so that stored ones give the new states. A stored change that did not happen is replaced
 * by the state of its time, because it cannot be deleted.
 */
export const findCorrections = (
  stored: readonly LocatedChange[],
  { fromMs, before }: { readonly fromMs: number; readonly before: KnownStates },
  changes: readonly LocatedChange[],
): readonly LocatedChange[] => {
  const storedStates = new Map(stored.map((change) => [getCheckKey(change), change.state]));
  const news = changes.filter((change) => storedStates.get(getCheckKey(change)) !== change.state);
  const happened = new Set(changes.map(getCheckKey));
  const replaced = stored.flatMap((change): LocatedChange[] => {
    if (change.atMs <= fromMs || happened.has(getCheckKey(change))) return [];
    const state =
      statesAt(inOrder(changes), change.atMs)[change.location]?.state ?? before[change.location]?.state ?? 'unknown';
    return state === change.state ? [] : [{ ...change, state }];
  });
  return inOrder([...news, ...replaced]);
};

/** Returns the times in which a check was down, of changes in order. */
const findDownSpans = (changes: readonly LocatedChange[], toMs: number): readonly TimePeriod[] => {
  const own = changes.filter(({ location }) => location === '');
  return own.flatMap(({ state, atMs }, index) =>
    state === 'down' ? [{ fromMs: atMs, toMs: own[index + 1]?.atMs ?? toMs }] : [],
  );
};

/** Returns the latest outage that is over and was not known, of stored changes and the right ones, both from a time. */
export const findMissedOutage = (
  stored: readonly LocatedChange[],
  changes: readonly LocatedChange[],
  { fromMs, toMs }: TimePeriod,
): TimePeriod | undefined => {
  const known = findDownSpans(stored, toMs);
  return findDownSpans(changes, toMs).findLast(
    (span) =>
      span.toMs > fromMs &&
      span.toMs < toMs &&
      !known.some((timePeriod) => timePeriod.fromMs < span.toMs && timePeriod.toMs > Math.max(span.fromMs, fromMs)),
  );
};
