import { z } from 'zod';
import { cursorParameter } from './cursor.ts';
import { type Reader, requireEntitlement } from './entitlement.ts';
import { invalid, QueryError } from './errors.ts';
import { type ReadSignal, signals } from './signals/index.ts';
import { formatTime, parseTime } from './time.ts';
import { timeParameter } from './time-parameters.ts';

/** Query parameters that every read of telemetry takes. */
export const rangeParameters = {
  from: timeParameter.optional().describe('ISO-8601, now-15m or epoch milliseconds; default: now-1h'),
  to: timeParameter.optional().describe('As `from`, inclusive; default: now'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: cursorParameter,
};

/** The parameter by which records of one service are asked for. */
export const serviceParameter = { service: z.string().max(512).optional().describe('service.name of the resource') };

/** Both ends belong to the range. Nanoseconds since the epoch. */
export interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

/** How far beyond the retention a client's `now` may lie before ours. */
const toleranceNs = 60_000_000_000n;
const hour = 3_600_000_000_000n;

/** Days that a plan keeps of it. */
export const retentionDaysOf = ({ retentionDays }: Reader['plan'], signal: ReadSignal): number =>
  signals[signal].keptDays(retentionDays);

/** The range that a request asks for, within what the caller's plan keeps of the signal. */
export const rangeOf = (
  { from, to }: { from?: string | undefined; to?: string | undefined },
  { caller, signal, nowMs }: { caller: Reader; signal: ReadSignal; nowMs: number },
): Range => {
  const end = to === undefined ? BigInt(Math.trunc(nowMs)) * 1_000_000n : pointOf('to', to, nowMs);
  const start = from === undefined ? end - hour : pointOf('from', from, nowMs);
  if (start > end) throw invalid('from', 'is after to');
  const range = { from: start, to: end };
  refuseBeyondRetention(range, { caller, signal, nowMs });
  return range;
};

/** The range that a request asks for; `run` holds it against the plan, signal by signal. */
export const parseRange = ({ from, to }: { from: string; to: string }, nowMs: number): Range => {
  const range = { from: pointOf('from', from, nowMs), to: pointOf('to', to, nowMs) };
  if (range.from > range.to) throw invalid('from', 'is after to');
  return range;
};

/** Of the years 2001 to 2286 in seconds, and of the first months of 1970 in milliseconds. */
const likeSeconds = /^[1-9]\d{9}$/;

const pointOf = (path: string, text: string, nowMs: number): bigint => {
  if (likeSeconds.test(text))
    throw invalid(path, `${text} is in 1970, as epoch milliseconds: for seconds write ${text}000`);
  const point = parseTime(text, nowMs);
  if (point === undefined)
    throw invalid(path, 'must be ISO-8601, an expression such as now-15m, or epoch milliseconds');
  return point;
};

/** Who reads which signal, and when. What was listed, so that a cursor or an id of it is at hand, can be read for an hour more. */
interface ReadContext {
  readonly caller: Reader;
  readonly signal: ReadSignal;
  readonly nowMs: number;
  readonly wasListed?: boolean;
}

/** Throws `RETENTION_EXCEEDED` when the range begins before what the plan keeps, `UPGRADE_REQUIRED` when it does not include the signal. */
export const refuseBeyondRetention = (
  { from }: Range,
  { caller, signal, nowMs, wasListed = false }: ReadContext,
): void => {
  requireEntitlement(caller, signals[signal].entitlement);
  const days = retentionDaysOf(caller.plan, signal);
  const retainedFrom = BigInt(Math.trunc(nowMs)) * 1_000_000n - BigInt(days) * 24n * hour;
  if (from >= retainedFrom - toleranceNs - (wasListed ? hour : 0n)) return;
  throw new QueryError(
    'RETENTION_EXCEEDED',
    `the plan ${caller.plan.name} keeps ${signal} for ${days} days: nothing before ${formatTime(retainedFrom)} can be read`,
  );
};

/** Why a range of a signal cannot be read, for people; undefined where it can. For answers over several signals. */
export const findRangeProblem = (range: Range, options: ReadContext): string | undefined => {
  try {
    refuseBeyondRetention(range, options);
    return undefined;
  } catch (error) {
    if (error instanceof QueryError) return error.message;
    throw error;
  }
};

/** A point in time as epoch milliseconds, where one is given. */
export const millisecondsOf = (path: string, text: string | undefined, nowMs: number): number | undefined =>
  text === undefined ? undefined : Number(pointOf(path, text, nowMs) / 1_000_000n);
