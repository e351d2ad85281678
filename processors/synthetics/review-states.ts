/** Works out the states of a check again after its results were read late. */
import { FairQueue } from '../../queries/limits/fair-queue.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import { parseDurationMs } from '../../subjects/alerts/durations.ts';
import { getVotingLocations } from '../../subjects/synthetics/check.ts';
import {
  findCorrections,
  findMissedOutage,
  type LocatedChange,
  mergeChanges,
  reconstructChanges,
  statesAt,
} from '../../subjects/synthetics/late-results.ts';
import { findJudgedTime, type KnownStates, type ReadResults } from '../../subjects/synthetics/location-votes.ts';
import type { IdentifiedCheck } from '../../subjects/synthetics/read-checks.ts';
import { maxSilentIntervals } from '../../subjects/synthetics/state.ts';
import { type CheckResult, readResults, readStates } from '../../subjects/synthetics/stored-results.ts';
import type { TimePeriod } from '../../subjects/synthetics/uptime.ts';
import { openTenantReader } from '../engine/open-tenant-reader.ts';
import type { SchedulePorts } from '../engine/schedule.ts';

/** After an outage of the platform, all checks are reviewed at once. */
const slots = new FairQueue({ slots: 8, maxSlotsPerTenant: 6, maxWaitingPerTenant: Number.POSITIVE_INFINITY });

interface ReviewPeriod {
  readonly fromMs: number;
  readonly nowMs: number;
}

interface ReviewInput {
  readonly latest: readonly CheckResult[];
  readonly read: ReadResults;
  /** States of the previous evaluation */
  readonly states: KnownStates;
  /** Changes that may not be stored yet */
  readonly recent: readonly LocatedChange[];
  readonly suspects: ReadonlySet<string>;
}

interface Review {
  readonly states: KnownStates;
  /** Corrections of stored changes */
  readonly changes: readonly LocatedChange[];
  readonly outage: TimePeriod | undefined;
}

/** Works out the states of a check again from a time to now, by the results available now. */
const reviewFrom = async (
  check: IdentifiedCheck,
  { fromMs, nowMs }: ReviewPeriod,
  { latest, read, states, recent, suspects, reader }: ReviewInput & { readonly reader: QueryReader },
): Promise<Review> => {
  const voteMs = maxSilentIntervals * parseDurationMs(check.every);
  const [stored, results] = await Promise.all([
    readStates(reader, check.id, { fromMs, toMs: nowMs + 1 }),
    readResults(reader, { checkId: check.id, fromMs: fromMs - voteMs, toMs: nowMs }),
  ]);
  const landed = [...stored].flatMap(([location, own]) => own.map((change) => ({ location, ...change })));
  const current = Object.entries(states).map(([location, change]) => ({ location, ...change }));
  const before = mergeChanges(landed, recent, current);
  // The latest results may be read before the runs.
  const runs = [
    ...new Map(
      [...results, ...latest].map((checkResult) => [`${checkResult.startedAtMs} ${checkResult.location}`, checkResult]),
    ).values(),
  ];
  const period = { fromMs, toMs: nowMs, before: statesAt(before, fromMs) };
  const { changes } = reconstructChanges(check, period, {
    runs: runs.toSorted((left, right) => left.startedAtMs - right.startedAtMs),
    suspects,
  });
  // What is not read yet is not silence.
  const known = changes.filter(({ location, atMs }) => {
    const locations = location === '' ? getVotingLocations(check).filter((value) => !suspects.has(value)) : [location];
    return (
      atMs <=
      findJudgedTime(
        latest.filter((checkResult) => locations.includes(checkResult.location)),
        { voteMs, read, nowMs },
      )
    );
  });
  return {
    states: { ...period.before, ...statesAt(known, nowMs) },
    changes: findCorrections(before, period, known),
    outage: findMissedOutage(
      before,
      mergeChanges(
        before.filter(({ atMs }) => atMs <= fromMs),
        known,
      ),
      period,
    ),
  };
};

/** Reviews the states of a check, when few others are reviewed; undefined if its organization is disabled. */
export const reviewStates = async (
  {
    check,
    tenantId,
    ports,
    signal,
  }: {
    readonly check: IdentifiedCheck;
    readonly tenantId: string;
    readonly ports: SchedulePorts;
    readonly signal: AbortSignal;
  },
  period: ReviewPeriod,
  input: ReviewInput,
): Promise<Review | undefined> => {
  const reader = await openTenantReader(ports, tenantId, period.nowMs);
  if (reader === undefined) return undefined;
  const releaseSlot = await slots.acquire(tenantId, signal);
  try {
    return await reviewFrom(check, period, { ...input, reader });
  } finally {
    releaseSlot();
  }
};
