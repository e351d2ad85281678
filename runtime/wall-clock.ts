/** Conversion between instants and wall-clock time of a time zone, including offset changes. */
import { Temporal } from 'temporal-polyfill';

const dayMs = 86_400_000;
const yearMs = 365.25 * dayMs;

/**
 * A time zone. A wall time is a number: the milliseconds of that date and time as if they were UTC. The UTC getters of
 * `new Date(wallMs)` return its year, month, day and hour.
 */
export interface WallClock {
  /** Returns the wall time of an instant. */
  wallAt(atMs: number): number;
  /**
   * Returns the instant of a wall time, as RFC 5545 (3.3.5) specifies: an ambiguous time is its first occurrence, and a
   * skipped time uses the offset before the change.
   */
  instantOf(wallMs: number): number;
  /** Returns every instant with that wall time: zero, one or two. */
  instantsOf(wallMs: number): readonly number[];
  /** Returns the offset changes after `fromMs`, up to and including `toMs`. */
  changes(fromMs: number, toMs: number): readonly number[];
}

interface OffsetPeriod {
  readonly fromMs: number;
  readonly offsetMs: number;
}

/** Returns the offsets of one year, the first from its beginning. */
const listOffsetPeriods = (timeZone: string, year: number): readonly OffsetPeriod[] => {
  const fromMs = Math.floor(year * yearMs);
  const endMs = Math.floor((year + 1) * yearMs);
  let at: Temporal.ZonedDateTime | null = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timeZone);
  const spans = [{ fromMs, offsetMs: at.offsetNanoseconds / 1e6 }];
  for (;;) {
    at = at.getTimeZoneTransition('next');
    if (at === null || at.epochMilliseconds >= endMs) return spans;
    spans.push({ fromMs: at.epochMilliseconds, offsetMs: at.offsetNanoseconds / 1e6 });
  }
};

class Zone implements WallClock {
  readonly #timeZone: string;
  readonly #years = new Map<number, readonly OffsetPeriod[]>();

  constructor(timeZone: string) {
    this.#timeZone = timeZone;
  }

  #getOffsetPeriods(year: number): readonly OffsetPeriod[] {
    const known = this.#years.get(year);
    if (known !== undefined) return known;
    const periods = listOffsetPeriods(this.#timeZone, year);
    this.#years.set(year, periods);
    return periods;
  }

  #offsetAt(atMs: number): number {
    const spans = this.#getOffsetPeriods(Math.floor(atMs / yearMs));
    let offsetMs = 0;
    for (const span of spans) {
      if (span.fromMs > atMs) break;
      offsetMs = span.offsetMs;
    }
    return offsetMs;
  }

  /**
   * Returns the instants of a wall time with the offsets of a day before and a day after. No offset reaches a day, so
   * any offset change that affects the wall time is between them.
   */
  #candidateInstants(wallMs: number): readonly [before: number, after: number] {
    return [wallMs - this.#offsetAt(wallMs - dayMs), wallMs - this.#offsetAt(wallMs + dayMs)];
  }

  wallAt(atMs: number): number {
    return atMs + this.#offsetAt(atMs);
  }

  instantOf(wallMs: number): number {
    const [before, after] = this.#candidateInstants(wallMs);
    return this.wallAt(before) !== wallMs && this.wallAt(after) === wallMs ? after : before;
  }

  instantsOf(wallMs: number): readonly number[] {
    const [before, after] = this.#candidateInstants(wallMs);
    const candidates = before === after ? [before] : [Math.min(before, after), Math.max(before, after)];
    return candidates.filter((atMs) => this.wallAt(atMs) === wallMs);
  }

  changes(fromMs: number, toMs: number): readonly number[] {
    const found: number[] = [];
    for (let year = Math.floor(fromMs / yearMs); year <= Math.floor(toMs / yearMs); year += 1) {
      for (const span of this.#getOffsetPeriods(year).slice(1)) {
        if (span.fromMs > fromMs && span.fromMs <= toMs) found.push(span.fromMs);
      }
    }
    return found;
  }
}

const zones = new Map<string, WallClock>();

/** Returns the clock of an IANA time zone. Its offsets are cached by year. */
export const getWallClock = (timeZone: string): WallClock => {
  const known = zones.get(timeZone);
  if (known !== undefined) return known;
  const zone = new Zone(timeZone);
  zones.set(timeZone, zone);
  return zone;
};

const wallText = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d))?$/;

/** Parses `2026-03-23T09:00` as a wall time; `undefined` for an invalid text. */
export const parseWallTime = (text: string): number | undefined => {
  const match = wallText.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  const wallMs = Date.UTC(year, month - 1, day, hour, minute, second);
  // Date.UTC normalizes overflow: 30 February would become 2 March.
  return new Date(wallMs).toISOString().startsWith(text) ? wallMs : undefined;
};

/** Adds months at the same time of the day. A month without that day gives its last day. */
export const addMonths = (wallMs: number, months: number): number => {
  const from = new Date(wallMs);
  const first = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1);
  const day = new Date(first);
  const daysInMonth = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate();
  return first + (Math.min(from.getUTCDate(), daysInMonth) - 1) * dayMs + (wallMs - Math.floor(wallMs / dayMs) * dayMs);
};
