/** Uptime of a check, or of one of its locations, from intervals of its state: exact, so that months add up to the year. */
import type { CheckState } from './state.ts';

/** A state from its begin to the begin of the next. */
export interface StateChange {
  readonly atMs: number;
  readonly state: Exclude<CheckState, 'maintenance'>;
}

export interface Span {
  readonly fromMs: number;
  /** Not part of it. */
  readonly toMs: number;
}

interface Uptime extends Span {
  readonly upMs: number;
  readonly downMs: number;
  readonly unknownMs: number;
  /** Planned downtime: in none of the others. */
  readonly excludedMs: number;
  /** up / (up + down); nothing where neither is known. */
  readonly uptime: number | null;
  /** The same as if nothing were excluded. */
  readonly uptimeWithoutExclusions: number | null;
}

const overlapMs = (one: Span, other: Span): number =>
  Math.max(0, Math.min(one.toMs, other.toMs) - Math.max(one.fromMs, other.fromMs));

/** Spans in order, those that touch as one. */
const united = (spans: readonly Span[]): readonly Span[] => {
  const joined: { fromMs: number; toMs: number }[] = [];
  for (const { fromMs, toMs } of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1);
    if (last !== undefined && fromMs <= last.toMs) last.toMs = Math.max(last.toMs, toMs);
    else joined.push({ fromMs, toMs });
  }
  return joined;
};

const share = (upMs: number, downMs: number): number | null => (upMs + downMs === 0 ? null : upMs / (upMs + downMs));

/** Uptime of a period. Changes are in order of time; what lies before the first is unknown. Degraded is up. */
export const uptimeOf = (changes: readonly StateChange[], downtimes: readonly Span[], period: Span): Uptime => {
  const excluded = united(downtimes);
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
    uptime: share(counted.up, counted.down),
    uptimeWithoutExclusions: share(whole.up, whole.down),
  };
};
