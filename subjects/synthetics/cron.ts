/** Times of cron expressions in time zones, with correct clock changes */
import { Cron } from 'croner';

/** A cron expression in a time zone */
export interface CronTimes {
  readonly cron: string;
  readonly timeZone: string;
}

/** Maximum number of cached results; the same expressions are evaluated repeatedly, at a third of a millisecond each */
const maxCached = 10_000;
const minuteMs = 60_000;
const cachedTimes = new Map<string, number | undefined>();
const cachedExpressions = new Map<string, Cron>();

const getCron = ({ cron, timeZone }: CronTimes): Cron => {
  const key = `${timeZone} ${cron}`;
  const cached = cachedExpressions.get(key);
  if (cached !== undefined) return cached;
  if (cachedExpressions.size >= maxCached) cachedExpressions.clear();
  const created = new Cron(cron, { timezone: timeZone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });
  cachedExpressions.set(key, created);
  return created;
};

/**
 * Returns the first time after an instant; `undefined` if there is none. A time in a skipped hour occurs after the
 * skip,
 * and a time in a repeated hour occurs once. An expression with `*` or steps in its minutes or hours follows elapsed
 * time, as in cron: skipped times do not occur, and repeated times occur twice.
 */
export const findNextCronTime = (times: CronTimes, ms: number): number | undefined => {
  // All instants of a minute have the same next time, because the five fields describe full minutes.
  const sinceMs = Math.floor(ms / minuteMs) * minuteMs;
  const key = `${times.timeZone} ${times.cron} ${sinceMs}`;
  if (cachedTimes.has(key)) return cachedTimes.get(key);
  if (cachedTimes.size >= maxCached) cachedTimes.clear();
  const next = getCron(times).nextRun(new Date(sinceMs))?.getTime();
  cachedTimes.set(key, next);
  return next;
};

/** Start of the period from which occurrences are sampled to find the shortest gap */
const sampleStartMs = Date.parse('2026-01-01T00:00:00Z');
const sampleCount = 8;

/** Returns the shortest time between two occurrences; `Infinity` if there are fewer than two. */
export const computeShortestGapMs = (times: CronTimes): number => {
  let shortestMs = Number.POSITIVE_INFINITY;
  let previousMs: number | undefined;
  for (
    let occurrenceMs = findNextCronTime(times, sampleStartMs), remaining = sampleCount;
    occurrenceMs !== undefined && remaining > 0;
    remaining--
  ) {
    if (previousMs !== undefined) shortestMs = Math.min(shortestMs, occurrenceMs - previousMs);
    previousMs = occurrenceMs;
    occurrenceMs = findNextCronTime(times, occurrenceMs);
  }
  return shortestMs;
};

/** Returns the problem of an expression; `undefined` if it has occurrences. */
export const findCronProblem = (times: CronTimes): string | undefined => {
  try {
    if (findNextCronTime(times, sampleStartMs) === undefined) return 'has no matching time';
    return undefined;
  } catch (error) {
    const text = (error as Error).message.replace(/^CronPattern: /, '');
    return `is not a cron expression of five fields (minute, hour, day, month, day of the week): ${text}`;
  }
};
