import { defineJob, type Jobs } from '../../../../runtime/jobs.ts';
import { KeyedMutex } from '../../../../runtime/keyed-mutex.ts';
import { waitUpTo } from '../../../../runtime/timeout.ts';
import type { GrowingHead } from '../../../../schemas/evidence.ts';
import type { HeadSigner } from '../../../../schemas/ports/evidence.ts';
import { auditHeads } from '../../../../schemas/resources/audit-record.ts';
import { createChainSigner, type SigningOptions } from './chain-signing.ts';
import { readStoredEnd } from './record-pages.ts';

export interface HeadSignerOptions extends SigningOptions {
  readonly jobs: Jobs;
  /** Default one minute */
  readonly intervalMs?: number;
}

/** An unresponsive store must not block the exit: records still unsigned are signed after the next start. */
const closeTimeoutMs = 10_000;

export const startHeadSigner = async (options: HeadSignerOptions): Promise<HeadSigner> => {
  const { documents, heads, log, jobs, recordsPerHead = 1_000, intervalMs = 60_000 } = options;
  const chainSigner = createChainSigner(options);
  /** Sequence of the newest record per tenant. */
  const newestSequences = new Map<string, number>();
  /** Sequence of the newest record per tenant when this process started. */
  const initialSequences = new Map<string, number>();
  const mutex = new KeyedMutex();

  /** One run at a time per tenant; a call during a run waits and runs after it. */
  const signTenant = (tenantId: string): Promise<GrowingHead | undefined> => {
    const pendingHead = mutex.run(tenantId, () => chainSigner.signNew(tenantId));
    pendingHead.then(
      // Enough records for another head may have been added in the meantime.
      () => signIfDue(tenantId),
      () => undefined,
    );
    return pendingHead;
  };

  const signIfDue = (tenantId: string): void => {
    if (mutex.isBusy(tenantId) || !chainSigner.isValid(tenantId)) return;
    const size = chainSigner.signedSize(tenantId) ?? initialSequences.get(tenantId) ?? 0;
    if ((newestSequences.get(tenantId) ?? 0) - size >= recordsPerHead) void logFailure(signTenant(tenantId));
  };

  const signAll = async (): Promise<void> => {
    const storedSizes = await heads.getNewestSizes();
    for (const [tenantId, end] of newestSequences) {
      const size = Math.max(chainSigner.signedSize(tenantId) ?? 0, storedSizes.get(tenantId) ?? 0);
      // Another instance may have signed records that the change feed has not delivered yet, so check the store.
      if (end < size && (await readStoredEnd(documents, tenantId)).sequence < size) chainSigner.report(tenantId, end);
      if (end > size) await signTenant(tenantId);
    }
  };
  const logFailure = (work: Promise<unknown>): Promise<void> =>
    work.then(
      () => undefined,
      (error: unknown) => log.warn({ error }, 'audit chains could not be signed; retrying'),
    );

  let isLoading = true;
  const feed = await documents.follow(auditHeads, ({ tenantId, document }) => {
    if (document === undefined) return;
    newestSequences.set(tenantId, document.sequence);
    if (isLoading) initialSequences.set(tenantId, document.sequence);
    signIfDue(tenantId);
  });
  isLoading = false;
  const job = jobs.start(
    defineJob({
      name: 'audit-signing',
      summary: 'Sign tree heads of the audit chains',
      everyMs: intervalMs,
      // Records that a crash left unsigned do not wait for a full interval.
      firstMs: intervalMs / 12,
      scope: 'process',
      run: signAll,
    }),
    undefined,
  );

  return {
    sign: signTenant,
    async close() {
      const signRemaining = async (): Promise<void> => {
        await job.stop();
        // The feed may be slightly behind.
        for await (const { tenantId, sequence } of documents.findInAllTenants(auditHeads))
          newestSequences.set(tenantId, sequence);
        await signAll();
      };
      await waitUpTo(closeTimeoutMs, logFailure(signRemaining()));
      await feed.close();
    },
  };
};
