/** Log records of a trace. */
import { traceIs } from '../../schemas/tables/search.ts';
import { decodeCursor, encodeCursor, integer, natural } from '../cursor.ts';
import { requireEntitlement } from '../entitlement.ts';
import { readPage } from '../logs/pages.ts';
import { type ProjectScope, projectScopeCondition, projectScopeValues } from '../project-scope.ts';
import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import { plainCondition } from '../records.ts';
import type { LogRecord } from '../signals/log-record.ts';
import { timesOfTrace } from './trace.ts';

const cursorKind = 'trace-logs';
const cursorPatterns = [integer, integer, integer, /^\d{1,5}$/, natural, /^\d{1,10}$/];

/** Maximum distance of log records from the trace's spans: clocks differ, and work may continue after the last span. */
const slackNs = 3_600_000_000_000n;

export interface TraceLogs {
  readonly items: readonly LogRecord[];
  readonly nextCursor: string | null;
}

/**
 * Returns the log records of a trace, newest first, from an hour before its first span to an hour after its last one;
 * `undefined` if neither a span nor a record is stored. For a trace without spans, records of any time are returned.
 */
export const logsOfTrace = async (
  reading: Reading,
  traceId: string,
  {
    scope,
    spanId,
    ...page
  }: {
    readonly scope: ProjectScope;
    /** Only records of this span. */
    readonly spanId?: string | undefined;
    readonly limit: number;
    readonly cursor?: string | undefined;
  },
): Promise<TraceLogs | undefined> => {
  requireEntitlement(reading, 'logs');
  requireEntitlement(reading, 'traces');
  const [from, to, time = '', partition = '', offset = '', ordinal = ''] =
    page.cursor === undefined ? [] : decodeCursor(cursorKind, page.cursor, cursorPatterns);
  const times = await timesOfTrace(reading, traceId, scope);
  const range: Range = page.cursor === undefined ? around(times) : { from: BigInt(from ?? 0), to: BigInt(to ?? 0) };
  const { found, more } = await readPage(
    reading.columns,
    plainCondition(
      `logs.timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND logs.timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
      AND ${traceIs('{trace:String}')}${spanId === undefined ? '' : ' AND span_id = unhex({span:String})'}${projectScopeCondition(scope)}`,
      {
        trace: traceId,
        from: String(range.from),
        to: String(range.to),
        ...projectScopeValues(scope),
        ...(spanId === undefined ? {} : { span: spanId }),
      },
    ),
    { limit: page.limit, after: page.cursor === undefined ? undefined : { time, partition, offset, ordinal } },
  );
  if (found.length === 0 && times === undefined) return undefined;
  return {
    items: found.map(({ record }) => record),
    nextCursor:
      more === undefined
        ? null
        : encodeCursor(cursorKind, [range.from, range.to, more.time, more.partition, more.offset, more.ordinal]),
  };
};

const anyTime: Range = { from: -2_208_988_800_000_000_000n, to: 9_223_372_036_854_775_807n };
const around = (times: Range | undefined): Range =>
  times === undefined ? anyTime : { from: times.from - slackNs, to: times.to + slackNs };
