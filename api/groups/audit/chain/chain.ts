import { hash, randomBytes } from 'node:crypto';
import { toCanonicalJson, toWellFormed } from '../../../../runtime/canonical-json.ts';
import type { Documents } from '../../../../schemas/ports/documents.ts';
import {
  type AuditDetails,
  type AuditHead,
  type AuditRecord,
  auditHeadId,
  auditHeads,
  auditRecords,
  buildAuditRecordId,
} from '../../../../schemas/resources/audit-record.ts';

/** `previousHash` of the first record of a chain */
export const chainStart = '0'.repeat(64);

/** An audit record before it is appended; appending adds its sequence and hashes. */
export type NewAuditRecord = Pick<AuditRecord, 'at' | 'action' | 'actor' | 'resource' | 'requestId'> & {
  readonly details: Omit<AuditDetails, 'salt'>;
};

export const hashDetails = (details: AuditDetails, json = toCanonicalJson): string => hash('sha256', json(details));

/** Returns the required hash of a tenant's record. Stored records are verified with `toLegacyCanonicalJson`. */
export const hashRecord = (
  tenantId: string,
  record: Omit<AuditRecord, 'hash' | 'details'>,
  json = toCanonicalJson,
): string => {
  const { sequence, at, action, actor, resource, requestId, detailsHash, previousHash } = record;
  const hashInput = { tenantId, sequence, at, action, actor, resource, requestId, detailsHash };
  return hash('sha256', previousHash + json(hashInput));
};

type Sign = (recordHash: string) => string;

const linkRecord = (
  end: AuditHead,
  tenantId: string,
  { details: newDetails, ...entry }: NewAuditRecord,
  sign: Sign | undefined,
): AuditRecord => {
  // Hash the details as they will be read from the store: dates are text, and undefined members are missing. Names from
  // earlier versions may contain a lone surrogate.
  const storedDetails = toWellFormed(JSON.parse(JSON.stringify(newDetails))) as typeof newDetails;
  const details: AuditDetails = { salt: randomBytes(16).toString('base64url'), ...storedDetails };
  const fields = { ...entry, sequence: end.sequence + 1, detailsHash: hashDetails(details), previousHash: end.hash };
  const recordHash = hashRecord(tenantId, fields);
  return { ...fields, details, hash: recordHash, ...(sign !== undefined && { signature: sign(recordHash) }) };
};

/**
 * Appends to a tenant's chain within a transaction. Reading and replacing the head makes every other writer of the
 * tenant wait or restart, so the chain never forks. Erasures are signed with `sign`. Returns the new end of the chain.
 */
export const appendRecords = async (
  transaction: Pick<Documents, 'forTenant'>,
  tenantId: string,
  entries: readonly NewAuditRecord[],
  sign?: Sign,
): Promise<AuditHead> => {
  const documents = transaction.forTenant(tenantId);
  const heads = documents.collection(auditHeads);
  const records = documents.collection(auditRecords);
  const head = await heads.find(auditHeadId);
  let end: AuditHead = { sequence: head?.sequence ?? 0, hash: head?.hash ?? chainStart };
  const linkedRecords = entries.map((entry) => {
    const record = linkRecord(end, tenantId, entry, sign);
    end = record;
    return record;
  });
  // The head is written first, so that concurrent writers of a tenant conflict there and not at a later document.
  const newEnd = { sequence: end.sequence, hash: end.hash };
  if (head === undefined) await heads.insert({ id: auditHeadId, ...newEnd });
  else await heads.replace(auditHeadId, newEnd, head.version);
  for (const record of linkedRecords) await records.insert({ id: buildAuditRecordId(record), ...record });
  return newEnd;
};
