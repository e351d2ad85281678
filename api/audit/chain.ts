import { hash, randomBytes } from 'node:crypto';
import type { Documents } from '../../schemas/documents.ts';
import {
  type AuditDetails,
  type AuditRecord,
  auditHeadId,
  auditHeads,
  auditRecords,
} from '../../schemas/resources/audit-record.ts';
import { canonicalJson } from './canonical-json.ts';

/** `previousHash` of a chain's first record. */
export const chainStart = '0'.repeat(64);

/** What is to be recorded; its place in the chain is found when it is appended. */
export type Unchained = Pick<AuditRecord, 'at' | 'action' | 'actor' | 'resource' | 'requestId'> & {
  readonly details: Omit<AuditDetails, 'salt'>;
};

export const detailsHashOf = (details: AuditDetails): string => hash('sha256', canonicalJson(details));

/** The hash that a record of a tenant must have. */
export const hashOf = (tenantId: string, record: Omit<AuditRecord, 'hash' | 'details'>): string => {
  const { sequence, at, action, actor, resource, requestId, detailsHash, previousHash } = record;
  const said = { tenantId, sequence, at, action, actor, resource, requestId, detailsHash };
  return hash('sha256', previousHash + canonicalJson(said));
};

/**
 * Appends to a tenant's chain within a transaction. Reading and replacing the head makes every other writer of the tenant
 * wait or start again, so that the chain never forks.
 */
export const appendRecords = async (
  transaction: Pick<Documents, 'of'>,
  tenantId: string,
  entries: readonly Unchained[],
): Promise<void> => {
  const documents = transaction.of(tenantId);
  const heads = documents.collection(auditHeads);
  const records = documents.collection(auditRecords);
  const head = await heads.find(auditHeadId);
  let sequence = head?.sequence ?? 0;
  let previousHash = head?.hash ?? chainStart;
  for (const { details: told, ...entry } of entries) {
    sequence++;
    const details: AuditDetails = { salt: randomBytes(16).toString('base64url'), ...told };
    const linked = { ...entry, sequence, detailsHash: detailsHashOf(details), previousHash };
    const recordHash = hashOf(tenantId, linked);
    await records.insert({ ...linked, details, hash: recordHash });
    previousHash = recordHash;
  }
  const next = { sequence, hash: previousHash };
  if (head === undefined) await heads.insert({ id: auditHeadId, ...next });
  else await heads.replace(auditHeadId, next, head.version);
};
