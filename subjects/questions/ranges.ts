/** Combines all time expressions of a question into one range */
import type { Range } from '../../queries/range.ts';
import { getWallClock } from '../../runtime/wall-clock.ts';
import { dayMs } from './quantities.ts';
import type { Now, TimePart } from './times.ts';

/** A range, or the reason why there is none, for people */
export type ParsedRange = { readonly range: Range } | { readonly problem: string };

const msNs = 1_000_000n;
const pointInTimeProblem =
  'a point in time is not a range: write a start and an end, such as "between 15:00 and 15:30"';

const beforeProblem = '"before" has no range that it precedes: write for example "before the last deployment"';

const findPartProblem = (parts: readonly TimePart[]): string | undefined => {
  if (parts.some(({ is }) => is === 'moment')) return pointInTimeProblem;
  return parts.some(({ is }) => is === 'before') ? beforeProblem : undefined;
};

/** Returns the range of the combined parts; `undefined` if there are none. */
export const resolveRange = (parts: readonly TimePart[], { nowMs, timeZone }: Now): ParsedRange | undefined => {
  if (parts.length === 0) return undefined;
  const problem = findPartProblem(parts);
  if (problem !== undefined) return { problem };
  const filterParts = <Is extends TimePart['is']>(is: Is) =>
    parts.filter((part): part is Extract<TimePart, { is: Is }> => part.is === is);
  const [dayParts, clockParts, lastParts, sinceParts, instantParts] = [
    filterParts('days'),
    filterParts('clock'),
    filterParts('last'),
    filterParts('since'),
    filterParts('instants'),
  ];
  if (
    dayParts.length > 1 ||
    clockParts.length > 1 ||
    lastParts.length + sinceParts.length > 1 ||
    (lastParts.length + instantParts.length > 0 && parts.length > 1)
  )
    return { problem: 'the question contains several times that do not form one range: use one range' };
  if (instantParts[0] !== undefined) return toRange(instantParts[0].fromMs, instantParts[0].toMs, nowMs);
  if (lastParts[0] !== undefined)
    return lastParts[0].ms > 0 && lastParts[0].ms < 4e12
      ? toRange(nowMs - lastParts[0].ms, nowMs, nowMs)
      : { problem: 'the range has an invalid length' };
  const clock = getWallClock(timeZone);
  const now = clock.getWallTime(nowMs);
  const today = Math.floor(now / dayMs) * dayMs;
  const day = dayParts[0] ?? {
    from: sinceParts[0]?.day ?? today,
    to: sinceParts[0] === undefined ? today + dayMs : Number.POSITIVE_INFINITY,
  };
  const [from, to] = limitToClock(day, clockParts[0], sinceParts[0]);
  if (from > now) return { problem: 'the range is in the future, where no data exists yet' };
  return toRange(clock.getInstant(from), to > now ? nowMs : clock.getInstant(to), nowMs);
};

/** Returns a range, moved back by whole lengths of a compared period until it is in that period or earlier. */
export const shiftRange = (range: Range, period: Range, nowMs: number): Range => {
  const dayNs = BigInt(dayMs) * msNs;
  const length = period.to - period.from;
  const wholeDays = (ns: bigint): bigint => (ns / dayNs) * dayNs;
  // A day is as many days ago as its start; a week is as long as it is.
  const distance = length > 2n * dayNs ? length + dayNs / 2n : BigInt(Math.trunc(nowMs)) * msNs - period.from;
  const shift = wholeDays(distance);
  return { from: range.from - shift, to: range.to - shift };
};

type Clock = Extract<TimePart, { is: 'clock' }>;
type Since = Extract<TimePart, { is: 'since' }>;

const limitToClock = (
  { from, to }: { readonly from: number; readonly to: number },
  clock: Clock | undefined,
  since: Since | undefined,
): [from: number, to: number] => {
  if (since !== undefined) return [from + since.clock, to];
  if (clock === undefined) return [from, to];
  return [from + clock.from, clock.to === undefined ? to : from + clock.to];
};

/** Both ends of a range are inclusive, so a range until 15:00 ends one nanosecond before 15:00. */
const toRange = (fromMs: number, toMs: number, nowMs: number): ParsedRange => {
  const from = BigInt(Math.trunc(fromMs)) * msNs;
  const to = BigInt(Math.trunc(toMs)) * msNs - (toMs < nowMs ? 1n : 0n);
  return from <= to ? { range: { from, to } } : { problem: 'the range ends before it begins' };
};
