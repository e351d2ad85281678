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
  const known = cachedExpressions.get(key);
  if (known !== undefined) return known;
  if (cachedExpressions.size >= maxCached) cachedExpressions.clear();
  const made = new Cron(cron, { timezone: timeZone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });
  cachedExpressions.set(key, made);
  return made;
};

/**
 * Returns the first time after a moment; `undefined` if there is none. A time in a skipped hour occurs after the skip,
 * and a time in a repeated hour occurs once. An expression with `*` or steps in its minutes or hours follows elapsed
 * time, as in cron: skipped times do not occur, and repeated times occur twice.
 */
export const nextCronTime = (times: CronTimes, ms: number): number | undefined => {
  // All moments of a minute have the same next time, because five fields express full minutes.
  const sinceMs = Math.floor(ms / minuteMs) * minuteMs;
  const key = `${times.timeZone} ${times.cron} ${sinceMs}`;
  if (cachedTimes.has(key)) return cachedTimes.get(key);
  if (cachedTimes.size >= maxCached) cachedTimes.clear();
  const next = getCron(times).nextRun(new Date(sinceMs))?.getTime();
  cachedTimes.set(key, next);
  return next;
};

/** Start of the sampled period, in which an expression shows its shortest gap */
const sampleStartMs = Date.parse('2026-01-01T00:00:00Z');
const sampleCount = 8;

/** Returns the shortest time between two occurrences; `Infinity` if there are fewer than two. */
export const shortestGapMs = (times: CronTimes): number => {
  let shortest = Number.POSITIVE_INFINITY;
  let last: number | undefined;
  for (let at = nextCronTime(times, sampleStartMs), left = sampleCount; at !== undefined && left > 0; left--) {
    if (last !== undefined) shortest = Math.min(shortest, at - last);
    last = at;
    at = nextCronTime(times, at);
  }
  return shortest;
};

/** Returns the problem of an expression; `undefined` if it has occurrences. */
export const findCronProblem = (times: CronTimes): string | undefined => {
  try {
    if (nextCronTime(times, sampleStartMs) === undefined) return 'has no matching time';
    return undefined;
  } catch (error) {
    const text = (error as Error).message.replace(/^CronPattern: /, '');
    return `is not a cron expression of five fields (minute, hour, day, month, day of the week): ${text}`;
  }
};
