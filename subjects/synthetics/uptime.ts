/**
 * Uptime of a check or one of its locations, computed exactly from state intervals, so that months add up to the year
 */
import type { CheckState } from './state.ts';

/** A state from its start to the start of the next one */
export interface StateChange {
  readonly atMs: number;
  readonly state: Exclude<CheckState, 'maintenance'>;
}

export interface TimeSpan {
  readonly fromMs: number;
  /** Exclusive end */
  readonly toMs: number;
}

interface Uptime extends TimeSpan {
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

const overlapMs = (one: TimeSpan, other: TimeSpan): number =>
  Math.max(0, Math.min(one.toMs, other.toMs) - Math.max(one.fromMs, other.fromMs));

/** Returns spans in order, with adjacent ones merged. */
const mergeSpans = (spans: readonly TimeSpan[]): readonly TimeSpan[] => {
  const joined: { fromMs: number; toMs: number }[] = [];
  for (const { fromMs, toMs } of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1);
    if (last !== undefined && fromMs <= last.toMs) last.toMs = Math.max(last.toMs, toMs);
    else joined.push({ fromMs, toMs });
  }
  return joined;
};

const uptimeShare = (upMs: number, downMs: number): number | null =>
  upMs + downMs === 0 ? null : upMs / (upMs + downMs);

/**
 * Returns the uptime of a period. Changes must be in time order; the time before the first is unknown. Degraded counts
 * as up.
 */
export const computeUptime = (
  changes: readonly StateChange[],
  downtimes: readonly TimeSpan[],
  period: TimeSpan,
): Uptime => {
  const excluded = mergeSpans(downtimes);
  const whole = { up: 0, down: 0, unknown: 0 };
  const counted = { up: 0, down: 0, unknown: 0 };
  const first = { atMs: Number.NEGATIVE_INFINITY, state: 'unknown' } as const;
  for (const [index, { atMs, state }] of [first, ...changes].entries()) {
    const toMs = Math.min(changes[index]?.atMs ?? period.toMs, period.toMs);
    const span = { fromMs: Math.max(atMs, period.fromMs), toMs };
    if (span.toMs <= span.fromMs) continue;
    const key = state === 'degraded' ? 'up' : state;
    const lengthMs = span.toMs - span.fromMs;
    whole[key] += lengthMs;
    counted[key] += lengthMs - excluded.reduce((sum, one) => sum + overlapMs(one, span), 0);
  }
  return {
    ...period,
    upMs: counted.up,
    downMs: counted.down,
    unknownMs: counted.unknown,
    excludedMs: excluded.reduce((sum, one) => sum + overlapMs(one, period), 0),
    uptime: uptimeShare(counted.up, counted.down),
    uptimeWithoutExclusions: uptimeShare(whole.up, whole.down),
  };
};
