import { z } from 'zod';
import { cursorParameter, decodeCursor, encodeCursor, uint64Pattern } from '../../../queries/cursor.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { auditRecords } from '../../../schemas/resources/audit-record.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { erasureAction } from './chain/erasures.ts';
import { findNewestRecords } from './chain/record-search.ts';
import {
  AuditRecordSummary,
  AuditRecordView,
  filterFields,
  toRecordFilter,
  toRecordSummary,
  toRecordView,
} from './views.ts';

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
    const before = cursor === undefined ? undefined : Number(decodeCursor(cursorKind, cursor, [uint64Pattern])[0]);
    const recordFilter = toRecordFilter(filter, clock.now());
    const matchingRecords = await findNewestRecords(documents, tenantId, recordFilter, { limit: limit + 1, before });
    const items = matchingRecords.slice(0, limit);
    const last = items.at(-1);
    const hasMore = matchingRecords.length > limit && last !== undefined;
    return {
      items: items.map(toRecordSummary),
      nextCursor: hasMore ? encodeCursor(cursorKind, [last.sequence]) : null,
    };
  },
});

export const getAuditRecord = defineOperation({
  method: 'GET',
  path: '/api/audit/{id}',
  operationId: 'getAuditRecord',
  summary: 'Get an audit record with the changes that it recorded',
  role: 'auditor',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  response: AuditRecordView,
  async handler({ caller: { tenantId }, params: { id } }, { documents }) {
    const record = await documents.forTenant(tenantId).collection(auditRecords).find(id);
    if (record === undefined) throw createNotFoundError('audit record');
    return toRecordView(record);
  },
});

/** Number of records searched for actions of the platform itself, which no operation declares. */
const maxNewestRecords = 1_000;

/** Every action declared by operations, and those of the newest records. */
const listActions = async ({ documents, auditActions }: Ports, tenantId: string): Promise<string[]> => {
  const recordedActions = await readRecordedActions(documents, tenantId);
  return [...new Set([...auditActions, erasureAction, ...recordedActions])].sort();
};

const readRecordedActions = async (documents: Documents, tenantId: string): Promise<string[]> => {
  const records = await findNewestRecords(documents, tenantId, {}, { limit: maxNewestRecords });
  return records.map(({ action }) => action);
};

const toResourceType = (action: string): string => action.slice(0, action.indexOf('.'));
const Names = z.strictObject({ items: z.array(z.string()), nextCursor: z.null() });

export const listAuditActions = defineOperation({
  method: 'GET',
  path: '/api/audit/actions',
  operationId: 'listAuditActions',
  summary: 'List the actions that audit records can have',
  role: 'auditor',
  response: Names,
  handler: async ({ caller }, ports) => ({ items: await listActions(ports, caller.tenantId), nextCursor: null }),
});

export const listAuditResourceTypes = defineOperation({
  method: 'GET',
  path: '/api/audit/resource-types',
  operationId: 'listAuditResourceTypes',
  summary: 'List the resource types that audit records can be about',
  role: 'auditor',
  response: Names,
  handler: async ({ caller }, ports) => {
    const actions = await listActions(ports, caller.tenantId);
    return { items: [...new Set(actions.map(toResourceType))], nextCursor: null };
  },
});
