import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';

/**
 * Author of an action. `anonymous` is a request without a session (a sign-in, a reset); `system` is the platform
 * itself.
 */
export const Actor = z.strictObject({
  type: z.enum(['user', 'service-account', 'anonymous', 'system']),
  id: z.string(),
});
export type Actor = z.output<typeof Actor>;

/** A changed location of a document. `before` is absent if the value was added, `after` if it was removed. */
export const Difference = z.strictObject({
  path: z.string().describe('Dotted path; empty for the entire resource'),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
});
export type Difference = z.output<typeof Difference>;

/**
 * Details that may contain personal names. Stored separately from the chain, which contains only their hash: after
 * erasure the chain can still be verified.
 */
export const AuditDetails = z.strictObject({
  /** Random, so that the hash does not reveal details with few possible values. */
  salt: z.string(),
  actorName: z.string(),
  resourceName: z.string(),
  address: z.string(),
  changes: z.array(Difference),
});
export type AuditDetails = z.output<typeof AuditDetails>;

/**
 * One record of a tenant's chain, stored under the tenant with the ID `buildAuditRecordId`. `hash` covers all fields except
 * `hash`, `details` and `signature`.
 */
export const AuditRecord = z.strictObject({
  /** Sequence number 1, 2, 3 … without gaps within the tenant. */
  sequence: z.int().positive(),
  at: z.iso.datetime(),
  /** `<resource type>.<verb>`, e.g. `license-key.rotate`. */
  action: z.string(),
  actor: Actor,
  resource: z.strictObject({ type: z.string(), id: z.string() }),
  requestId: z.string(),
  /** Null after erasure. */
  details: AuditDetails.nullable(),
  /** Hexadecimal SHA-256 of the canonical JSON of `details`. */
  detailsHash: z.string(),
  /** `hash` of the previous record; 64 zeros for the first. */
  previousHash: z.string(),
  /** Hexadecimal SHA-256 of the previous hash followed by the canonical JSON of this record. */
  hash: z.string(),
  /** Only for erasures: Ed25519 signature of `hash`, by the key that signs tree heads. */
  signature: z.string().optional(),
});
export type AuditRecord = z.output<typeof AuditRecord>;

export const auditRecords = defineCollection<AuditRecord>({
  name: 'audit-records',
  evidence: true,
  // The most selective index is first: a store may use only one index per search.
  indexes: [['requestId'], ['resource.id'], ['details.actorName'], ['actor.id'], ['action'], ['resource.type']],
});

/**
 * Returns the ID of a record. The IDs of a tenant sort in chain order. The part after the sequence is unique to the
 * tenant.
 */
export const buildAuditRecordId = ({ sequence, hash }: Pick<AuditRecord, 'sequence' | 'hash'>): string =>
  `${formatSequence(sequence)}-${hash.slice(0, 16)}`;

const formatSequence = (sequence: number): string => String(sequence).padStart(12, '0');

/** Returns a text that sorts after the IDs of all records up to a sequence, and before those of later records. */
export const buildAuditUpperBound = (sequence: number): string => `${formatSequence(sequence)}.`;

/**
 * The end of a tenant's chain, in one document, `head`. Every appended record replaces it, so that two writers cannot
 * both append.
 */
export interface AuditHead {
  readonly sequence: number;
  readonly hash: string;
}
export const auditHeads = defineCollection<AuditHead>({ name: 'audit-heads', evidence: true });
export const auditHeadId = 'head';
