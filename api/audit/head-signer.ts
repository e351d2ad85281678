import type { GrowingHead } from '../../schemas/evidence.ts';
import { auditHeads } from '../../schemas/resources/audit-record.ts';
import { chainSigning, type SigningOptions } from './chain-signing.ts';
import { notedEnd } from './record-pages.ts';

/**
 * Signs heads of all chains: after `everyRecords` records, after `everyMs` when there is something new, and on closing.
 * Several instances need no agreement: their heads over the same records are equal but for the time.
 */
export interface HeadSigner {
  /** Signs what is new of a tenant now, and gives its newest head; none while it has no records. */
  sign(tenantId: string): Promise<GrowingHead | undefined>;
  /** Signs what is new of every tenant, then stops. */
  close(): Promise<void>;
}

export interface HeadSignerOptions extends SigningOptions {
  /** Default a minute. */
  readonly everyMs?: number;
}

export const openHeadSigner = async (options: HeadSignerOptions): Promise<HeadSigner> => {
  const { documents, heads, log, everyRecords = 1_000, everyMs = 60_000 } = options;
  const signing = chainSigning(options);
  /** Sequence of each tenant's newest record. */
  const ends = new Map<string, number>();
  /** The same when this process heard of the tenant first. */
  const met = new Map<string, number>();
  const turns = new Map<string, Promise<unknown>>();

  /** One at a time for a tenant; whoever asks meanwhile gets a run of their own after it. */
  const sign = (tenantId: string): Promise<GrowingHead | undefined> => {
    const before = turns.get(tenantId) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(() => signing.signNew(tenantId));
    const forget = (): void => {
      if (turns.get(tenantId) === turn) turns.delete(tenantId);
    };
    turns.set(tenantId, turn);
    turn.then(forget, forget);
    return turn;
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
      (error: unknown) => log.warn({ error }, 'audit chains could not be signed; it is tried again'),
    );

  const feed = await documents.follow(auditHeads, ({ tenantId, document }) => {
    if (document === undefined) return;
    const { sequence } = document;
    ends.set(tenantId, sequence);
    if (!met.has(tenantId)) met.set(tenantId, sequence);
    const size = signing.sizeOf(tenantId) ?? met.get(tenantId) ?? 0;
    if (sequence - size >= everyRecords && !turns.has(tenantId)) void tried(sign(tenantId));
  });
  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(() => tried(signAll()));
  }, everyMs);
  timer.unref();

  return {
    sign,
    async close() {
      clearInterval(timer);
      await running;
      // The feed may be a moment behind.
      const refresh = async (): Promise<void> => {
        for await (const { tenantId, sequence } of documents.everywhere(auditHeads)) ends.set(tenantId, sequence);
      };
      await tried(refresh().then(signAll));
      await feed.close();
      await Promise.allSettled(turns.values());
    },
  };
};
