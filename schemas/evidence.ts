/** Signed tree heads of the audit chains: evidence that is stored outside the document store. */
import { z } from 'zod';

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Statement that a tenant's chain had `size` records with this Merkle root, signed by the installation. */
export const EvidenceHead = z.strictObject({
  tenantId: z.string(),
  /** Number of records: sequence 1 up to this one. */
  size: z.int().positive(),
  /** Root of the Merkle tree (RFC 9162) whose leaves are the record hashes, as bytes. */
  root: Sha256.describe('Root of the Merkle tree (RFC 9162) whose leaves are the hashes of the records'),
  lastHash: Sha256.describe('Hash of the last record covered by the tree head'),
  signedAt: z.iso.datetime(),
  keyId: z.string().describe('Fingerprint of the public key: the first 16 hexadecimal digits of its SHA-256'),
  signature: z
    .string()
    .regex(/^[A-Za-z0-9_-]{86}$/)
    .describe('Ed25519 signature, base64url, over the canonical JSON of the other fields and a purpose'),
});
export type EvidenceHead = z.output<typeof EvidenceHead>;

/**
 * A head with the roots of its tree's complete subtrees, largest first. They allow the tree to grow without its leaves.
 */
export const GrowingHead = EvidenceHead.extend({ subtrees: z.array(Sha256) });
export type GrowingHead = z.output<typeof GrowingHead>;
