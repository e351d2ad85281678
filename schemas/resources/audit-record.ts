import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';

/** Who did something. `anonymous` is a request without a session (a sign-in, a reset); `system` the platform itself. */
export const Actor = z.strictObject({
  type: z.enum(['user', 'service-account', 'anonymous', 'system']),
  id: z.string(),
});
export type Actor = z.output<typeof Actor>;

/** One place in a document that a change touched. `before` is absent for what was added, `after` for what was removed. */
export const Difference = z.strictObject({
  path: z.string().describe('Dotted path; empty for the whole resource'),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
});
export type Difference = z.output<typeof Difference>;

/** What may name people. Kept beside the chain, which holds its hash only, so that it can be erased and the chain still verify. */
export const AuditDetails = z.strictObject({
  /** Random, so that a hash of few possible details gives nothing away. */
  salt: z.string(),
  actorName: z.string(),
  resourceName: z.string(),
  address: z.string(),
  changes: z.array(Difference),
});
export type AuditDetails = z.output<typeof AuditDetails>;

/** One link of a tenant's chain, stored under the tenant with the id `auditRecordId`. Everything but `hash`, `details` and `signature` is what `hash` covers. */
export const AuditRecord = z.strictObject({
  /** 1, 2, 3 … without gaps within the tenant. */
  sequence: z.int().positive(),
  at: z.iso.datetime(),
  /** `<resource type>.<verb>`, e.g. `license-key.rotate`. */
  action: z.string(),
  actor: Actor,
  resource: z.strictObject({ type: z.string(), id: z.string() }),
  requestId: z.string(),
  /** Null once erased. */
  details: AuditDetails.nullable(),
  /** Hex SHA-256 of the canonical JSON of `details`. */
  detailsHash: z.string(),
  /** `hash` of the record before; 64 zeros for the first. */
  previousHash: z.string(),
  /** Hex SHA-256 of the previous hash followed by the canonical JSON of what this record says. */
  hash: z.string(),
  /** Of erasures alone: Ed25519 over `hash`, by the key that signs tree heads. */
  signature: z.string().optional(),
});
export type AuditRecord = z.output<typeof AuditRecord>;

export const auditRecords = defineCollection<AuditRecord>({
  name: 'audit-records',
  evidence: true,
  // What leaves the fewest records comes first: a store may use only one of those that a search names.
  indexes: [['requestId'], ['resource.id'], ['details.actorName'], ['actor.id'], ['action'], ['resource.type']],
});

/** Records of a tenant sort by id as the chain goes; what follows the sequence is no other tenant's. */
export const auditRecordId = ({ sequence, hash }: Pick<AuditRecord, 'sequence' | 'hash'>): string =>
  `${sequenceText(sequence)}-${hash.slice(0, 16)}`;

const sequenceText = (sequence: number): string => String(sequence).padStart(12, '0');

/** Sorts after the ids of all records up to a sequence, and before those of later ones. */
export const afterAuditRecord = (sequence: number): string => `${sequenceText(sequence)}.`;

/** The end of a tenant's chain; one document, `head`. Every appended record replaces it, so two writers cannot both append. */
export interface AuditHead {
  readonly sequence: number;
  readonly hash: string;
}
export const auditHeads = defineCollection<AuditHead>({ name: 'audit-heads', evidence: true });
export const auditHeadId = 'head';
