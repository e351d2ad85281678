import { z } from 'zod';
import { decodeCursor, encodeCursor, integer, natural } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { groupKnown } from '../../../subjects/errors/groups.ts';
import { Merges } from '../../../subjects/errors/merges.ts';
import { ErrorOccurrenceView, readOccurrences } from '../../../subjects/errors/occurrences.ts';
import { errorFilterParameters, errorRange, errorScope, recheckRange } from '../../../subjects/errors/scope.ts';
import { notFound } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { rangeOfGroup } from './range.ts';
import { decisionsOf } from './stored-decisions.ts';

const kind = 'error-occurrences';

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
    const reading = readingOf(caller, ports);
    const decisions = await decisionsOf(ports.documents, caller.tenantId);
    const known = await groupKnown(reading, params.id, decisions);
    if (known === undefined) throw notFound('error group');
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor);
    if (page !== undefined) recheckRange(page.range, reading);
    const range = page?.range ?? errorRange(rangeOfGroup(query, known, reading), reading);
    const scope = errorScope(reading, range, query);
    const found = await readOccurrences(reading, scope, {
      fingerprints: new Merges(decisions.merges).membersOf(known.id),
      limit: query.limit + 1,
      after: page?.after,
    });
    const shown = found.slice(0, query.limit);
    const last = found.length > query.limit ? shown.at(-1)?.position : undefined;
    const cursor = last && [range.from, range.to, last.time, last.partition, last.offset, last.ordinal];
    return {
      items: shown.map(({ occurrence }) => occurrence),
      nextCursor: cursor ? encodeCursor(kind, cursor) : null,
      partial: [...scope.partial],
    };
  },
});

const pageOf = (cursor: string) => {
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
