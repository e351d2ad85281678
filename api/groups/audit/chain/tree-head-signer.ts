import { defineJob, type Jobs } from '../../../../runtime/jobs.ts';
import { KeyedMutex } from '../../../../runtime/keyed-mutex.ts';
import { waitUpTo } from '../../../../runtime/timeout.ts';
import type { GrowingHead } from '../../../../schemas/evidence.ts';
import type { HeadSigner } from '../../../../schemas/ports/evidence.ts';
import { auditHeads } from '../../../../schemas/resources/audit-record.ts';
import { chainSigning, type SigningOptions } from './chain-signing.ts';
import { notedEnd } from './record-pages.ts';

export interface HeadSignerOptions extends SigningOptions {
  readonly jobs: Jobs;
  /** Default one minute */
  readonly everyMs?: number;
}

/** A hanging store must not block the exit: unsigned records are signed after the next start. */
const closingMs = 10_000;

export const openHeadSigner = async (options: HeadSignerOptions): Promise<HeadSigner> => {
  const { documents, heads, log, jobs, everyRecords = 1_000, everyMs = 60_000 } = options;
  const signing = chainSigning(options);
  /** Sequence of the newest record per tenant. */
  const ends = new Map<string, number>();
  /** The same for the records that existed when this process began. */
  const met = new Map<string, number>();
  const mutex = new KeyedMutex();

  /** One run at a time per tenant; a call during a run waits and runs after it. */
  const sign = (tenantId: string): Promise<GrowingHead | undefined> => {
    const pendingHead = mutex.run(tenantId, () => signing.signNew(tenantId));
    pendingHead.then(
      // Enough records for another head may have been added in the meantime.
      () => signIfDue(tenantId),
      () => undefined,
    );
    return pendingHead;
  };

  const signIfDue = (tenantId: string): void => {
    if (mutex.isBusy(tenantId) || !signing.isValid(tenantId)) return;
    const size = signing.sizeOf(tenantId) ?? met.get(tenantId) ?? 0;
    if ((ends.get(tenantId) ?? 0) - size >= everyRecords) void tried(sign(tenantId));
  };

  const signAll = async (): Promise<void> => {
    const landed = await heads.sizes();
    for (const [tenantId, end] of ends) {
      const size = Math.max(signing.sizeOf(tenantId) ?? 0, landed.get(tenantId) ?? 0);
      // The feed may be behind another instance's signature: the store decides.
      if (end < size && (await notedEnd(documents, tenantId)).sequence < size) signing.report(tenantId, end);
      if (end > size) await sign(tenantId);
    }
  };
  const tried = (work: Promise<unknown>): Promise<void> =>
    work.then(
      () => undefined,
      (error: unknown) => log.warn({ error }, 'audit chains could not be signed; retrying'),
    );

  let loading = true;
  const feed = await documents.follow(auditHeads, ({ tenantId, document }) => {
    if (document === undefined) return;
    ends.set(tenantId, document.sequence);
    if (loading) met.set(tenantId, document.sequence);
    signIfDue(tenantId);
  });
  loading = false;
  const job = jobs.start(
    defineJob({
      name: 'audit-signing',
      summary: 'Sign tree heads of the audit chains',
      everyMs,
      // Records that a crash left unsigned do not wait for a full interval.
      firstMs: everyMs / 12,
      scope: 'process',
      run: signAll,
    }),
    undefined,
  );

  return {
    sign,
    async close() {
      const rest = async (): Promise<void> => {
        await job.stop();
        // The feed may be slightly behind.
        for await (const { tenantId, sequence } of documents.everywhere(auditHeads)) ends.set(tenantId, sequence);
        await signAll();
      };
      await waitUpTo(closingMs, tried(rest()));
      await feed.close();
    },
  };
};
