/** Locations that have no vote, and why, of all checks of an organization. */
import { msOf } from '../alerts/durations.ts';
import { suspectsOf } from './judged.ts';
import type { KnownCheck } from './known.ts';
import { suspicionOf } from './state.ts';
import type { Latest } from './stored-results.ts';

/** Probes are noted now and then: what is shorter says nothing. */
const minIntervalMs = 20_000;

interface Given {
  readonly checks: readonly Pick<KnownCheck, 'enabled' | 'every' | 'locations'>[];
  readonly latest: readonly Latest[];
  /** When probes of each location were heard from last; those that never were are absent. */
  readonly lastSeenAtMs: ReadonlyMap<string, number>;
  /** From when on a location may be heard from. */
  readonly sinceMs: (location: string) => number;
  readonly nowMs: number;
}

/** Locations that enabled checks run from and that are suspect. */
export const suspectLocations = ({
  checks,
  latest,
  lastSeenAtMs: lastSeenMs,
  sinceMs,
  nowMs,
}: Given): ReadonlyMap<string, 'silent' | 'differs'> => {
  const differing = suspectsOf(latest);
  const every = new Map<string, number>();
  for (const { enabled, every: text, locations } of checks)
    if (enabled)
      for (const location of locations)
        every.set(location, Math.min(every.get(location) ?? Number.POSITIVE_INFINITY, msOf(text)));
  return new Map(
    [...every].flatMap(([location, ms]): [string, 'silent' | 'differs'][] => {
      const lastSeenAtMs = Math.max(lastSeenMs.get(location) ?? 0, sinceMs(location));
      const record = { heardAtMs: lastSeenAtMs, compared: 0, failedAlone: 0 };
      const silent = suspicionOf(record, { everyMs: Math.max(ms, minIntervalMs), nowMs });
      if (silent !== undefined) return [[location, silent]];
      return differing.has(location) ? [[location, 'differs']] : [];
    }),
  );
};
