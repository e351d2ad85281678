import type { Clock } from '../../schemas/ports/clock.ts';
import { ConflictError, type Documents } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { apiTokens, apiTokenUses } from '../../schemas/resources/service-account.ts';
import type { ServiceAccountCaller } from '../callers/caller.ts';

/** Minimum interval between writes of the use of one token, per instance */
const writeIntervalMs = 60_000;
const maxRememberedTokens = 10_000;

/** How long an expired token is still listed */
const expiredTokenRetentionMs = 30 * 86_400_000;

/** Deletes API tokens that expired long ago. */
export const deleteExpiredApiTokens = async (documents: Documents, now: number): Promise<void> => {
  const expiredFilter = { expiresAt: { $lt: new Date(now - expiredTokenRetentionMs).toISOString() } };
  for await (const { id, tenantId } of documents.findInAllTenants(apiTokens, expiredFilter)) {
    await documents.forTenant(tenantId).collection(apiTokens).delete(id);
    await documents.forTenant(tenantId).collection(apiTokenUses).delete(id);
  }
};

/** Stores when API tokens were last used. */
export interface TokenUses {
  /** Returns immediately; the write happens in the background. */
  recordUse(caller: ServiceAccountCaller, address: string): void;
  /** Resolves once everything is written. */
  close(): Promise<void>;
}

export const createTokenUses = ({
  documents,
  clock,
  log,
}: {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly log: Log;
}): TokenUses => {
  const lastWriteMs = new Map<string, number>();
  const pendingWrites = new Set<Promise<void>>();

  const write = async (tenantId: string, tokenId: string, address: string): Promise<void> => {
    const stored = documents.forTenant(tenantId).collection(apiTokenUses);
    const use = { usedAt: new Date(clock.now()).toISOString(), address };
    try {
      if ((await stored.find(tokenId)) === undefined) await stored.insert({ id: tokenId, ...use });
      else await stored.replace(tokenId, use);
    } catch (error) {
      // Another instance just wrote it, or the token was revoked.
      if (!(error instanceof ConflictError)) log.warn({ error }, 'the use of an API token could not be stored');
    }
  };

  return {
    recordUse({ tenantId, tokenId }, address) {
      const now = clock.now();
      if (now - (lastWriteMs.get(tokenId) ?? Number.NEGATIVE_INFINITY) < writeIntervalMs) return;
      if (lastWriteMs.size >= maxRememberedTokens) lastWriteMs.clear();
      lastWriteMs.set(tokenId, now);
      const pendingWrite = write(tenantId, tokenId, address).finally(() => pendingWrites.delete(pendingWrite));
      pendingWrites.add(pendingWrite);
    },
    async close() {
      await Promise.all(pendingWrites);
    },
  };
};
