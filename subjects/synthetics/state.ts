/** State of a check: one pure function of the latest results by location, the consensus, and the time. */

export type Outcome = 'passed' | 'degraded' | 'failed' | 'unknown';
export type CheckState = 'up' | 'degraded' | 'down' | 'unknown' | 'maintenance';

/** The latest result of a location, after its retries. */
interface LatestResult {
  readonly outcome: Outcome;
  readonly startedAtMs: number;
}

/** What a location did of late, over all of its checks. */
interface LocationRecord {
  /** When its probes were last heard from. */
  readonly heardAtMs: number;
  /** Of the checks that other locations passed: how many it ran, and how many of those failed. */
  readonly compared: number;
  readonly failedAlone: number;
}

/** A location that is not heard from for so many intervals has no vote. */
export const silentIntervals = 3;
/** Fewer comparisons say nothing: one check that fails at one place would take its vote. */
const minCompared = 4;

/** Whether a location is suspect, and why: it is silent, or fails more than half of what others pass. */
export const suspicionOf = (
  { heardAtMs: lastSeenAtMs, compared, failedAlone }: LocationRecord,
  { everyMs, nowMs }: { readonly everyMs: number; readonly nowMs: number },
): 'silent' | 'differs' | undefined => {
  if (nowMs - lastSeenAtMs > silentIntervals * everyMs) return 'silent';
  return compared >= minCompared && failedAlone * 2 > compared ? 'differs' : undefined;
};

interface StateInput {
  /** Locations of the check, each with its latest result, if it has one. */
  readonly locations: ReadonlyMap<string, LatestResult | undefined>;
  /** Those that are suspect, which have no vote. */
  readonly suspects: ReadonlySet<string>;
  /** How many voting locations must fail; without it, the majority of those that vote, and both of two. */
  readonly consensus?: number;
  readonly everyMs: number;
  /** How long a result is a vote; three intervals unless told otherwise. */
  readonly voteMs?: number;
  readonly nowMs: number;
  readonly isMaintenance: boolean;
}

interface Judgement {
  readonly state: CheckState;
  /** Locations that voted down. */
  readonly failing: readonly string[];
  readonly voters: number;
  readonly needed: number;
  /** Some fail, too few for the consensus. */
  readonly isBelowConsensus: boolean;
}

/** How many of the voters must fail. A location that lost its vote does not make the consensus unreachable. */
const neededOf = (voters: number, consensus: number | undefined): number =>
  Math.min(consensus ?? Math.floor(voters / 2) + 1, Math.max(1, voters));

/** What a check's state is now. Results of suspect locations, old ones, and unknown ones are no votes. */
export const judgeState = ({
  locations,
  suspects,
  consensus,
  everyMs,
  voteMs = silentIntervals * everyMs,
  nowMs,
  isMaintenance,
}: StateInput): Judgement => {
  const votes = [...locations].flatMap(([location, result]) => {
    if (result === undefined || result.outcome === 'unknown' || suspects.has(location)) return [];
    return nowMs - result.startedAtMs > voteMs ? [] : [{ location, outcome: result.outcome }];
  });
  const failing = votes.filter(({ outcome }) => outcome === 'failed').map(({ location }) => location);
  const slow = votes.filter(({ outcome }) => outcome === 'degraded').length;
  const needed = neededOf(votes.length, consensus);
  const isDown = failing.length >= needed;
  const seen = (): CheckState => {
    if (votes.length === 0) return 'unknown';
    if (isDown) return 'down';
    // What fails is at least slow, so that two that fail and one that is slow of five are degraded.
    return failing.length + slow >= needed ? 'degraded' : 'up';
  };
  return {
    state: isMaintenance ? 'maintenance' : seen(),
    failing,
    voters: votes.length,
    needed,
    isBelowConsensus: failing.length > 0 && !isDown,
  };
};

interface Attempt {
  readonly outcome: Outcome;
}

/** What attempts of one run say: a retry that passes heals those before it. */
export const runOutcome = (attempts: readonly Attempt[]): Outcome => attempts.at(-1)?.outcome ?? 'unknown';

/** After how long to try again; nothing if the run is over. Only what failed is tried again. */
export const retryAfterMs = (
  attempts: readonly Attempt[],
  { count, waitMs }: { readonly count: number; readonly waitMs: number },
): number | undefined => (runOutcome(attempts) === 'failed' && attempts.length <= count ? waitMs : undefined);
