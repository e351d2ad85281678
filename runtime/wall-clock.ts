/** What the clock on the wall of a time zone shows, and when it shows it, over changes of the clocks. */
import { Temporal } from 'temporal-polyfill';

const dayMs = 86_400_000;
const yearMs = 365.25 * dayMs;

/**
 * A time zone. A wall time is a number: the milliseconds of that date and time as if they were UTC,
 * so that `new Date(wallMs)` shows year, month, day and hour by its UTC getters.
 */
export interface WallClock {
  /** What the clock shows at an instant. */
  wallAt(atMs: number): number;
  /**
   * When the clock shows that time, as RFC 5545 (3.3.5) reads it: a time that comes twice is the first,
   * one that is left out takes the offset before the change.
   */
  instantOf(wallMs: number): number;
  /** Every instant at which the clock shows that time: none, one or two. */
  instantsOf(wallMs: number): readonly number[];
  /** Changes of the offset from `fromMs` (not itself) up to `toMs`. */
  changes(fromMs: number, toMs: number): readonly number[];
}

interface Span {
  readonly fromMs: number;
  readonly offsetMs: number;
}

/** The offsets of one year, the first from its begin. */
const spansOf = (timeZone: string, year: number): readonly Span[] => {
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
  readonly #years = new Map<number, readonly Span[]>();

  constructor(timeZone: string) {
    this.#timeZone = timeZone;
  }

  #spans(year: number): readonly Span[] {
    const known = this.#years.get(year);
    if (known !== undefined) return known;
    const made = spansOf(this.#timeZone, year);
    this.#years.set(year, made);
    return made;
  }

  #offsetAt(atMs: number): number {
    const spans = this.#spans(Math.floor(atMs / yearMs));
    let offsetMs = 0;
    for (const span of spans) {
      if (span.fromMs > atMs) break;
      offsetMs = span.offsetMs;
    }
    return offsetMs;
  }

  /** Offsets a day before and a day after: no offset is as large as a day, so a change lies between them. */
  #around(wallMs: number): readonly [before: number, after: number] {
    return [wallMs - this.#offsetAt(wallMs - dayMs), wallMs - this.#offsetAt(wallMs + dayMs)];
  }

  wallAt(atMs: number): number {
    return atMs + this.#offsetAt(atMs);
  }

  instantOf(wallMs: number): number {
    const [before, after] = this.#around(wallMs);
    return this.wallAt(before) !== wallMs && this.wallAt(after) === wallMs ? after : before;
  }

  instantsOf(wallMs: number): readonly number[] {
    const [before, after] = this.#around(wallMs);
    const both = before === after ? [before] : [Math.min(before, after), Math.max(before, after)];
    return both.filter((atMs) => this.wallAt(atMs) === wallMs);
  }

  changes(fromMs: number, toMs: number): readonly number[] {
    const found: number[] = [];
    for (let year = Math.floor(fromMs / yearMs); year <= Math.floor(toMs / yearMs); year += 1) {
      for (const span of this.#spans(year).slice(1)) {
        if (span.fromMs > fromMs && span.fromMs <= toMs) found.push(span.fromMs);
      }
    }
    return found;
  }
}

const zones = new Map<string, WallClock>();

/** The clock of an IANA time zone. Its offsets are kept, a year at a time. */
export const wallClockOf = (timeZone: string): WallClock => {
  const known = zones.get(timeZone);
  if (known !== undefined) return known;
  const made = new Zone(timeZone);
  zones.set(timeZone, made);
  return made;
};

const wallText = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d))?$/;

/** `2026-03-23T09:00` as a wall time; `undefined` for a text that is none. */
export const wallTimeOf = (text: string): number | undefined => {
  const match = wallText.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  const wallMs = Date.UTC(year, month - 1, day, hour, minute, second);
  // Date.UTC carries over what is too large: 30 February would be 2 March.
  return new Date(wallMs).toISOString().startsWith(text) ? wallMs : undefined;
};

/** That many months later at the same time of the day; a month without that day gives its last. */
export const monthsLater = (wallMs: number, months: number): number => {
  const from = new Date(wallMs);
  const first = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1);
  const day = new Date(first);
  const days = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate();
  return first + (Math.min(from.getUTCDate(), days) - 1) * dayMs + (wallMs - Math.floor(wallMs / dayMs) * dayMs);
};
