import { z } from 'zod';
import { cursorParameter, decodeCursor, encodeCursor, natural } from '../../../queries/cursor.ts';
import { newestRecords } from '../../audit/record-search.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { AuditRecordSummary, filterFields, recordFilterOf, summaryOf } from './views.ts';

const cursorKind = 'audit';

export const listAuditRecords = defineOperation({
  method: 'GET',
  path: '/api/audit',
  operationId: 'listAuditRecords',
  summary: 'List audit records, newest first',
  role: 'auditor',
  query: z.strictObject({
    ...filterFields,
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: cursorParameter,
  }),
  response: z.strictObject({ items: z.array(AuditRecordSummary), nextCursor: z.string().nullable() }),
  async handler({ caller: { tenantId }, query: { limit, cursor, ...filter } }, { documents, clock }) {
    const before = cursor === undefined ? undefined : Number(decodeCursor(cursorKind, cursor, [natural])[0]);
    const wanted = recordFilterOf(filter, clock.now());
    const found = await newestRecords(documents, tenantId, wanted, { limit: limit + 1, before });
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const more = found.length > limit && last !== undefined;
    return { items: items.map(summaryOf), nextCursor: more ? encodeCursor(cursorKind, [last.sequence]) : null };
  },
});
