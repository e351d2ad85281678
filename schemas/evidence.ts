/** Signed tree heads of the audit chains: what lies outside the documents and says what was in them. */
import { z } from 'zod';

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** That a tenant's chain had `size` records with this Merkle root, signed by the installation. */
export const EvidenceHead = z.strictObject({
  tenantId: z.string(),
  /** Records that it covers: 1 up to this sequence. */
  size: z.int().positive(),
  /** Root of the Merkle tree (RFC 9162) whose leaves are the records' hashes, as bytes. */
  root: Sha256.describe('Root of the Merkle tree (RFC 9162) whose leaves are the hashes of the records'),
  lastHash: Sha256.describe('Hash of the last record that the tree head covers'),
  signedAt: z.iso.datetime(),
  keyId: z.string().describe('Fingerprint of the public key: the first 16 digits of its SHA-256'),
  signature: z
    .string()
    .regex(/^[A-Za-z0-9_-]{86}$/)
    .describe('Ed25519, base64url, over the canonical JSON of the other fields and a purpose'),
});
export type EvidenceHead = z.output<typeof EvidenceHead>;

/** A head with the roots of its tree's complete subtrees, the largest first: from there the tree goes on without its leaves. */
export const GrowingHead = EvidenceHead.extend({ subtrees: z.array(Sha256) });
export type GrowingHead = z.output<typeof GrowingHead>;
