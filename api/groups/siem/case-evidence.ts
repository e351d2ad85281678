import { createHash } from 'node:crypto';
import { documentsIn } from '../../../runtime/documents-in.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { auditRecords } from '../../../schemas/resources/audit-record.ts';
import { caseEvidence } from '../../../schemas/resources/security-case.ts';

/** The audited action that attaches evidence to a case */
export const attachingEvidence = 'security-case-evidence.attach';

export const evidenceBreakKinds = ['evidence-edited', 'evidence-removed'] as const;

/** SHA-256, hexadecimal. */
export const evidenceHashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** An evidence id begins with its hash, so the chain contains the hash even after a record's details are erased. */
export const hashInId = (id: string): string => id.slice(0, 64);

/** Returns the first piece of evidence, in chain order, that is missing or differs from the attached one. */
export const firstBrokenEvidence = async (
  documents: Documents,
  tenantId: string,
): Promise<{ kind: (typeof evidenceBreakKinds)[number]; sequence: number; message: string } | undefined> => {
  const own = documents.of(tenantId);
  const pieces = own.collection(caseEvidence);
  const attached = own.collection(auditRecords);
  for await (const { sequence, resource } of documentsIn(attached, { filter: { action: attachingEvidence } })) {
    const piece = await pieces.find(resource.id);
    if (piece === undefined)
      return {
        kind: 'evidence-removed' as const,
        sequence,
        message: `the evidence that record ${sequence} attached to a case was deleted`,
      };
    if (evidenceHashOf(Buffer.from(piece.content, 'base64')) !== hashInId(resource.id))
      return {
        kind: 'evidence-edited' as const,
        sequence,
        message: `the evidence that record ${sequence} attached to a case differs from the attached evidence: its hash does not match`,
      };
  }
  return undefined;
};
