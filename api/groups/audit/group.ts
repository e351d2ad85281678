import { defineGroup } from '../define-group.ts';
import { getEvidenceHead, proveAuditRecord, verifyEvidence } from './evidence.ts';
import { exportAuditRecords } from './export.ts';
import { getAuditRecord, listAuditActions, listAuditRecords, listAuditResourceTypes } from './records.ts';

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
