import { z } from 'zod';
import { decodeCursor, encodeCursor, int64Pattern, uint64Pattern } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { sortDescription } from '../../../queries/sort.ts';
import { errorGroupStatuses } from '../../../schemas/resources/error-group.ts';
import { ErrorGroup, errorSorts, readErrorGroups } from '../../../subjects/errors/groups.ts';
import { checkCursorRange, errorFilterParameters, parseErrorRange } from '../../../subjects/errors/scope.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { readDecisions } from './stored-decisions.ts';

/** Not cached: people read the list just after they resolve a group. */
export const listErrors = defineOperation({
  method: 'GET',
  path: '/api/errors',
  operationId: 'listErrors',
  summary: 'List groups of errors of a time range, with counts, users, trend and status; the most recent first',
  role: 'viewer',
  query: z.strictObject({
    ...rangeParameters,
    ...errorFilterParameters,
    ...projectScopeParameters,
    status: z.enum(errorGroupStatuses).optional().describe('Only groups with this current status'),
    search: z
      .string()
      .max(1024)
      .optional()
      .describe('Words that must all occur in the type, the message or the culprit, case-insensitive'),
    sort: z.enum(errorSorts).default('-lastSeen').describe(sortDescription),
  }),
  response: z.strictObject({
    items: z.array(ErrorGroup),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness).describe('Empty when the response is complete'),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor, query.sort);
    if (page !== undefined) checkCursorRange(page.range, reader);
    const range = page?.range ?? parseErrorRange(query, reader);
    const insertedBeforeMs = page?.landedBy ?? reader.nowMs;
    const groupsRequest = {
      range,
      insertedBeforeMs: insertedBeforeMs,
      filter: query,
      sort: query.sort,
      limit: query.limit,
      after: page?.after,
    };
    const decisions = await readDecisions(ports.documents, caller.tenantId);
    const { items, nextPosition, partial } = await readErrorGroups(reader, groupsRequest, decisions);
    const cursor = nextPosition && [range.from, range.to, insertedBeforeMs, nextPosition.value, nextPosition.id];
    return { items, nextCursor: cursor ? encodeCursor(`errors ${query.sort}`, cursor) : null, partial: [...partial] };
  },
});

/** A cursor contains the range, the start time of the list, and the end of the page. */
const parseCursor = (cursor: string, sort: string) => {
  const [from = '', to = '', landedBy = '', value = '', id = ''] = decodeCursor(`errors ${sort}`, cursor, [
    int64Pattern,
    int64Pattern,
    uint64Pattern,
    int64Pattern,
    /^f\d{1,4}-[0-9a-f]{16}$/,
  ]);
  return { range: { from: BigInt(from), to: BigInt(to) }, landedBy: Number(landedBy), after: { value, id } };
};
