/** Finds locations that lose their vote in all checks of an organization, and the reason */
import { parseDurationMs } from '../alerts/durations.ts';
import { findSuspects } from './location-votes.ts';
import type { IdentifiedCheck } from './read-checks.ts';
import { findSuspicion } from './state.ts';
import type { CheckResult } from './stored-results.ts';

/** Minimum interval; the contact of probes is recorded periodically, so a shorter silence is not significant */
const minIntervalMs = 20_000;

interface SuspectInput {
  readonly checks: readonly Pick<IdentifiedCheck, 'enabled' | 'every' | 'locations'>[];
  readonly latest: readonly CheckResult[];
  /** Last contact of the probes of each location; locations without any contact are omitted */
  readonly lastSeenAtMs: ReadonlyMap<string, number>;
  /** Time from which a location can have contact */
  readonly sinceMs: (location: string) => number;
  readonly nowMs: number;
}

/** Returns suspect locations of enabled checks. */
export const findSuspectLocations = ({
  checks,
  latest,
  lastSeenAtMs: lastSeenMs,
  sinceMs,
  nowMs,
}: SuspectInput): ReadonlyMap<string, 'silent' | 'differs'> => {
  const differingLocations = findSuspects(latest);
  // A result is contact too, also while the contact itself is stored late.
  const lastResultMs = (location: string): number =>
    Math.max(
      0,
      ...latest.flatMap((checkResult) => (checkResult.location === location ? [checkResult.startedAtMs] : [])),
    );
  const intervalByLocation = new Map<string, number>();
  for (const { enabled, every: text, locations } of checks)
    if (enabled)
      for (const location of locations)
        intervalByLocation.set(
          location,
          Math.min(intervalByLocation.get(location) ?? Number.POSITIVE_INFINITY, parseDurationMs(text)),
        );
  return new Map(
    [...intervalByLocation].flatMap(([location, intervalMs]): [string, 'silent' | 'differs'][] => {
      const lastSeenAtMs = Math.max(lastSeenMs.get(location) ?? 0, lastResultMs(location), sinceMs(location));
      const record = { lastSeenAtMs, comparedRuns: 0, loneFailures: 0 };
      const suspicion = findSuspicion(record, { everyMs: Math.max(intervalMs, minIntervalMs), nowMs });
      if (suspicion !== undefined) return [[location, suspicion]];
      return differingLocations.has(location) ? [[location, 'differs']] : [];
    }),
  );
};
