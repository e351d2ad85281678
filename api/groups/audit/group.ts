import { defineGroup } from '../define-group.ts';
import { exportAuditRecords } from './export.ts';
import { getEvidenceHead } from './evidence.ts';
import { listAuditRecords } from './records.ts';
import { listAuditActions, listAuditResourceTypes } from './records.ts';
import { proveAuditRecord } from './evidence.ts';
import { getAuditRecord } from './records.ts';
import { verifyEvidence } from './evidence.ts';

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
