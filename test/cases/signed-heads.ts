/** Signed tree heads of synthetic audit chains. */

import { deriveEvidenceKey } from '../../api/groups/audit/chain/evidence-key.ts';
import { GrowingTree, hashLeaf } from '../../api/groups/audit/chain/merkle.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import type { GrowingHead } from '../../schemas/evidence.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { HeadStore } from '../../schemas/ports/evidence.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { topics } from '../../schemas/topics.ts';
import { startSinks } from '../../sinks/index.ts';
import { eventually } from '../waiting.ts';

export const headKey = deriveEvidenceKey(createSecretBox('a secret key of the tests, long enough'));

export const headOf = (tenantId: string, size: number, signedAt = '2026-03-01T10:00:00.123Z'): GrowingHead => {
  const tree = new GrowingTree();
  for (let n = 1; n <= size; n++) tree.append(hashLeaf(Buffer.from(`${n}`)));
  const root = tree.root().toString('hex');
  const head = headKey.sign({ tenantId, size, root, lastHash: 'a'.repeat(64), signedAt });
  return { ...head, subtrees: tree.subtrees.map((subtree) => subtree.toString('hex')) };
};

/** The heads of a tenant, as a query returns them. */
export const headsIn = async (heads: HeadStore, tenantId: string, after = 0, upTo = 1_000): Promise<GrowingHead[]> => {
  const found: GrowingHead[] = [];
  for await (const head of heads.listBySize(tenantId, after, upTo)) found.push(head);
  return found;
};

/** Stores all heads that are on the bus. */
export const landHeads = async (bus: Bus, columns: Columns): Promise<void> => {
  const role = await startSinks({
    bus,
    columns,
    metrics: silentMetrics,
    log: silentLog,
    clock: systemClock,
    selectedNames: ['evidence-heads'],
    embedded: true,
    threads: 1,
  });
  await eventually('the heads to land', async () => {
    const lags = await bus.lag('sinks.evidence-heads', [topics.evidenceHeads.name]);
    return lags.every(({ lag }) => lag === 0);
  });
  await role.stop();
};
