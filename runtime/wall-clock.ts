/** Conversion between instants and wall-clock time of a time zone, including offset changes. */
import { Temporal } from 'temporal-polyfill';
import { findInstant, getCandidateInstants, type ZoneClock } from './calendar.ts';

const dayMs = 86_400_000;
const yearMs = 365.25 * dayMs;

/** A time zone with its offset changes. */
export interface WallClock extends ZoneClock {
  /** Returns every instant with that wall time: zero, one or two. */
  getInstants(wallMs: number): readonly number[];
  /** Returns the offset changes after `fromMs`, up to and including `toMs`. */
  listOffsetChanges(fromMs: number, toMs: number): readonly number[];
}

interface OffsetPeriod {
  readonly fromMs: number;
  readonly offsetMs: number;
}

/** Returns the offsets of one year, the first from its beginning. */
const listOffsetPeriods = (timeZone: string, year: number): readonly OffsetPeriod[] => {
  const fromMs = Math.floor(year * yearMs);
  const endMs = Math.floor((year + 1) * yearMs);
  let zonedDateTime: Temporal.ZonedDateTime | null =
    Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timeZone);
  const periods = [{ fromMs, offsetMs: zonedDateTime.offsetNanoseconds / 1e6 }];
  for (;;) {
    zonedDateTime = zonedDateTime.getTimeZoneTransition('next');
    if (zonedDateTime === null || zonedDateTime.epochMilliseconds >= endMs) return periods;
    periods.push({ fromMs: zonedDateTime.epochMilliseconds, offsetMs: zonedDateTime.offsetNanoseconds / 1e6 });
  }
};

class ZoneWallClock implements WallClock {
  readonly #timeZone: string;
  readonly #years = new Map<number, readonly OffsetPeriod[]>();

  constructor(timeZone: string) {
    this.#timeZone = timeZone;
  }

  #getOffsetPeriods(year: number): readonly OffsetPeriod[] {
    const cachedPeriods = this.#years.get(year);
    if (cachedPeriods !== undefined) return cachedPeriods;
    const periods = listOffsetPeriods(this.#timeZone, year);
    this.#years.set(year, periods);
    return periods;
  }

  #getOffset(atMs: number): number {
    const periods = this.#getOffsetPeriods(Math.floor(atMs / yearMs));
    let offsetMs = 0;
    for (const span of periods) {
      if (span.fromMs > atMs) break;
      offsetMs = span.offsetMs;
    }
    return offsetMs;
  }

  getWallTime(atMs: number): number {
    return atMs + this.#getOffset(atMs);
  }

  getInstant(wallMs: number): number {
    return findInstant(wallMs, (atMs) => this.#getOffset(atMs));
  }

  getInstants(wallMs: number): readonly number[] {
    const [before, after] = getCandidateInstants(wallMs, (atMs) => this.#getOffset(atMs));
    const candidates = before === after ? [before] : [Math.min(before, after), Math.max(before, after)];
    return candidates.filter((atMs) => this.getWallTime(atMs) === wallMs);
  }

  listOffsetChanges(fromMs: number, toMs: number): readonly number[] {
    const changeTimes: number[] = [];
    for (let year = Math.floor(fromMs / yearMs); year <= Math.floor(toMs / yearMs); year += 1) {
      for (const span of this.#getOffsetPeriods(year).slice(1)) {
        if (span.fromMs > fromMs && span.fromMs <= toMs) changeTimes.push(span.fromMs);
      }
    }
    return changeTimes;
  }
}

const zones = new Map<string, WallClock>();

/** Returns the clock of an IANA time zone. Its offsets are cached by year. */
export const getWallClock = (timeZone: string): WallClock => {
  const cachedZone = zones.get(timeZone);
  if (cachedZone !== undefined) return cachedZone;
  const zone = new ZoneWallClock(timeZone);
  zones.set(timeZone, zone);
  return zone;
};

const wallTimePattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d))?$/;

/** Parses `2026-03-23T09:00` as a wall time; `undefined` for an invalid text. */
export const parseWallTime = (text: string): number | undefined => {
  const match = wallTimePattern.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  const wallMs = Date.UTC(year, month - 1, day, hour, minute, second);
  // Date.UTC normalizes overflow: 30 February would become 2 March.
  return new Date(wallMs).toISOString().startsWith(text) ? wallMs : undefined;
};
