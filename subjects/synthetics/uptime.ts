/**
 * Uptime of a check or one of its locations, computed exactly from state changes. The months therefore add up to the
 * year
 */
import type { CheckState } from './state.ts';

/** A state from its start to the start of the next one */
export interface StateChange {
  readonly atMs: number;
  readonly state: Exclude<CheckState, 'maintenance'>;
}

export interface TimePeriod {
  readonly fromMs: number;
  /** Exclusive end */
  readonly toMs: number;
}

interface Uptime extends TimePeriod {
  readonly upMs: number;
  readonly downMs: number;
  readonly unknownMs: number;
  /** Planned downtime, which is not included in the other fields */
  readonly excludedMs: number;
  /** up / (up + down); `null` if neither is known */
  readonly uptime: number | null;
  /** The same without exclusions */
  readonly uptimeWithoutExclusions: number | null;
}

const computeOverlapMs = (left: TimePeriod, right: TimePeriod): number =>
  Math.max(0, Math.min(left.toMs, right.toMs) - Math.max(left.fromMs, right.fromMs));

/** Returns periods in order, with adjacent and overlapping ones merged. */
const mergePeriods = (periods: readonly TimePeriod[]): readonly TimePeriod[] => {
  const mergedPeriods: { fromMs: number; toMs: number }[] = [];
  for (const { fromMs, toMs } of periods.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = mergedPeriods.at(-1);
    if (last !== undefined && fromMs <= last.toMs) last.toMs = Math.max(last.toMs, toMs);
    else mergedPeriods.push({ fromMs, toMs });
  }
  return mergedPeriods;
};

const computeUptimeShare = (upMs: number, downMs: number): number | null =>
  upMs + downMs === 0 ? null : upMs / (upMs + downMs);

/**
 * Returns the uptime of a period. Changes must be in time order; the time before the first is unknown. Degraded counts
 * as up.
 */
export const computeUptime = (
  changes: readonly StateChange[],
  downtimes: readonly TimePeriod[],
  period: TimePeriod,
): Uptime => {
  const excluded = mergePeriods(downtimes);
  const totals = { up: 0, down: 0, unknown: 0 };
  const withoutDowntime = { up: 0, down: 0, unknown: 0 };
  const first = { atMs: Number.NEGATIVE_INFINITY, state: 'unknown' } as const;
  for (const [index, { atMs, state }] of [first, ...changes].entries()) {
    const toMs = Math.min(changes[index]?.atMs ?? period.toMs, period.toMs);
    const statePeriod = { fromMs: Math.max(atMs, period.fromMs), toMs };
    if (statePeriod.toMs <= statePeriod.fromMs) continue;
    const key = state === 'degraded' ? 'up' : state;
    const lengthMs = statePeriod.toMs - statePeriod.fromMs;
    totals[key] += lengthMs;
    withoutDowntime[key] +=
      lengthMs - excluded.reduce((sum, timePeriod) => sum + computeOverlapMs(timePeriod, statePeriod), 0);
  }
  return {
    ...period,
    upMs: withoutDowntime.up,
    downMs: withoutDowntime.down,
    unknownMs: withoutDowntime.unknown,
    excludedMs: excluded.reduce((sum, timePeriod) => sum + computeOverlapMs(timePeriod, period), 0),
    uptime: computeUptimeShare(withoutDowntime.up, withoutDowntime.down),
    uptimeWithoutExclusions: computeUptimeShare(totals.up, totals.down),
  };
};
