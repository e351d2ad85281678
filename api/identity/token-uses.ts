import type { Clock } from '../../schemas/ports/clock.ts';
import { ConflictError, type Documents } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { apiTokens, apiTokenUses } from '../../schemas/resources/service-account.ts';
import type { ServiceAccountCaller } from '../callers/caller.ts';

/** Minimum interval between writes of the use of one token, per instance */
const everyMs = 60_000;
const remembered = 10_000;

/** How long an expired token is still listed */
const listedMs = 30 * 86_400_000;

/** Deletes API tokens that expired long ago. */
export const sweepApiTokens = async (documents: Documents, now: number): Promise<void> => {
  const longOver = { expiresAt: { $lt: new Date(now - listedMs).toISOString() } };
  for await (const { id, tenantId } of documents.everywhere(apiTokens, longOver)) {
    await documents.of(tenantId).collection(apiTokens).delete(id);
    await documents.of(tenantId).collection(apiTokenUses).delete(id);
  }
};

/** Stores when API tokens were last used. */
export interface TokenUses {
  /** Returns immediately; the write happens in the background. */
  used(caller: ServiceAccountCaller, address: string): void;
  /** Resolves once everything is written. */
  close(): Promise<void>;
}

export const openTokenUses = ({
  documents,
  clock,
  log,
}: {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly log: Log;
}): TokenUses => {
  const writtenAt = new Map<string, number>();
  const writing = new Set<Promise<void>>();

  const write = async (tenantId: string, tokenId: string, address: string): Promise<void> => {
    const stored = documents.of(tenantId).collection(apiTokenUses);
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
    used({ tenantId, tokenId }, address) {
      const now = clock.now();
      if (now - (writtenAt.get(tokenId) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
      if (writtenAt.size >= remembered) writtenAt.clear();
      writtenAt.set(tokenId, now);
      const done = write(tenantId, tokenId, address).finally(() => writing.delete(done));
      writing.add(done);
    },
    async close() {
      await Promise.all(writing);
    },
  };
};
