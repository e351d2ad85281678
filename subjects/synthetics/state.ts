/** State of a check: one pure function of the latest results by location, the consensus, and the time */

export type Outcome = 'passed' | 'degraded' | 'failed' | 'unknown';
export type CheckState = 'up' | 'degraded' | 'down' | 'unknown' | 'maintenance';

/** Latest result of a location, after its retries */
interface LatestResult {
  readonly outcome: Outcome;
  readonly startedAtMs: number;
}

/** Recent results of a location over all of its checks */
interface LocationRecord {
  /** Time of the last contact of its probes */
  readonly lastSeenAtMs: number;
  /** Number of its runs of checks that other locations passed, and of the failures among them */
  readonly compared: number;
  readonly failedAlone: number;
}

/** Number of intervals without contact after which a location has no vote */
export const maxSilentIntervals = 3;
/** Minimum number of comparisons; otherwise a single check that fails at one location would remove its vote */
const minComparisons = 4;

/**
 * Returns whether and why a location is suspect: it is silent, or fails more than half of the checks that others pass.
 */
export const findSuspicion = (
  { lastSeenAtMs, compared, failedAlone }: LocationRecord,
  { everyMs, nowMs }: { readonly everyMs: number; readonly nowMs: number },
): 'silent' | 'differs' | undefined => {
  if (nowMs - lastSeenAtMs > maxSilentIntervals * everyMs) return 'silent';
  return compared >= minComparisons && failedAlone * 2 > compared ? 'differs' : undefined;
};

interface StateInput {
  /** Locations of the check, each with its latest result */
  readonly locations: ReadonlyMap<string, LatestResult | undefined>;
  /** Suspect locations, which have no vote */
  readonly suspects: ReadonlySet<string>;
  /** Number of voting locations that must fail; default: the majority of the voters, or both of two */
  readonly consensus?: number;
  readonly everyMs: number;
  /** Time for which a result is a vote; default: three intervals */
  readonly voteMs?: number;
  readonly nowMs: number;
  readonly isMaintenance: boolean;
}

interface Judgement {
  readonly state: CheckState;
  /** Locations that voted down */
  readonly failing: readonly string[];
  readonly voters: number;
  readonly needed: number;
  /** Whether some locations fail, but too few for the consensus */
  readonly isBelowConsensus: boolean;
}

/** Returns how many voters must fail. A location without a vote does not make the consensus unreachable. */
const requiredVotes = (voters: number, consensus: number | undefined): number =>
  Math.min(consensus ?? Math.floor(voters / 2) + 1, Math.max(1, voters));

/** Returns the current state of a check. Results that are old, unknown or from suspect locations are no votes. */
export const judgeState = ({
  locations,
  suspects,
  consensus,
  everyMs,
  voteMs = maxSilentIntervals * everyMs,
  nowMs,
  isMaintenance,
}: StateInput): Judgement => {
  const votes = [...locations].flatMap(([location, result]) => {
    if (result === undefined || result.outcome === 'unknown' || suspects.has(location)) return [];
    return nowMs - result.startedAtMs > voteMs ? [] : [{ location, outcome: result.outcome }];
  });
  const failing = votes.filter(({ outcome }) => outcome === 'failed').map(({ location }) => location);
  const slow = votes.filter(({ outcome }) => outcome === 'degraded').length;
  const needed = requiredVotes(votes.length, consensus);
  const isDown = failing.length >= needed;
  const votedState = (): CheckState => {
    if (votes.length === 0) return 'unknown';
    if (isDown) return 'down';
    // A failure also counts as slow: of five locations, two failing and one slow make the check degraded.
    return failing.length + slow >= needed ? 'degraded' : 'up';
  };
  return {
    state: isMaintenance ? 'maintenance' : votedState(),
    failing,
    voters: votes.length,
    needed,
    isBelowConsensus: failing.length > 0 && !isDown,
  };
};

interface Attempt {
  readonly outcome: Outcome;
}

/** Returns the outcome of a run from its attempts: a retry that passes overrides the previous attempts. */
export const finalOutcome = (attempts: readonly Attempt[]): Outcome => attempts.at(-1)?.outcome ?? 'unknown';

/** Returns the delay of the next attempt; `undefined` if the run has ended. Only failures are retried. */
export const nextRetryDelayMs = (
  attempts: readonly Attempt[],
  { count, waitMs }: { readonly count: number; readonly waitMs: number },
): number | undefined => (finalOutcome(attempts) === 'failed' && attempts.length <= count ? waitMs : undefined);
