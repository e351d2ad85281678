/** Derives state changes of a check and of its locations from latest results */
import { parseDurationMs } from '../alerts/durations.ts';
import { heartbeatLocation, votingLocations } from './check.ts';
import { knownUntilMs } from './heartbeat-times.ts';
import type { KnownCheck } from './known.ts';
import { evaluateState, findSuspicion, maxSilentIntervals } from './state.ts';
import type { CheckResult } from './stored-results.ts';
import type { StateChange } from './uptime.ts';

/** States of a check since its last judgement, by location; the check itself has the key '' */
export type KnownStates = Readonly<Record<string, StateChange>>;

export type JudgedCheck = Pick<KnownCheck, 'id' | 'enabled' | 'every' | 'locations' | 'consensus'> &
  Partial<Pick<KnownCheck, 'heartbeat'>>;

/** Returns the recent results of each location for checks that other locations also ran. */
const compareLocations = (
  latest: readonly CheckResult[],
): ReadonlyMap<string, { comparedRuns: number; loneFailures: number }> => {
  const records = new Map<string, { comparedRuns: number; loneFailures: number }>();
  for (const results of Map.groupBy(latest, ({ checkId }) => checkId).values())
    for (const { location, outcome } of results) {
      const others = results.filter((one) => one.location !== location && one.outcome !== 'unknown');
      if (others.length === 0 || outcome === 'unknown' || others.some((one) => one.outcome === 'failed')) continue;
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
export const findSuspects = (latest: readonly CheckResult[]): ReadonlySet<string> =>
  new Set(
    [...compareLocations(latest)].flatMap(([location, record]) =>
      findSuspicion({ lastSeenAtMs: 0, ...record }, { everyMs: 1, nowMs: 0 }) === undefined ? [] : [location],
    ),
  );

const unknownState = (): StateChange => ({ atMs: 0, state: 'unknown' });

/** Returns how long a result of a check counts as a vote, in milliseconds. */
export const voteTiming = (
  { every, heartbeat }: Pick<JudgedCheck, 'every' | 'heartbeat'>,
  results: ReadonlyMap<string, Pick<CheckResult, 'startedAtMs'>>,
): { readonly everyMs: number; readonly voteMs?: number } => {
  const everyMs = parseDurationMs(every);
  if (heartbeat === undefined) return { everyMs };
  const reportedAtMs = results.get(heartbeatLocation)?.startedAtMs ?? 0;
  return { everyMs, voteMs: knownUntilMs({ every, heartbeat }, reportedAtMs) - reportedAtMs };
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
  const known = results.filter((result) => result !== undefined);
  if (known.some(({ startedAtMs }) => nowMs - startedAtMs <= voteMs)) return nowMs;
  const late = known.filter(
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
  const results = new Map(latest.map((one) => [one.location, one]));
  const votes = voteTiming(check, results);
  const judgeLocations = (
    locations: readonly string[],
    consensus: { down: number | null },
    ignored: ReadonlySet<string>,
  ): StateChange => {
    const { everyMs, voteMs = maxSilentIntervals * everyMs } = votes;
    const counted = locations.filter((location) => !ignored.has(location)).map((location) => results.get(location));
    const { state } = evaluateState({
      locations: new Map(locations.map((location) => [location, results.get(location)])),
      suspects: ignored,
      ...(consensus.down !== null && { consensus: consensus.down }),
      ...votes,
      nowMs: findJudgedTime(counted, { voteMs, read, nowMs }),
      isMaintenance: false,
    });
    const newest = Math.max(0, ...locations.map((location) => results.get(location)?.startedAtMs ?? 0));
    const seen = check.enabled && state !== 'maintenance' ? state : 'unknown';
    return { state: seen, atMs: seen === 'unknown' ? nowMs : Math.min(newest, nowMs) };
  };
  const now = new Map<string, StateChange>([['', judgeLocations(votingLocations(check), check.consensus, suspects)]]);
  for (const location of check.locations) now.set(location, judgeLocations([location], { down: null }, new Set()));
  for (const location of Object.keys(known))
    if (!now.has(location)) now.set(location, { state: 'unknown', atMs: nowMs });
  const changes = [...now].flatMap(([location, { state, atMs }]) => {
    const before = known[location] ?? unknownState();
    // A result that is older than the last change cannot have caused this one.
    return before.state === state
      ? []
      : [{ location, state, atMs: atMs > before.atMs ? atMs : Math.max(nowMs, before.atMs + 1) }];
  });
  const next = { ...known };
  for (const { location, state, atMs } of changes) {
    if (location !== '' && !check.locations.includes(location)) delete next[location];
    else next[location] = { state, atMs };
  }
  return { known: next, changes };
};
