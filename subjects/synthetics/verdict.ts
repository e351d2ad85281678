/** Builds the verdict on a check for alert rules: its state, failing locations and start time, as text */
import type { SyntheticVerdict } from '../../schemas/synthetic-runs.ts';
import { getVotingLocations, heartbeatLocation } from './check.ts';
import { findJudgedTime, getVoteTiming, type KnownStates, type ReadResults } from './location-votes.ts';
import type { IdentifiedCheck } from './read-checks.ts';
import { evaluateState, maxSilentIntervals } from './state.ts';
import type { CheckResult } from './stored-results.ts';
import type { TimePeriod } from './uptime.ts';

type VerdictSummary = Pick<SyntheticVerdict, 'state' | 'isMaintenance' | 'says' | 'locations'>;
type JudgedCheck = Pick<IdentifiedCheck, 'enabled' | 'every' | 'locations' | 'consensus'> &
  Partial<Pick<IdentifiedCheck, 'heartbeat'>>;

/** Number of intervals after which a single failing location is reported */
const minAloneIntervals = 2;
/** Time for which the recovery is reported, which ends alerts */
const recoveryReportMs = 10 * 60_000;
/** Maximum number of locations in a text */
const maxNamedLocations = 5;

/** Last time at which each location failed alone, in milliseconds */
export type FailedAlone = Readonly<Record<string, number>>;

interface VerdictInput {
  readonly latest: readonly CheckResult[];
  readonly suspects: ReadonlySet<string>;
  /** States returned by `judgeChanges` */
  readonly states: KnownStates;
  readonly lastAloneMs: FailedAlone;
  /** Names of locations by id */
  readonly names: ReadonlyMap<string, string>;
  /** Active planned downtime */
  readonly downtime: TimePeriod | undefined;
  /** When the latest results were read; without it, all were read in time */
  readonly read?: ReadResults;
  readonly nowMs: number;
}

/** Formats a time: `2026-03-01 12:00:05 UTC`. */
const formatTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const verbs = { fail: ['fails', 'fail'], pass: ['passes', 'pass'] } as const;

const formatCount = (count: number, total: number, verb: keyof typeof verbs): string => {
  const [singular, plural] = verbs[verb];
  return total === 1 ? `its location ${singular}` : `${count} of ${total} locations ${count === 1 ? singular : plural}`;
};

/** Returns the text of a heartbeat check. */
const describeHeartbeat = (state: SyntheticVerdict['state'], message = ''): string => {
  if (state === 'unknown') return message || 'its job sent no heartbeat, possibly because OIQ was unavailable';
  return `its job ${state === 'up' ? 'reported success' : 'failed'}${message === '' ? '' : ` – ${message}`}`;
};

/** Returns the text of an outage that was known after its end. */
export const describeOutage = ({ fromMs, toMs }: TimePeriod): string =>
  `it was down from ${formatTime(fromMs)} to ${formatTime(toMs)}; its results arrived after that`;

/** Returns the verdict on a check, and when its locations last failed alone. */
export const createVerdict = (
  check: JudgedCheck,
  { latest, suspects, states, lastAloneMs, names, downtime, read, nowMs }: VerdictInput,
): { readonly verdict: VerdictSummary; readonly alone: FailedAlone } => {
  const { enabled, consensus } = check;
  const isHeartbeat = check.heartbeat !== undefined;
  const locations = getVotingLocations(check);
  const results = new Map(latest.map((checkResult) => [checkResult.location, checkResult]));
  const timing = getVoteTiming(check, results);
  const voteMs = timing.voteMs ?? maxSilentIntervals * timing.everyMs;
  const counted = locations.filter((location) => !suspects.has(location)).map((location) => results.get(location));
  const judgedMs = findJudgedTime(counted, { voteMs, read, nowMs });
  const { failing, voters, requiredFailures, isBelowConsensus } = evaluateState({
    locations: new Map(locations.map((location) => [location, results.get(location)])),
    ...timing,
    suspects,
    nowMs: judgedMs,
    isMaintenance: false,
    ...(consensus.down !== null && { consensus: consensus.down }),
  });
  const getName = (location: string): string => names.get(location) ?? location;
  const getSinceMs = (location: string): number => states[location]?.atMs ?? nowMs;
  const describeFailure = (location: string): string =>
    `${getName(location)}: ${results.get(location)?.message || 'it fails'}`;
  const state = enabled ? (states['']?.state ?? 'unknown') : 'unknown';
  const degradedLocations = locations.filter((location) => states[location]?.state === 'degraded');

  const describeFailures = (failingLocations: readonly string[]): string => {
    const more =
      failingLocations.length > maxNamedLocations ? `; and ${failingLocations.length - maxNamedLocations} more` : '';
    return failingLocations.length === 0
      ? ''
      : ` – ${failingLocations.slice(0, maxNamedLocations).map(describeFailure).join('; ')}${more}`;
  };
  const describeVotes = (): string => {
    if (!enabled) return 'it is disabled';
    if (isHeartbeat) return describeHeartbeat(state, results.get(heartbeatLocation)?.message);
    if (voters === 0) return 'no voting location has a result of the last three intervals';
    if (state === 'down') return `${formatCount(failing.length, voters, 'fail')}${describeFailures(failing)}`;
    if (state === 'degraded')
      return `it is slow, or near a limit${describeFailures([...failing, ...degradedLocations])}`;
    return formatCount(voters - failing.length, voters, 'pass');
  };
  const suspectVoters = locations.filter((location) => suspects.has(location));
  const suspectText =
    suspectVoters.length === 0
      ? ''
      : `; ${suspectVoters.map(getName).join(' and ')} ${suspectVoters.length === 1 ? 'is' : 'are'} suspect and cannot vote`;

  // After an outage, a location is not alone until the others have passed for as long; unless it was alone before.
  const getAloneSinceMs = (location: string): number =>
    state === 'up' && lastAloneMs[location] === undefined
      ? Math.max(getSinceMs(location), getSinceMs(''))
      : getSinceMs(location);
  const isAlone = (location: string): boolean =>
    isBelowConsensus &&
    failing.includes(location) &&
    nowMs - getAloneSinceMs(location) >= minAloneIntervals * timing.everyMs;
  const nextAlone = Object.fromEntries(
    locations.flatMap((location) => {
      const lastMs = isAlone(location) ? nowMs : lastAloneMs[location];
      return lastMs === undefined || nowMs - lastMs > recoveryReportMs ? [] : [[location, lastMs]];
    }),
  );
  const toLocationVerdict = (location: string) => {
    const fails = isAlone(location);
    const reason = fails
      ? `it fails at ${describeFailure(location)}, since ${formatTime(getSinceMs(location))}; ${failing.length} of ${voters} fail, and ${requiredFailures} are required`
      : `it no longer fails only at ${getName(location)}`;
    return { location, fails, says: reason.slice(0, 1024) };
  };
  const lateText = judgedMs === nowMs ? '' : '; its results arrive late';
  const since = `it has been ${state} since ${formatTime(states['']?.atMs ?? nowMs)}`;
  const downtimeText = downtime === undefined ? '' : `; in planned downtime until ${formatTime(downtime.toMs)}`;
  return {
    verdict: {
      state,
      isMaintenance: downtime !== undefined,
      says: `${since}: ${describeVotes()}${suspectText}${lateText}`.slice(0, 1900) + downtimeText,
      locations: Object.keys(nextAlone).map(toLocationVerdict),
    },
    alone: nextAlone,
  };
};
