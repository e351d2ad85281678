import type { EvidenceHead, GrowingHead } from '../evidence.ts';

/**
 * The store of signed tree heads: the bus, and the table into which a sink inserts them. Access to the document
 * store does not give access to either of them.
 */
export interface HeadStore {
  /** Resolves when the heads are durable. */
  publish(heads: readonly GrowingHead[]): Promise<void>;
  /** Yields a tenant's heads with a size above `after` and up to `upTo`, in order of size. */
  listBySize(tenantId: string, after: number, upTo: number): AsyncIterable<GrowingHead>;
  /** Returns a tenant's newest heads, the newest first; at most ten. */
  listNewest(tenantId: string): Promise<readonly GrowingHead[]>;
  /** Returns the size of every tenant's newest stored head. */
  getNewestSizes(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

/**
 * Signs tree heads and erasures. It is derived from the installation's secret key, so it is not stored anywhere, and
 * every instance has the same key.
 */
export interface EvidenceKey extends PublicEvidenceKey {
  sign(head: UnsignedHead): EvidenceHead;
  /** Returns the signature of an erasure whose record has this hash. */
  signErasure(tenantId: string, recordHash: string): string;
}

/** The part of the key that a verifier of heads needs. */
export interface PublicEvidenceKey {
  /** Fingerprint: 16 hexadecimal digits */
  readonly id: string;
  /** Public key in PEM format. */
  readonly publicKey: string;
  /** Whether this key signed the complete content of the head. */
  isSignedBy(head: EvidenceHead): boolean;
  /** Whether this key signed the erasure in the record. Does not verify the record's hash. */
  isErasureSigned(
    tenantId: string,
    record: { readonly hash: string; readonly signature?: string | undefined },
  ): boolean;
}

type UnsignedHead = Omit<EvidenceHead, 'signature' | 'keyId'>;

/**
 * Signs heads of all chains: after a number of records, after an interval if there are new records, and when it closes.
 * Several instances need no coordination: their heads of the same records are equal except for the time.
 */
export interface HeadSigner {
  /** Signs the new records of a tenant now, and returns its newest head; undefined while it has no records. */
  sign(tenantId: string): Promise<GrowingHead | undefined>;
  /** Signs the new records of every tenant, within ten seconds, then stops. */
  close(): Promise<void>;
}

/** The parts that prove the audit chains: signed heads and their key. */
export interface Evidence {
  readonly heads: HeadStore;
  readonly key: EvidenceKey;
  readonly signer: HeadSigner;
  /** Signs the unsigned records, and resolves once the heads are durable. */
  close(): Promise<void>;
}
