import { createSecretBox, loadSecretKey } from '../../../runtime/secret-box.ts';
import type { Bus } from '../../../schemas/ports/bus.ts';
import type { Clock } from '../../../schemas/ports/clock.ts';
import type { Columns } from '../../../schemas/ports/columns.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import type { Log } from '../../../schemas/ports/log.ts';
import type { Settings } from '../../../schemas/settings.ts';
import { createSystemActor, createSystemTransact } from '../../changes.ts';
import { createChainSigner } from './chain/chain-signing.ts';
import { deriveEvidenceKey } from './chain/evidence-key.ts';
import { findNewestSequence } from './chain/record-pages.ts';
import { createHeadStore } from './chain/tree-head-store.ts';

export interface ResignPorts {
  readonly documents: Documents;
  readonly bus: Bus;
  readonly columns: Columns;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
}

/**
 * Signs the current state of a chain that lost all its signed tree heads, and returns the number of records. Records
 * this action first, so that later verifications show it.
 */
export const resignChain = async (
  { documents, bus, columns, clock, log, settings }: ResignPorts,
  tenantId: string,
): Promise<number> => {
  const key = deriveEvidenceKey(createSecretBox(await loadSecretKey(settings)));
  const heads = createHeadStore(bus, columns);
  try {
    if ((await findNewestSequence(documents, tenantId)) === 0) throw new Error(`${tenantId} has no audit chain`);
    if ((await heads.listNewest(tenantId)).some((head) => key.isSignedBy(head)))
      throw new Error(`the audit chain of ${tenantId} has signed tree heads: new records are signed automatically`);
    const change = createSystemTransact({ documents, clock }, 'audit-log.sign');
    await change(async ({ record }) => record({ id: tenantId, tenantId, actor: createSystemActor('command line') }));
    const head = await createChainSigner({ documents, heads, key, clock, log, signFromBeginning: true }).signNew(
      tenantId,
    );
    return head?.size ?? 0;
  } finally {
    await heads.close();
  }
};
