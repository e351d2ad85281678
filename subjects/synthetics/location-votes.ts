/** Derives state changes of a check and of its locations from latest results */
import { parseDurationMs } from '../alerts/durations.ts';
import { getVotingLocations, heartbeatLocation } from './check.ts';
import { computeKnownUntilMs } from './heartbeat-times.ts';
import type { IdentifiedCheck } from './read-checks.ts';
import { evaluateState, findSuspicion, maxSilentIntervals } from './state.ts';
import type { CheckResult } from './stored-results.ts';
import type { StateChange } from './uptime.ts';

/** States of a check since its last judgement, by location; the check itself has the key '' */
export type KnownStates = Readonly<Record<string, StateChange>>;

export type JudgedCheck = Pick<IdentifiedCheck, 'id' | 'enabled' | 'every' | 'locations' | 'consensus'> &
  Partial<Pick<IdentifiedCheck, 'heartbeat'>>;

/** Counts, for each location, the recent results of checks that other locations passed, and how many of them failed. */
const compareLocations = (
  latestResults: readonly CheckResult[],
): ReadonlyMap<string, { comparedRuns: number; loneFailures: number }> => {
  const records = new Map<string, { comparedRuns: number; loneFailures: number }>();
  for (const results of Map.groupBy(latestResults, ({ checkId }) => checkId).values())
    for (const { location, outcome } of results) {
      const others = results.filter((result) => result.location !== location && result.outcome !== 'unknown');
      if (others.length === 0 || outcome === 'unknown' || others.some((other) => other.outcome === 'failed')) continue;
      const record = records.get(location) ?? { comparedRuns: 0, loneFailures: 0 };
      records.set(location, record);
      record.comparedRuns++;
      if (outcome === 'failed') record.loneFailures++;
    }
  return records;
};

/**
 * Returns locations that fail more than half of the checks that others pass. Silent locations have no recent results
 * and no vote.
 */
export const findSuspects = (latestResults: readonly CheckResult[]): ReadonlySet<string> =>
  new Set(
    [...compareLocations(latestResults)].flatMap(([location, record]) =>
      findSuspicion({ lastSeenAtMs: 0, ...record }, { everyMs: 1, nowMs: 0 }) === undefined ? [] : [location],
    ),
  );

const createUnknownState = (): StateChange => ({ atMs: 0, state: 'unknown' });

/** Returns the interval of a check, and for heartbeats how long a result counts as a vote, in milliseconds. */
export const getVoteTiming = (
  { every, heartbeat }: Pick<JudgedCheck, 'every' | 'heartbeat'>,
  results: ReadonlyMap<string, Pick<CheckResult, 'startedAtMs'>>,
): { readonly everyMs: number; readonly voteMs?: number } => {
  const everyMs = parseDurationMs(every);
  if (heartbeat === undefined) return { everyMs };
  const reportedAtMs = results.get(heartbeatLocation)?.startedAtMs ?? 0;
  return { everyMs, voteMs: computeKnownUntilMs({ every, heartbeat }, reportedAtMs) - reportedAtMs };
};

/** The latest result of each location that was read, and when it was read for the first time */
export type ReadResults = Readonly<Record<string, { readonly startedAtMs: number; readonly readAtMs: number }>>;

/** Maximum age of results by which a check is judged while none is in time */
const maxLatenessMs = 600_000;

/**
 * Returns the time as of which locations are judged: now, or while results arrive late, that of the latest result. So a
 * check whose results all lag is known as it was then, instead of unknown.
 */
export const findJudgedTime = (
  results: readonly (Pick<CheckResult, 'location' | 'startedAtMs'> | undefined)[],
  {
    voteMs,
    read = {},
    nowMs,
  }: { readonly voteMs: number; readonly read?: ReadResults | undefined; readonly nowMs: number },
): number => {
  const nextStates = results.filter((result) => result !== undefined);
  if (nextStates.some(({ startedAtMs }) => nowMs - startedAtMs <= voteMs)) return nowMs;
  const late = nextStates.filter(
    ({ location, startedAtMs }) =>
      nowMs - startedAtMs <= maxLatenessMs && nowMs - (read[location]?.readAtMs ?? 0) <= voteMs,
  );
  return late.length === 0 ? nowMs : Math.max(...late.map(({ startedAtMs }) => startedAtMs));
};

/**
 * Returns the changes and the new states. A change begins with the result that caused it, or now if there was no
 * result.
 */
export const judgeChanges = (
  check: JudgedCheck,
  known: KnownStates,
  {
    latest,
    suspects,
    read,
    nowMs,
  }: {
    readonly latest: readonly CheckResult[];
    readonly suspects: ReadonlySet<string>;
    readonly read?: ReadResults;
    readonly nowMs: number;
  },
): { readonly known: KnownStates; readonly changes: readonly (StateChange & { readonly location: string })[] } => {
  const results = new Map(latest.map((checkResult) => [checkResult.location, checkResult]));
  const votes = getVoteTiming(check, results);
  const judgeLocations = (
    locations: readonly string[],
    consensus: { down: number | null },
    ignoredLocations: ReadonlySet<string>,
  ): StateChange => {
    const { everyMs, voteMs = maxSilentIntervals * everyMs } = votes;
    const counted = locations
      .filter((location) => !ignoredLocations.has(location))
      .map((location) => results.get(location));
    const { state } = evaluateState({
      locations: new Map(locations.map((location) => [location, results.get(location)])),
      suspects: ignoredLocations,
      ...(consensus.down !== null && { consensus: consensus.down }),
      ...votes,
      nowMs: findJudgedTime(counted, { voteMs, read, nowMs }),
      isMaintenance: false,
    });
    const newestStartMs = Math.max(0, ...locations.map((location) => results.get(location)?.startedAtMs ?? 0));
    const effectiveState = check.enabled && state !== 'maintenance' ? state : 'unknown';
    return { state: effectiveState, atMs: effectiveState === 'unknown' ? nowMs : Math.min(newestStartMs, nowMs) };
  };
  const currentStates = new Map<string, StateChange>([
    ['', judgeLocations(getVotingLocations(check), check.consensus, suspects)],
  ]);
  for (const location of check.locations)
    currentStates.set(location, judgeLocations([location], { down: null }, new Set()));
  for (const location of Object.keys(known))
    if (!currentStates.has(location)) currentStates.set(location, { state: 'unknown', atMs: nowMs });
  const changes = [...currentStates].flatMap(([location, { state, atMs }]) => {
    const before = known[location] ?? createUnknownState();
    // A result that is older than the last change cannot have caused this one.
    return before.state === state
      ? []
      : [{ location, state, atMs: atMs > before.atMs ? atMs : Math.max(nowMs, before.atMs + 1) }];
  });
  const nextStates = { ...known };
  for (const { location, state, atMs } of changes) {
    if (location !== '' && !check.locations.includes(location)) delete nextStates[location];
    else nextStates[location] = { state, atMs };
  }
  return { known: nextStates, changes };
};
