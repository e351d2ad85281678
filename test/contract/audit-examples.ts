/** Examples of operations on the audit log and its evidence. */
import type { Example } from './example.ts';

const recordId: Example = async ({ make }) => {
  // Something is recorded in any case: an export is.
  await make('exportAuditRecords');
  return { params: { id: (await make('listAuditRecords')).items[0].id } };
};

export const auditExamples: Readonly<Record<string, Example>> = {
  getAuditRecord: recordId,
  proveAuditRecord: recordId,
};
