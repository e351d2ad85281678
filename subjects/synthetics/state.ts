/** Computes the state of a check, a pure function of the latest results by location, the consensus and the time */

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
  readonly comparedRuns: number;
  readonly loneFailures: number;
}

/** Number of intervals without contact after which a location has no vote */
export const maxSilentIntervals = 3;
/** Minimum number of comparisons; otherwise a single check that fails at one location would remove its vote */
const minComparisons = 4;

/**
 * Returns whether and why a location is suspect: it is silent, or fails more than half of the checks that others pass.
 */
export const findSuspicion = (
  { lastSeenAtMs, comparedRuns, loneFailures }: LocationRecord,
  { everyMs, nowMs }: { readonly everyMs: number; readonly nowMs: number },
): 'silent' | 'differs' | undefined => {
  if (nowMs - lastSeenAtMs > maxSilentIntervals * everyMs) return 'silent';
  return comparedRuns >= minComparisons && loneFailures * 2 > comparedRuns ? 'differs' : undefined;
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

interface StateEvaluation {
  readonly state: CheckState;
  /** Locations that voted down */
  readonly failing: readonly string[];
  readonly voters: number;
  readonly requiredFailures: number;
  /** Whether some locations fail, but too few for the consensus */
  readonly isBelowConsensus: boolean;
}

/** Returns how many voters must fail. A location without a vote does not make the consensus unreachable. */
const computeRequiredVotes = (voters: number, consensus: number | undefined): number =>
  Math.min(consensus ?? Math.floor(voters / 2) + 1, Math.max(1, voters));

/** Returns the current state of a check. Results that are old, unknown or from suspect locations are not votes. */
export const evaluateState = ({
  locations,
  suspects,
  consensus,
  everyMs,
  voteMs = maxSilentIntervals * everyMs,
  nowMs,
  isMaintenance,
}: StateInput): StateEvaluation => {
  const votes = [...locations].flatMap(([location, result]) => {
    if (result === undefined || result.outcome === 'unknown' || suspects.has(location)) return [];
    return nowMs - result.startedAtMs > voteMs ? [] : [{ location, outcome: result.outcome }];
  });
  const failingLocations = votes.filter(({ outcome }) => outcome === 'failed').map(({ location }) => location);
  const degradedCount = votes.filter(({ outcome }) => outcome === 'degraded').length;
  const requiredFailures = computeRequiredVotes(votes.length, consensus);
  const isDown = failingLocations.length >= requiredFailures;
  const computeVotedState = (): CheckState => {
    if (votes.length === 0) return 'unknown';
    if (isDown) return 'down';
    // A failure also counts as slow: of five locations, two failing and one slow make the check degraded.
    return failingLocations.length + degradedCount >= requiredFailures ? 'degraded' : 'up';
  };
  return {
    state: isMaintenance ? 'maintenance' : computeVotedState(),
    failing: failingLocations,
    voters: votes.length,
    requiredFailures,
    isBelowConsensus: failingLocations.length > 0 && !isDown,
  };
};

interface Attempt {
  readonly outcome: Outcome;
}

/** Returns the outcome of a run from its attempts: a retry that passes overrides the previous attempts. */
export const getFinalOutcome = (attempts: readonly Attempt[]): Outcome => attempts.at(-1)?.outcome ?? 'unknown';

/** Returns the delay of the next attempt; `undefined` if the run has ended. Only failures are retried. */
export const getRetryDelayMs = (
  attempts: readonly Attempt[],
  { count, waitMs }: { readonly count: number; readonly waitMs: number },
): number | undefined => (getFinalOutcome(attempts) === 'failed' && attempts.length <= count ? waitMs : undefined);
