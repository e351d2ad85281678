import type { Jobs } from '../../../../runtime/jobs.ts';
import type { SecretBox } from '../../../../runtime/secret-box.ts';
import type { Bus } from '../../../../schemas/ports/bus.ts';
import type { Clock } from '../../../../schemas/ports/clock.ts';
import type { Columns } from '../../../../schemas/ports/columns.ts';
import type { Documents } from '../../../../schemas/ports/documents.ts';
import type { Evidence } from '../../../../schemas/ports/evidence.ts';
import type { Log } from '../../../../schemas/ports/log.ts';
import { deriveEvidenceKey } from './evidence-key.ts';
import { startHeadSigner } from './tree-head-signer.ts';
import { createHeadStore } from './tree-head-store.ts';

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
  const heads = createHeadStore(bus, columns);
  const key = deriveEvidenceKey(box);
  const signer = await startHeadSigner({ ...options, heads, key });
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
