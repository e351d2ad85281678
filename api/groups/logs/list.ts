import { z } from 'zod';
import { decodeCursor, encodeCursor, integer, natural } from '../../../queries/cursor.ts';
import { readLogsOfPattern } from '../../../queries/logs/pattern-records.ts';
import { type LogPosition, LogRecord, readPage } from '../../../queries/logs/record.ts';
import { projectScopeCondition, projectScopeParameters, projectScopeValues } from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters, refuseBeyondRetention, serviceParameter } from '../../../queries/range.ts';
import { searchCondition } from '../../../queries/search/condition.ts';
import { parseSearch } from '../../../queries/search/parse.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'logs';
const hourNs = 3_600_000_000_000n;

export const listLogs = defineOperation({
  method: 'GET',
  path: '/api/logs',
  operationId: 'listLogs',
  summary: 'List log records of a time range, newest first',
  role: 'viewer',
  entitlement: 'logs',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    ...serviceParameter,
    ...projectScopeParameters,
    search: z
      .string()
      .max(1024)
      .optional()
      .describe(
        'Words that must all occur in the body, case-insensitive; also "phrases", field:value, field:>10, field:[1 TO 5], field:foo*, /regex/, field:*, AND, OR, NOT and parentheses (`queries/search/README.md`)',
      ),
    patternId: z
      .string()
      .max(64)
      .optional()
      .describe(
        'Only records of this pattern; an alias stands for the pattern that it was merged into. A page may hold fewer records than the limit',
      ),
  }),
  response: z.strictObject({ items: z.array(LogRecord), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, { columns, clock }) {
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor);
    const range = page?.range ?? rangeOf(query, { caller, signal: 'logs', nowMs });
    if (page !== undefined) refuseBeyondRetention(range, { caller, signal: 'logs', nowMs, graceNs: hourNs });
    const conditions = [
      "logs.timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND logs.timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')",
    ];
    const parameters: Record<string, string> = {
      from: String(range.from),
      to: String(page?.after.time ?? range.to),
      ...projectScopeValues(query),
    };
    if (query.service !== undefined) {
      conditions.push('service = {service:String}');
      parameters['service'] = query.service;
    }
    const reader = columns.of(caller.tenantId);
    if (query.search !== undefined) {
      const search = searchCondition(parseSearch(query.search, 'logs'), 'logs');
      conditions.push(search.sql);
      Object.assign(parameters, search.parameters);
    }
    const condition = `${conditions.join(' AND ')}${projectScopeCondition(query)}`;
    const { found, more } = await (query.patternId === undefined
      ? readPage(reader, condition, parameters, { limit: query.limit, after: page?.after, range })
      : readLogsOfPattern(reader, query.patternId, condition, parameters, {
          limit: query.limit,
          after: page?.after,
          range,
        }));
    return {
      items: found.map(({ record }) => record),
      nextCursor:
        more === undefined
          ? null
          : encodeCursor(kind, [range.from, range.to, more.time, more.partition, more.offset, more.ordinal]),
    };
  },
});

/** A cursor holds the range too: `now-1h` must not move between two pages. */
const pageOf = (cursor: string): { range: { from: bigint; to: bigint }; after: LogPosition } => {
  const [from = '', to = '', time = '', partition = '', offset = '', ordinal = ''] = decodeCursor(kind, cursor, [
    integer,
    integer,
    integer,
    /^\d{1,5}$/,
    natural,
    /^\d{1,10}$/,
  ]);
  return { range: { from: BigInt(from), to: BigInt(to) }, after: { time, partition, offset, ordinal } };
};
