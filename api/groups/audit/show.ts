import { z } from 'zod';
import { auditRecords } from '../../../schemas/resources/audit-record.ts';
import { notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { AuditRecordView, viewOf } from './views.ts';

export const getAuditRecord = defineOperation({
  method: 'GET',
  path: '/api/audit/{id}',
  operationId: 'getAuditRecord',
  summary: 'Get an audit record with the changes that it recorded',
  role: 'auditor',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  response: AuditRecordView,
  async handler({ caller: { tenantId }, params: { id } }, { documents }) {
    const record = await documents.of(tenantId).collection(auditRecords).find(id);
    if (record === undefined) throw notFound('audit record');
    return viewOf(record);
  },
});
