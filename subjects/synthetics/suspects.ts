/** Locations without a vote, with the reason, for all checks of an organization */
import { parseDurationMs } from '../alerts/durations.ts';
import { findSuspects } from './judged.ts';
import type { KnownCheck } from './known.ts';
import { findSuspicion } from './state.ts';
import type { CheckResult } from './stored-results.ts';

/** Minimum interval; contact of probes is recorded periodically, so shorter silence is not significant */
const minIntervalMs = 20_000;

interface SuspectInput {
  readonly checks: readonly Pick<KnownCheck, 'enabled' | 'every' | 'locations'>[];
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
  const differing = findSuspects(latest);
  // A result is contact too, also while the contact itself is stored late.
  const lastResultMs = (location: string): number =>
    Math.max(0, ...latest.flatMap((one) => (one.location === location ? [one.startedAtMs] : [])));
  const every = new Map<string, number>();
  for (const { enabled, every: text, locations } of checks)
    if (enabled)
      for (const location of locations)
        every.set(location, Math.min(every.get(location) ?? Number.POSITIVE_INFINITY, parseDurationMs(text)));
  return new Map(
    [...every].flatMap(([location, ms]): [string, 'silent' | 'differs'][] => {
      const lastSeenAtMs = Math.max(lastSeenMs.get(location) ?? 0, lastResultMs(location), sinceMs(location));
      const record = { lastSeenAtMs, comparedRuns: 0, loneFailures: 0 };
      const silent = findSuspicion(record, { everyMs: Math.max(ms, minIntervalMs), nowMs });
      if (silent !== undefined) return [[location, silent]];
      return differing.has(location) ? [[location, 'differs']] : [];
    }),
  );
};
