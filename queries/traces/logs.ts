/** Log records of a trace. */
import { traceIs } from '../../schemas/tables/search.ts';
import { decodeCursor, encodeCursor, int64Pattern, uint64Pattern } from '../cursor.ts';
import { requireReadAccess } from '../entitlement.ts';
import { readLogPage } from '../logs/pages.ts';
import { buildProjectScopeCondition, type ProjectScope, toProjectScopeParameters } from '../project-scope.ts';
import type { Range } from '../range.ts';
import { createCondition } from '../records.ts';
import type { LogRecord } from '../signals/log-record.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { readTraceTimes } from './trace.ts';

const cursorKind = 'trace-logs';
const cursorPatterns = [int64Pattern, int64Pattern, int64Pattern, /^\d{1,5}$/, uint64Pattern, /^\d{1,10}$/];

/** Maximum distance of log records from the trace's spans: clocks differ, and work may continue after the last span. */
const marginNs = 3_600_000_000_000n;

export interface TraceLogs {
  readonly items: readonly LogRecord[];
  readonly nextCursor: string | null;
}

/**
 * Returns the log records of a trace, newest first, from an hour before its first span to an hour after its last one;
 * `undefined` if neither a span nor a record is stored. For a trace without spans, records of any time are returned.
 */
export const readTraceLogs = async (
  reader: TenantReader,
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
  requireReadAccess(reader, 'logs');
  requireReadAccess(reader, 'traces');
  const [from, to, time = '', partition = '', offset = '', ordinal = ''] =
    page.cursor === undefined ? [] : decodeCursor(cursorKind, page.cursor, cursorPatterns);
  const times = await readTraceTimes(reader, traceId, scope);
  const range: Range =
    page.cursor === undefined ? extendRange(times) : { from: BigInt(from ?? 0), to: BigInt(to ?? 0) };
  const { found: logs, nextPosition } = await readLogPage(
    reader.columns,
    createCondition(
      `logs.timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND logs.timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
      AND ${traceIs('{trace:String}')}${spanId === undefined ? '' : ' AND span_id = unhex({span:String})'}${buildProjectScopeCondition(scope)}`,
      {
        trace: traceId,
        from: String(range.from),
        to: String(range.to),
        ...toProjectScopeParameters(scope),
        ...(spanId === undefined ? {} : { span: spanId }),
      },
    ),
    { limit: page.limit, after: page.cursor === undefined ? undefined : { time, partition, offset, ordinal } },
  );
  if (logs.length === 0 && times === undefined) return undefined;
  return {
    items: logs.map(({ record }) => record),
    nextCursor:
      nextPosition === undefined
        ? null
        : encodeCursor(cursorKind, [
            range.from,
            range.to,
            nextPosition.time,
            nextPosition.partition,
            nextPosition.offset,
            nextPosition.ordinal,
          ]),
  };
};

const unlimitedRange: Range = { from: -2_208_988_800_000_000_000n, to: 9_223_372_036_854_775_807n };
const extendRange = (times: Range | undefined): Range =>
  times === undefined ? unlimitedRange : { from: times.from - marginNs, to: times.to + marginNs };
