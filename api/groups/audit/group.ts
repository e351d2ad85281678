import { defineGroup } from '../define-group.ts';
import { exportAuditRecords } from './export.ts';
import { getEvidenceHead } from './head.ts';
import { listAuditRecords } from './list.ts';
import { listAuditActions, listAuditResourceTypes } from './names.ts';
import { proveAuditRecord } from './prove.ts';
import { getAuditRecord } from './show.ts';
import { verifyEvidence } from './verify.ts';

export const auditGroup = defineGroup({
  name: 'audit',
  summary: 'The audit log: who changed what, with proof that no record was altered.',
  operations: [
    listAuditRecords,
    getAuditRecord,
    listAuditResourceTypes,
    listAuditActions,
    exportAuditRecords,
    verifyEvidence,
    getEvidenceHead,
    proveAuditRecord,
  ],
});
