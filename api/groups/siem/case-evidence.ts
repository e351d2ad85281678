import { createHash } from 'node:crypto';
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { auditRecords } from '../../../schemas/resources/audit-record.ts';
import { caseEvidence } from '../../../schemas/resources/security-case.ts';

/** The audited action that attaches evidence to a case */
export const attachEvidenceAction = 'security-case-evidence.attach';

export const evidenceBreakKinds = ['evidence-edited', 'evidence-removed'] as const;

/** SHA-256, hexadecimal. */
export const hashEvidence = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** Returns the hash in an evidence id. It is part of the id, so that the audit chain contains it even after the details of a record were erased. */
export const extractHash = (id: string): string => id.slice(0, 64);

/** Returns the first evidence, in the order of the audit chain, that is missing or was changed. */
export const findBrokenEvidence = async (
  documents: Documents,
  tenantId: string,
): Promise<{ kind: (typeof evidenceBreakKinds)[number]; sequence: number; message: string } | undefined> => {
  const tenantDocuments = documents.forTenant(tenantId);
  const evidenceCollection = tenantDocuments.collection(caseEvidence);
  const auditCollection = tenantDocuments.collection(auditRecords);
  for await (const { sequence, resource } of iterateDocuments(auditCollection, {
    filter: { action: attachEvidenceAction },
  })) {
    const evidence = await evidenceCollection.find(resource.id);
    if (evidence === undefined)
      return {
        kind: 'evidence-removed' as const,
        sequence,
        message: `the evidence that record ${sequence} attached to a case was deleted`,
      };
    if (hashEvidence(Buffer.from(evidence.content, 'base64')) !== extractHash(resource.id))
      return {
        kind: 'evidence-edited' as const,
        sequence,
        message: `the evidence that record ${sequence} attached to a case differs from the attached evidence: its hash does not match`,
      };
  }
  return undefined;
};
