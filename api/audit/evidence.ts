import type { Jobs } from '../../runtime/jobs.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { type EvidenceKey, evidenceKeyOf } from './evidence-key.ts';
import { type HeadSigner, openHeadSigner } from './tree-head-signer.ts';
import { type HeadStore, openHeadStore } from './tree-head-store.ts';

/** The parts that prove the audit chains: signed heads and their key. */
export interface Evidence {
  readonly heads: HeadStore;
  readonly key: EvidenceKey;
  readonly signer: HeadSigner;
  /** Signs the unsigned records, and resolves once the heads are durable. */
  close(): Promise<void>;
}

export const openEvidence = async (options: {
  readonly documents: Documents;
  readonly columns: Columns;
  readonly bus: Bus;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  readonly jobs: Jobs;
}): Promise<Evidence> => {
  const { columns, bus, box } = options;
  const heads = openHeadStore(bus, columns);
  const key = evidenceKeyOf(box);
  const signer = await openHeadSigner({ ...options, heads, key });
  return {
    heads,
    key,
    signer,
    async close() {
      await signer.close();
      await heads.close();
    },
  };
};
