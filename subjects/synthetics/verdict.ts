/** Verdict on a check for alert rules: state, locations and start, as text */
import type { SyntheticVerdict } from '../../schemas/synthetic-runs.ts';
import { heartbeatLocation, votingLocations } from './check.ts';
import { findJudgedTime, type KnownStates, type ReadResults, voteTiming } from './judged.ts';
import type { KnownCheck } from './known.ts';
import { evaluateState, maxSilentIntervals } from './state.ts';
import type { CheckResult } from './stored-results.ts';
import type { TimeSpan } from './uptime.ts';

type VerdictSummary = Pick<SyntheticVerdict, 'state' | 'isMaintenance' | 'says' | 'locations'>;
type JudgedCheck = Pick<KnownCheck, 'enabled' | 'every' | 'locations' | 'consensus'> &
  Partial<Pick<KnownCheck, 'heartbeat'>>;

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
  /** States returned by `judge` */
  readonly states: KnownStates;
  readonly alone: FailedAlone;
  /** Names of locations by id */
  readonly names: ReadonlyMap<string, string>;
  /** Active planned downtime */
  readonly downtime: TimeSpan | undefined;
  /** When the latest results were read; without it, all were read in time */
  readonly read?: ReadResults;
  readonly nowMs: number;
}

/** Formats a time: `2026-03-01 12:00:05 UTC`. */
const formatTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const verbs = { fail: ['fails', 'fail'], pass: ['passes', 'pass'] } as const;

const formatCount = (count: number, of: number, what: keyof typeof verbs): string => {
  const [one, many] = verbs[what];
  return of === 1 ? `its location ${one}` : `${count} of ${of} locations ${count === 1 ? one : many}`;
};

/** Returns the text of a heartbeat check. */
const describeHeartbeat = (state: SyntheticVerdict['state'], message = ''): string => {
  if (state === 'unknown') return message || 'its job sent no heartbeat, possibly because OIQ was unavailable';
  return `its job ${state === 'up' ? 'reported success' : 'failed'}${message === '' ? '' : ` – ${message}`}`;
};

/** Returns the text of an outage that was known after its end. */
export const describeOutage = ({ fromMs, toMs }: TimeSpan): string =>
  `it was down from ${formatTime(fromMs)} to ${formatTime(toMs)}; its results arrived after that`;

/** Returns the verdict on a check, and when its locations last failed alone. */
export const createVerdict = (
  check: JudgedCheck,
  { latest, suspects, states, alone, names, downtime, read, nowMs }: VerdictInput,
): { readonly verdict: VerdictSummary; readonly alone: FailedAlone } => {
  const { enabled, consensus } = check;
  const isHeartbeat = check.heartbeat !== undefined;
  const locations = votingLocations(check);
  const results = new Map(latest.map((one) => [one.location, one]));
  const timing = voteTiming(check, results);
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
  const nameOf = (location: string): string => names.get(location) ?? location;
  const sinceOf = (location: string): number => states[location]?.atMs ?? nowMs;
  const describeFailure = (location: string): string =>
    `${nameOf(location)}: ${results.get(location)?.message || 'it fails'}`;
  const state = enabled ? (states['']?.state ?? 'unknown') : 'unknown';
  const slow = locations.filter((location) => states[location]?.state === 'degraded');

  const describeFailures = (shown: readonly string[]): string => {
    const more = shown.length > maxNamedLocations ? `; and ${shown.length - maxNamedLocations} more` : '';
    return shown.length === 0 ? '' : ` – ${shown.slice(0, maxNamedLocations).map(describeFailure).join('; ')}${more}`;
  };
  const describeVotes = (): string => {
    if (!enabled) return 'it is disabled';
    if (isHeartbeat) return describeHeartbeat(state, results.get(heartbeatLocation)?.message);
    if (voters === 0) return 'no voting location has a result of the last three intervals';
    if (state === 'down') return `${formatCount(failing.length, voters, 'fail')}${describeFailures(failing)}`;
    if (state === 'degraded') return `it is slow, or near a limit${describeFailures([...failing, ...slow])}`;
    return formatCount(voters - failing.length, voters, 'pass');
  };
  const suspectVoters = locations.filter((location) => suspects.has(location));
  const suspectText =
    suspectVoters.length === 0
      ? ''
      : `; ${suspectVoters.map(nameOf).join(' and ')} ${suspectVoters.length === 1 ? 'is' : 'are'} suspect and cannot vote`;

  const isAlone = (location: string): boolean =>
    isBelowConsensus && failing.includes(location) && nowMs - sinceOf(location) >= minAloneIntervals * timing.everyMs;
  const nextAlone = Object.fromEntries(
    locations.flatMap((location) => {
      const lastMs = isAlone(location) ? nowMs : alone[location];
      return lastMs === undefined || nowMs - lastMs > recoveryReportMs ? [] : [[location, lastMs]];
    }),
  );
  const toLocationVerdict = (location: string) => {
    const fails = isAlone(location);
    const reason = fails
      ? `it fails at ${describeFailure(location)}, since ${formatTime(sinceOf(location))}; ${failing.length} of ${voters} fail, and ${requiredFailures} are required`
      : `it no longer fails only at ${nameOf(location)}`;
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
