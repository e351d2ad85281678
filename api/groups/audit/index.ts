import type { Operation } from '../../kernel/operation.ts';
import { exportAuditRecords } from './export.ts';
import { getEvidenceHead } from './head.ts';
import { listAuditRecords } from './list.ts';
import { listAuditActions, listAuditResourceTypes } from './names.ts';
import { proveAuditRecord } from './prove.ts';
import { getAuditRecord } from './show.ts';
import { verifyEvidence } from './verify.ts';

export const auditOperations: readonly Operation[] = [
  listAuditRecords,
  getAuditRecord,
  listAuditResourceTypes,
  listAuditActions,
  exportAuditRecords,
  verifyEvidence,
  getEvidenceHead,
  proveAuditRecord,
];
