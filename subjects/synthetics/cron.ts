/** Times of cron expressions in time zones, right through clock changes. */
import { Cron } from 'croner';

/** An expression in a time zone. */
export interface CronTimes {
  readonly cron: string;
  readonly timeZone: string;
}

/** So many answers are remembered: the same are asked again and again, and each takes a third of a millisecond. */
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
 * The first time after a moment; undefined where none comes. A time that the clock skips comes when it has skipped; one that it
 * passes twice comes once. An expression with `*` or steps in its minutes or hours goes by the time that passes, as cron does it:
 * what is skipped does not come, and what is passed twice comes twice.
 */
export const cronAfter = (times: CronTimes, ms: number): number | undefined => {
  // All of a minute have the same next one: five parts say whole minutes.
  const sinceMs = Math.floor(ms / minuteMs) * minuteMs;
  const key = `${times.timeZone} ${times.cron} ${sinceMs}`;
  if (remembered.has(key)) return remembered.get(key);
  if (remembered.size >= maxCached) remembered.clear();
  const next = cronOf(times).nextRun(new Date(sinceMs))?.getTime();
  remembered.set(key, next);
  return next;
};

/** From any of them on, an expression shows how close its times are. */
const sampledFromMs = Date.parse('2026-01-01T00:00:00Z');
const sampled = 8;

/** The shortest time between two of them; `Infinity` where there are not two. */
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

/** What is wrong with an expression; nothing if it has times. */
export const cronProblem = (times: CronTimes): string | undefined => {
  try {
    if (cronAfter(times, sampledFromMs) === undefined) return 'has no time that ever comes';
    return undefined;
  } catch (error) {
    const text = (error as Error).message.replace(/^CronPattern: /, '');
    return `is no cron expression of five parts (minute, hour, day, month, day of the week): ${text}`;
  }
};
