/** Times of events: nanoseconds since boot, or milliseconds or nanoseconds since 1970. */

/** Limits of a plausible time around that of the record. */
const maxAheadMs = 5 * 60_000;
const maxBehindMs = 24 * 3_600_000;
/** A host that has been running for longer has a wrong clock. */
const maxUptimeMs = 5 * 365 * 86_400_000;
/** No tracer runs earlier after a boot. */
const minUptimeNs = 1e9;

const isPlausible = (ms: number, recordMs: number): boolean =>
  ms <= recordMs + maxAheadMs && ms >= recordMs - maxBehindMs;

/** Reads a timestamp. Both results are null if no reading is plausible: the time of the record counts then. */
export const parseTimestamp = (
  value: unknown,
  recordMs: number,
): { readonly reportedMs: number | null; readonly bootNs: number | null } => {
  const number = typeof value === 'string' && /^\d{1,19}$/.test(value) ? Number(value) : value;
  const unknown = { reportedMs: null, bootNs: null };
  if (typeof number !== 'number' || !Number.isFinite(number) || number <= 0) return unknown;
  if (isPlausible(number, recordMs)) return { reportedMs: number, bootNs: null };
  if (isPlausible(number / 1e6, recordMs)) return { reportedMs: number / 1e6, bootNs: null };
  return number >= minUptimeNs && number / 1e6 <= maxUptimeMs ? { reportedMs: null, bootNs: number } : unknown;
};

/** When a host booted, as far as its events reveal it. */
export interface BootClock {
  /** Identity of the boot: when it was first estimated, in whole seconds. */
  readonly boot: string;
  /** Earliest time of the boot that a record allows. */
  readonly offsetMs: number;
  readonly lastNs: number;
}

/** Delays of records are shorter than this, so a later estimate by more is another boot. */
const maxDelayMs = 10 * 60_000;

/** Milliseconds of the years 2001 to 2039, which could also be nanoseconds of the first half hour after a boot. */
const mayBeMilliseconds = (value: number): boolean => value >= 1e12 && value < 2.2e12;

/** Returns the clock after an event. Each event bounds the boot: it happened before its record arrived. */
export const observeBoot = (clock: BootClock | undefined, bootNs: number, recordMs: number): BootClock => {
  const offsetMs = recordMs - bootNs / 1e6;
  const isOtherBoot = clock !== undefined && bootNs < clock.lastNs && offsetMs - clock.offsetMs > maxDelayMs;
  if (isOtherBoot && mayBeMilliseconds(bootNs)) return clock;
  if (clock === undefined || isOtherBoot)
    return { boot: String(Math.floor(offsetMs / 1000)), offsetMs, lastNs: bootNs };
  return {
    boot: clock.boot,
    offsetMs: Math.min(clock.offsetMs, offsetMs),
    lastNs: Math.max(clock.lastNs, bootNs),
  };
};

/** Returns the time of an event since boot, which is not after its record; that of the record if it would be far before. */
export const toEventMs = ({ offsetMs }: Pick<BootClock, 'offsetMs'>, bootNs: number, recordMs: number): number => {
  const eventMs = Math.min(recordMs, offsetMs + bootNs / 1e6);
  return isPlausible(eventMs, recordMs) ? eventMs : recordMs;
};
