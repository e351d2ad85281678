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
const remembered = new Map<string, number | undefined>();
const read = new Map<string, Cron>();

const cronOf = ({ cron, timeZone }: CronTimes): Cron => {
  const key = `${timeZone} ${cron}`;
  const known = read.get(key);
  if (known !== undefined) return known;
  if (read.size >= maxCached) read.clear();
  const made = new Cron(cron, { timezone: timeZone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });
  read.set(key, made);
  return made;
};

/**
 * Returns the first time after a moment; `undefined` if there is none. A time in a skipped hour occurs after the skip,
 * and a time in a repeated hour occurs once. An expression with `*` or steps in its minutes or hours follows elapsed
 * time, as in cron: skipped times do not occur, and repeated times occur twice.
 */
export const cronAfter = (times: CronTimes, ms: number): number | undefined => {
  // All moments of a minute have the same next time, because five fields express full minutes.
  const sinceMs = Math.floor(ms / minuteMs) * minuteMs;
  const key = `${times.timeZone} ${times.cron} ${sinceMs}`;
  if (remembered.has(key)) return remembered.get(key);
  if (remembered.size >= maxCached) remembered.clear();
  const next = cronOf(times).nextRun(new Date(sinceMs))?.getTime();
  remembered.set(key, next);
  return next;
};

/** Start of the sampled period, in which an expression shows its shortest gap */
const sampledFromMs = Date.parse('2026-01-01T00:00:00Z');
const sampled = 8;

/** Returns the shortest time between two occurrences; `Infinity` if there are fewer than two. */
export const shortestGapMs = (times: CronTimes): number => {
  let shortest = Number.POSITIVE_INFINITY;
  let last: number | undefined;
  for (let at = cronAfter(times, sampledFromMs), left = sampled; at !== undefined && left > 0; left--) {
    if (last !== undefined) shortest = Math.min(shortest, at - last);
    last = at;
    at = cronAfter(times, at);
  }
  return shortest;
};

/** Returns the problem of an expression; `undefined` if it has occurrences. */
export const cronProblem = (times: CronTimes): string | undefined => {
  try {
    if (cronAfter(times, sampledFromMs) === undefined) return 'has no matching time';
    return undefined;
  } catch (error) {
    const text = (error as Error).message.replace(/^CronPattern: /, '');
    return `is not a cron expression of five fields (minute, hour, day, month, day of the week): ${text}`;
  }
};
