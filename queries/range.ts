import { z } from 'zod';
import type { ZoneClock } from '../runtime/calendar.ts';
import { cursorParameter } from './cursor.ts';
import { type PlanReader, requireReadAccess } from './entitlement.ts';
import { createValidationError, QueryError } from './errors.ts';
import type { Incompleteness } from './result.ts';
import { type ReadSignal, signalDefinitions } from './signals/index.ts';
import { formatTime, parseTime } from './time.ts';
import { timeFormatProblem, timeFormats, timeParameter } from './time-parameters.ts';

/** Query parameters of every read of telemetry. */
export const rangeParameters = {
  from: timeParameter.optional().describe(`Start: ${timeFormats}; default: now-1h`),
  to: timeParameter.optional().describe('End, inclusive, in the format of `from`; default: now'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: cursorParameter,
};

/** Query parameter that selects the records of one service. */
export const serviceParameter = {
  service: z
    .string()
    .max(512)
    .optional()
    .describe('`service.name` of the resource, or `service.namespace/service.name` if it has a namespace'),
};

/** A range including both ends, in nanoseconds since the epoch. */
export interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

/** Tolerance for a client clock that differs from the server's, when a range is checked against the retention. */
const clockToleranceNs = 60_000_000_000n;
const hourNs = 3_600_000_000_000n;

/** Returns the retention days of a plan. */
export const getRetentionDays = ({ retentionDays }: PlanReader['plan'], signal: ReadSignal): number =>
  signalDefinitions[signal].retentionDays(retentionDays);

/** Returns the range of a request, within the plan's retention of the data source. */
export const parseRetainedRange = (
  { from, to }: { from?: string | undefined; to?: string | undefined },
  { caller, signal, nowMs }: { caller: PlanReader; signal: ReadSignal; nowMs: number },
): Range => {
  const end = to === undefined ? BigInt(Math.trunc(nowMs)) * 1_000_000n : parseTimeNs('to', to, nowMs);
  const start = from === undefined ? end - hourNs : parseTimeNs('from', from, nowMs);
  if (start > end) throw createValidationError('from', 'is after to');
  const range = { from: start, to: end };
  requireRetained(range, { caller, signal, nowMs });
  return range;
};

/**
 * Returns the range of a request, with the days of the clock's time zone; `run` checks it against the plan for each data
 * source.
 */
export const parseRange = (
  { from, to }: { from: string; to: string },
  nowMs: number,
  clock?: ZoneClock | undefined,
): Range => {
  const range = {
    from: parseTimeNs('from', from, nowMs, clock),
    to: parseTimeNs('to', to, nowMs, clock),
  };
  if (range.from > range.to) throw createValidationError('from', 'is after to');
  return range;
};

/** Matches seconds of the years 2001 to 2286, which as milliseconds would be the first months of 1970. */
const secondsPattern = /^[1-9]\d{9}$/;

const parseTimeNs = (path: string, text: string, nowMs: number, clock?: ZoneClock): bigint => {
  if (secondsPattern.test(text))
    throw createValidationError(path, `${text} is in 1970, as epoch milliseconds: for seconds write ${text}000`);
  const timeNs = parseTime(text, nowMs, { edge: path === 'to' ? 'end' : 'start', clock });
  if (timeNs === undefined) throw createValidationError(path, timeFormatProblem);
  return timeNs;
};

/** Reader, data source and time of a read. Data whose cursor or id was listed before can be read for another hour. */
interface RangeCheck {
  readonly caller: PlanReader;
  readonly signal: ReadSignal;
  readonly nowMs: number;
  readonly isFromCursor?: boolean;
}

/** Returns the start of the retention of a data source, in nanoseconds. */
const getRetainedFromNs = ({ caller, signal, nowMs }: RangeCheck): bigint =>
  BigInt(Math.trunc(nowMs)) * 1_000_000n - BigInt(getRetentionDays(caller.plan, signal)) * 24n * hourNs;

/** Returns the retention of a data source, as a sentence without a period. */
const describeRetention = (check: RangeCheck): string => {
  const { caller, signal } = check;
  const days = getRetentionDays(caller.plan, signal);
  return `the plan ${caller.plan.name} retains ${signal} for ${days} days: nothing before ${formatTime(getRetainedFromNs(check))} can be read`;
};

const isRetained = (timeNs: bigint, check: RangeCheck): boolean =>
  timeNs >= getRetainedFromNs(check) - clockToleranceNs - (check.isFromCursor === true ? hourNs : 0n);

/**
 * Throws `RETENTION_EXCEEDED` if the range begins before the plan's retention, `UPGRADE_REQUIRED` if the plan excludes
 * the data source, `FORBIDDEN` if the API token lacks its read scope.
 */
export const requireRetained = ({ from }: Pick<Range, 'from'>, check: RangeCheck): void => {
  const { entitlement, group } = signalDefinitions[check.signal];
  requireReadAccess(check.caller, entitlement, group);
  if (!isRetained(from, check)) throw new QueryError('RETENTION_EXCEEDED', describeRetention(check));
};

/**
 * Returns the part of a range that the plan retains for all data sources, and why it is not the entire range. Throws
 * `RETENTION_EXCEEDED` if nothing of the range is retained, `UPGRADE_REQUIRED` if the plan excludes a data source.
 */
export const restrictToRetention = (
  range: Range,
  signals: readonly ReadSignal[],
  { caller, nowMs }: Pick<RangeCheck, 'caller' | 'nowMs'>,
): { readonly range: Range; readonly partial: readonly Incompleteness[] } => {
  let { from } = range;
  const partial: Incompleteness[] = [];
  for (const signal of signals) {
    const check = { caller, signal, nowMs };
    requireRetained({ from: range.to }, check);
    if (isRetained(range.from, check)) continue;
    partial.push({ code: 'retention', message: describeRetention(check) });
    const retainedFromNs = getRetainedFromNs(check);
    if (retainedFromNs > from) from = retainedFromNs;
  }
  // A range may end within the tolerance before the retention.
  if (from > range.to) from = range.to;
  return { range: { from, to: range.to }, partial };
};

/**
 * Returns why a range of a data source cannot be read, as a text for users; undefined if it can. For results over
 * several data sources.
 */
export const findRangeProblem = (range: Pick<Range, 'from'>, options: RangeCheck): string | undefined => {
  try {
    requireRetained(range, options);
    return undefined;
  } catch (error) {
    if (error instanceof QueryError) return error.message;
    throw error;
  }
};

/** Parses a time to epoch milliseconds; undefined without a text. */
export const parseMilliseconds = (path: string, text: string | undefined, nowMs: number): number | undefined =>
  text === undefined ? undefined : Number(parseTimeNs(path, text, nowMs) / 1_000_000n);
