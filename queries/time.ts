/**
 * Parses and formats the times of requests, in nanoseconds since the epoch. The web page imports this module too, so it
 * contains no zod schemas.
 */
import {
  addMonths,
  floorToUnit,
  getMonthsPerUnit,
  getNextUnit,
  utcClock,
  type ZoneClock,
} from '../runtime/calendar.ts';

const unitNanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  w: 604_800_000_000_000n,
};

/** Range of a nanosecond timestamp column. */
const earliestNs = -2_208_988_800_000_000_000n;
const latestNs = 9_223_372_036_854_775_807n;
/** Latest time of a record: sorting keys round times to a type that ends in 2106. */
export const latestRecordNs = 4_294_967_295_999_999_999n;

/** A step of an expression that begins with `now`: an offset, or the start or end of a unit. */
const relativeStepPattern = /([+-])(\d{1,12})(ms|[smhdwMQy])|\/([smhdwMQy])/y;
const maxRelativeSteps = 8;
const isoPattern =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+ -])(\d{2}):?(\d{2}))?)?$/;

export interface TimeOptions {
  /** Whether `/d` is the start of the day, or its last nanosecond; default: the start. */
  readonly edge?: 'start' | 'end' | undefined;
  /** Time zone of days, weeks, months, quarters and years; default: UTC. */
  readonly clock?: ZoneClock | undefined;
}

/**
 * Parses ISO 8601 (UTC without a zone), epoch milliseconds, or an expression as in Grafana: `now`, `now-15m`, `now/d`,
 * `now-1M/M`. A minute to a week has a fixed length there, `M`, `Q` and `y` are those of the calendar, and weeks begin on
 * Monday. `undefined` for any other text.
 */
export const parseTime = (text: string, nowMs: number, options: TimeOptions = {}): bigint | undefined => {
  const nanoseconds = /^-?\d{1,17}$/.test(text)
    ? BigInt(text) * 1_000_000n
    : (parseRelative(text, nowMs, options) ?? parseIso(text));
  if (nanoseconds === undefined || nanoseconds < earliestNs || nanoseconds > latestNs) return undefined;
  return nanoseconds;
};

const parseRelative = (text: string, nowMs: number, { edge, clock = utcClock }: TimeOptions): bigint | undefined => {
  if (!text.startsWith('now')) return undefined;
  let timeNs = BigInt(Math.trunc(nowMs)) * 1_000_000n;
  let position = 'now'.length;
  for (let step = 0; position < text.length; step++) {
    relativeStepPattern.lastIndex = position;
    const match = relativeStepPattern.exec(text);
    if (match === null || step === maxRelativeSteps) return undefined;
    position = relativeStepPattern.lastIndex;
    const [, sign, amount = '0', unit = '', roundUnit] = match;
    const shifted =
      roundUnit === undefined
        ? addUnits(timeNs, BigInt(sign === '-' ? `-${amount}` : amount), unit, clock)
        : roundToUnit(timeNs, roundUnit, clock, edge);
    if (shifted === undefined) return undefined;
    timeNs = shifted;
  }
  return timeNs;
};

/** Range of a JavaScript date. */
const maxDateMs = 8_640_000_000_000_000;

/** Returns a time in the wall time of a clock, changed; undefined outside of the range of dates. */
const changeWallTime = (timeNs: bigint, clock: ZoneClock, change: (wallMs: number) => number): bigint | undefined => {
  const atMs = Number(timeNs / 1_000_000n);
  if (Math.abs(atMs) > maxDateMs / 2) return undefined;
  const changedMs = change(clock.getWallTime(atMs));
  return Number.isFinite(changedMs) && Math.abs(changedMs) <= maxDateMs / 2
    ? BigInt(clock.getInstant(changedMs)) * 1_000_000n
    : undefined;
};

const addUnits = (timeNs: bigint, amount: bigint, unit: string, clock: ZoneClock): bigint | undefined => {
  const months = getMonthsPerUnit(unit);
  if (months === undefined) return timeNs + amount * (unitNanoseconds[unit] ?? 0n);
  return changeWallTime(timeNs, clock, (wallMs) => addMonths(wallMs, Number(amount) * months));
};

const roundToUnit = (timeNs: bigint, unit: string, clock: ZoneClock, edge: TimeOptions['edge']): bigint | undefined => {
  if (edge !== 'end') return changeWallTime(timeNs, clock, (wallMs) => floorToUnit(wallMs, unit));
  const nextStartNs = changeWallTime(timeNs, clock, (wallMs) => getNextUnit(wallMs, unit));
  return nextStartNs === undefined ? undefined : nextStartNs - 1n;
};

const parseIso = (text: string): bigint | undefined => {
  const match = isoPattern.exec(text);
  if (match === null) return undefined;
  // An unescaped plus sign of a zone is received as a space.
  const [, date, minutes = '00:00', seconds = '00', fraction = '', , sign, zoneHours = '00', zoneMinutes = '00'] =
    match;
  const ms = Date.parse(`${date}T${minutes}:${seconds}Z`);
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== date) return undefined;
  if (Number(zoneHours) > 23 || Number(zoneMinutes) > 59) return undefined;
  const zoneOffsetMinutes = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1);
  return BigInt(ms - zoneOffsetMinutes * 60_000) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
};

/** Parses `90s`, `5m`, `2h`, `30d`, `250ms` … to nanoseconds; `undefined` for any other text. */
export const parseDuration = (text: string): bigint | undefined => {
  const match = /^(\d{1,15})(?:\.(\d{1,9}))?(ns|us|ms|s|m|h|d|w)$/.exec(text);
  if (match === null) return undefined;
  const [, integerDigits = '0', fraction = '', unit = 's'] = match;
  const size = unitNanoseconds[unit] ?? 0n;
  const nanoseconds = BigInt(integerDigits) * size + (BigInt(fraction.padEnd(9, '0')) * size) / 1_000_000_000n;
  return nanoseconds > latestNs ? undefined : nanoseconds;
};

/** Cache of ISO 8601 texts of seconds with a trailing point. Times that are formatted one after another mostly fall within a minute. */
const secondTexts: { readonly second: number; readonly text: string }[] = [];
const formatSecond = (second: number): string => {
  const slot = second & 63;
  const cached = secondTexts[slot];
  if (cached?.second === second) return cached.text;
  const text = new Date(second * 1_000).toISOString().slice(0, -4);
  secondTexts[slot] = { second, text };
  return text;
};

/** Formats ISO 8601 UTC with 9 fractional digits. */
export const formatTime = (nanoseconds: bigint): string => {
  const ms = nanoseconds / 1_000_000n;
  const second = Math.floor(Number(ms) / 1_000);
  // For times before the epoch, both parts are negative.
  const nanosecondsOfSecond = (Number(ms) - second * 1_000) * 1_000_000 + Number(nanoseconds % 1_000_000n);
  return nanosecondsOfSecond < 0
    ? `${formatSecond(second - 1)}${String(nanosecondsOfSecond + 1_000_000_000)}Z`
    : `${formatSecond(second)}${String(nanosecondsOfSecond).padStart(9, '0')}Z`;
};

/** Returns 64-bit nanoseconds as a number if that is exact, otherwise as text. */
export const toExactNumberOrText = (text: string): number | string => {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
};
