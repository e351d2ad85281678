import { z } from 'zod';
import { decodeCursor, encodeCursor, int64Pattern } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters, requireRetained, serviceParameter } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { readStatements, Statement, statementSorts } from '../../../subjects/databases/statements.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'statements';

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
    const reader = createQueryReader(caller, ports);
    const { nowMs } = reader;
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const range = page?.range ?? parseRetainedRange(query, { caller, signal: 'traces', nowMs });
    if (page !== undefined) requireRetained(range, { caller, signal: 'traces', nowMs, isFromCursor: true });
    const statements = await readStatements(reader, { ...query, after: page?.after }, range);
    const pageItems = statements.slice(0, query.limit);
    const last = statements.length > query.limit ? pageItems.at(-1) : undefined;
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      items: pageItems.map(({ statement }) => statement),
      nextCursor:
        last === undefined
          ? null
          : encodeCursor(cursorKind, [range.from, range.to, last.place.value, last.place.digest]),
    };
  },
});

const parseCursor = (cursor: string) => {
  const [from = '', to = '', value = '', digest = ''] = decodeCursor(cursorKind, cursor, [
    int64Pattern,
    int64Pattern,
    /^[\d.e+-]{1,30}$/,
    /^q\d-[0-9a-f]{1,16}$/,
  ]);
  return { range: { from: BigInt(from), to: BigInt(to) }, after: { value, digest } };
};
