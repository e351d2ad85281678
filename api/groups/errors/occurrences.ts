import { z } from 'zod';
import { decodeCursor, encodeCursor, int64Pattern, uint64Pattern } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { findGroup } from '../../../subjects/errors/groups.ts';
import { FingerprintMerges } from '../../../subjects/errors/merges.ts';
import { ErrorOccurrenceView, readOccurrences } from '../../../subjects/errors/occurrences.ts';
import {
  checkCursorRange,
  createErrorScope,
  errorFilterParameters,
  parseErrorRange,
} from '../../../subjects/errors/scope.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { withGroupRange } from './range.ts';
import { readDecisions } from './stored-decisions.ts';

const cursorKind = 'error-occurrences';

export const listErrorOccurrences = defineOperation({
  method: 'GET',
  path: '/api/errors/{id}/occurrences',
  operationId: 'listErrorOccurrences',
  summary: 'List the occurrences of a group of errors, newest first, with the trace, span and log record of each',
  role: 'viewer',
  params: z.strictObject({ id: z.string().min(1).max(64) }),
  query: z.strictObject({
    ...rangeParameters,
    from: rangeParameters.from.describe('Default: the first occurrence of the group, within the retention'),
    ...errorFilterParameters,
    ...projectScopeParameters,
  }),
  response: z.strictObject({
    items: z.array(ErrorOccurrenceView),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness),
  }),
  async handler({ caller, params, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const decisions = await readDecisions(ports.documents, caller.tenantId);
    const group = await findGroup(reader, params.id, decisions);
    if (group === undefined) throw createNotFoundError('error group');
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    if (page !== undefined) checkCursorRange(page.range, reader);
    const range = page?.range ?? parseErrorRange(withGroupRange(query, group, reader), reader);
    const scope = createErrorScope(reader, range, query);
    const occurrences = await readOccurrences(reader, scope, {
      fingerprints: new FingerprintMerges(decisions.merges).getMembers(group.id),
      limit: query.limit + 1,
      after: page?.after,
    });
    const pageItems = occurrences.slice(0, query.limit);
    const last = occurrences.length > query.limit ? pageItems.at(-1)?.positionCondition : undefined;
    const cursor = last && [range.from, range.to, last.time, last.partition, last.offset, last.ordinal];
    return {
      items: pageItems.map(({ occurrence }) => occurrence),
      nextCursor: cursor ? encodeCursor(cursorKind, cursor) : null,
      partial: [...scope.partial],
    };
  },
});

const parseCursor = (cursor: string) => {
  const [from = '', to = '', time = '', partition = '', offset = '', ordinal = ''] = decodeCursor(cursorKind, cursor, [
    int64Pattern,
    int64Pattern,
    int64Pattern,
    /^\d{1,5}$/,
    uint64Pattern,
    /^\d{1,10}$/,
  ]);
  return { range: { from: BigInt(from), to: BigInt(to) }, after: { time, partition, offset, ordinal } };
};
