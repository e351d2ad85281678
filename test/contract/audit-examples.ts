/** Examples of operations on the audit log and its evidence. */
import type { Example } from './example.ts';

const recordId: Example = async ({ make }) => {
  // At least one record exists: an export is always recorded.
  await make('exportAuditRecords');
  return { params: { id: (await make('listAuditRecords')).items[0].id } };
};

export const auditExamples: Readonly<Record<string, Example>> = {
  getAuditRecord: recordId,
  proveAuditRecord: recordId,
};
