import { toLegacyCanonicalJson } from '../../../../runtime/canonical-json.ts';
import type { GrowingHead } from '../../../../schemas/evidence.ts';
import type { Clock } from '../../../../schemas/ports/clock.ts';
import type { Documents } from '../../../../schemas/ports/documents.ts';
import type { EvidenceKey, HeadStore } from '../../../../schemas/ports/evidence.ts';
import type { Log } from '../../../../schemas/ports/log.ts';
import { chainStart, hashRecord } from './chain.ts';
import { GrowingTree, hashLeaf } from './merkle.ts';
import { readRecordsInOrder, type StoredRecord } from './record-pages.ts';
import { mustHaveHeadsNow } from './require-heads.ts';

export interface SigningOptions {
  readonly documents: Documents;
  readonly heads: HeadStore;
  readonly key: EvidenceKey;
  readonly clock: Clock;
  readonly log: Log;
  /** A head is signed at every multiple of this number, even if late; default 1,000. */
  readonly recordsPerHead?: number;
  /**
   * Signs from record 1 even if heads must have been lost: the current records are then accepted as the recorded ones.
   */
  readonly signFromBeginning?: boolean;
}

/**
 * Signs the new records of one tenant after another. It continues from the last signed head and never from the
 * beginning: signed records are not read again, so changed old records never get a signature.
 */
export interface ChainSigner {
  /**
   * Signs new records and returns the newest head; undefined while there are no records, or after all heads were lost.
   * Do not call it concurrently for a tenant.
   */
  signNew(tenantId: string): Promise<GrowingHead | undefined>;
  /** Returns the number of records covered by the newest head that this process has seen. */
  signedSize(tenantId: string): number | undefined;
  /** False after a chain did not continue from the signed state, and while all its heads are missing. */
  isValid(tenantId: string): boolean;
  /** Reports, once per tenant, that its chain differs from the signed state. */
  report(tenantId: string, after: number): void;
}

/** Signed position of a tenant, and the tree to continue from. */
interface SignedState {
  readonly tree: GrowingTree;
  readonly lastHash: string;
  readonly head: GrowingHead | undefined;
}

/** Number of heads that are published together */
const publishBatchSize = 100;

const isContinuation = (tenantId: string, { tree, lastHash }: SignedState, record: StoredRecord): boolean =>
  record.sequence === tree.size + 1 &&
  record.previousHash === lastHash &&
  hashRecord(tenantId, record, toLegacyCanonicalJson) === record.hash;

/**
 * Restores the state from which signing continues after a head; `undefined` if this key did not sign the head. The
 * signature covers the subtrees, because the root is computed from them.
 */
const restoreSignedState = (key: EvidenceKey, head: GrowingHead): SignedState | undefined => {
  const subtrees = head.subtrees.map((root) => Buffer.from(root, 'hex'));
  const tree = new GrowingTree(head.size, subtrees);
  if (!key.isSignedBy(head) || tree.root().toString('hex') !== head.root) return undefined;
  return { tree, lastHash: head.lastHash, head };
};

export const createChainSigner = ({ documents, heads, key, clock, log, ...options }: SigningOptions): ChainSigner => {
  const { recordsPerHead = 1_000, signFromBeginning = false } = options;
  const signedStates = new Map<string, SignedState>();
  const reportedTenants = new Set<string>();
  const tenantsWithLostHeads = new Set<string>();

  const loadSignedState = async (tenantId: string): Promise<SignedState> => {
    const cachedState = signedStates.get(tenantId);
    if (cachedState !== undefined) return cachedState;
    for (const head of await heads.listNewest(tenantId)) {
      const restoredState = restoreSignedState(key, head);
      if (restoredState !== undefined) return restoredState;
    }
    return { tree: new GrowingTree(), lastHash: chainStart, head: undefined };
  };

  const signHead = (tenantId: string, { tree, lastHash }: SignedState): GrowingHead => {
    const signedAt = new Date(clock.now()).toISOString();
    const root = tree.root().toString('hex');
    const head = key.sign({ tenantId, size: tree.size, root, lastHash, signedAt });
    return { ...head, subtrees: tree.subtrees.map((subtree) => subtree.toString('hex')) };
  };

  const report = (tenantId: string, after: number): void => {
    if (reportedTenants.has(tenantId)) return;
    reportedTenants.add(tenantId);
    log.error(
      { tenantId, after },
      'the audit chain differs from the signed chain; GET /api/evidence/verify returns the position',
    );
  };

  /**
   * Whether all heads of a tenant were lost. Its chain is then not signed, because signing from record 1 again would sign
   * any changes to the chain. Logged once per tenant.
   */
  const hasLostHeads = async (tenantId: string, { head }: SignedState): Promise<boolean> => {
    if (signFromBeginning || head !== undefined || !(await mustHaveHeadsNow(documents, tenantId, clock))) {
      tenantsWithLostHeads.delete(tenantId);
      return false;
    }
    if (!tenantsWithLostHeads.has(tenantId))
      log.error(
        { tenantId },
        `this audit chain has no signed tree head left, though it is old enough to have had some: no record is signed until "oiq evidence sign ${tenantId}" signs the chain in its current state`,
      );
    tenantsWithLostHeads.add(tenantId);
    return true;
  };

  const publish = async (tenantId: string, newHeads: readonly GrowingHead[], at: SignedState): Promise<void> => {
    if (newHeads.length === 0) return;
    await heads.publish(newHeads);
    signedStates.set(tenantId, { ...at, tree: at.tree.copy(), head: newHeads.at(-1) });
  };

  const signFrom = async (tenantId: string, from: SignedState): Promise<GrowingHead | undefined> => {
    let at: SignedState = { ...from, tree: from.tree.copy() };
    let newHeads: GrowingHead[] = [];
    for await (const record of readRecordsInOrder(documents, tenantId, { after: at.tree.size })) {
      if (!isContinuation(tenantId, at, record)) {
        report(tenantId, at.tree.size);
        break;
      }
      at.tree.append(hashLeaf(Buffer.from(record.hash, 'hex')));
      at = { ...at, lastHash: record.hash };
      if (at.tree.size % recordsPerHead !== 0) continue;
      const head = signHead(tenantId, at);
      at = { ...at, head };
      newHeads.push(head);
      if (newHeads.length < publishBatchSize) continue;
      await publish(tenantId, newHeads, at);
      newHeads = [];
    }
    if (at.tree.size > (at.head?.size ?? 0)) newHeads.push(signHead(tenantId, at));
    await publish(tenantId, newHeads, at);
    return newHeads.at(-1) ?? at.head;
  };

  return {
    async signNew(tenantId) {
      const from = await loadSignedState(tenantId);
      return (await hasLostHeads(tenantId, from)) ? undefined : signFrom(tenantId, from);
    },
    isValid: (tenantId) => !reportedTenants.has(tenantId) && !tenantsWithLostHeads.has(tenantId),
    signedSize: (tenantId) => signedStates.get(tenantId)?.head?.size,
    report,
  };
};
