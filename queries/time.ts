/**
 * Parses and formats the times of requests, in nanoseconds since the epoch. The web page imports this module too, so it
 * contains no zod schemas.
 */

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

const relativePattern = /^now(?:([+-])(\d{1,12})(s|m|h|d|w|ms))?$/;
const isoPattern =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+ -])(\d{2}):?(\d{2}))?)?$/;

/** Parses ISO 8601 (UTC without a zone), `now`, `now-15m`, or epoch milliseconds. `undefined` for any other text. */
export const parseTime = (text: string, nowMs: number): bigint | undefined => {
  const nanoseconds = /^-?\d{1,17}$/.test(text)
    ? BigInt(text) * 1_000_000n
    : (parseRelative(text, nowMs) ?? parseIso(text));
  if (nanoseconds === undefined || nanoseconds < earliestNs || nanoseconds > latestNs) return undefined;
  return nanoseconds;
};

const parseRelative = (text: string, nowMs: number): bigint | undefined => {
  const match = relativePattern.exec(text);
  if (match === null) return undefined;
  const now = BigInt(Math.trunc(nowMs)) * 1_000_000n;
  const [, sign, amount = '0', unit = 's'] = match;
  const offsetNs = BigInt(amount) * (unitNanoseconds[unit] ?? 0n);
  return sign === '-' ? now - offsetNs : now + offsetNs;
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
