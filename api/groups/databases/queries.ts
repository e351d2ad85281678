import { z } from 'zod';
import { decodeCursor, encodeCursor, integer } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters, refuseBeyondRetention, serviceParameter } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { readStatements, Statement, statementSorts } from '../../../subjects/databases/statements.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'statements';

export const listDatabaseQueries = defineOperation({
  method: 'GET',
  path: '/api/databases/queries',
  operationId: 'listDatabaseQueries',
  summary: 'List normalized statements of databases by time, calls or errors, from the spans of the callers',
  role: 'viewer',
  entitlement: 'traces',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    ...serviceParameter,
    ...projectScopeParameters,
    engine: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('Product, such as postgresql; former names of the semantic conventions are accepted too'),
    database: z.string().min(1).max(512).optional().describe('db.namespace'),
    search: z.string().min(1).max(512).optional().describe('Part of the normalized statement, case-insensitive'),
    sort: z
      .enum(statementSorts)
      .default('-time')
      .describe('Largest first: total time, calls, errors, mean or longest duration'),
  }),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    items: z.array(Statement),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, query }, ports) {
    const reading = readingOf(caller, ports);
    const { nowMs } = reading;
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor);
    const range = page?.range ?? rangeOf(query, { caller, signal: 'traces', nowMs });
    if (page !== undefined) refuseBeyondRetention(range, { caller, signal: 'traces', nowMs, wasListed: true });
    const found = await readStatements(reading, { ...query, after: page?.after }, range);
    const shown = found.slice(0, query.limit);
    const last = found.length > query.limit ? shown.at(-1) : undefined;
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      items: shown.map(({ statement }) => statement),
      nextCursor:
        last === undefined ? null : encodeCursor(kind, [range.from, range.to, last.place.value, last.place.digest]),
    };
  },
});

const pageOf = (cursor: string) => {
  const [from = '', to = '', value = '', digest = ''] = decodeCursor(kind, cursor, [
    integer,
    integer,
    /^[\d.e+-]{1,30}$/,
    /^q\d-[0-9a-f]{1,16}$/,
  ]);
  return { range: { from: BigInt(from), to: BigInt(to) }, after: { value, digest } };
};
