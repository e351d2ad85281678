/** Limits the number of indicator blocks */

import { iterateDocuments } from '../../runtime/documents-in.ts';
import { defineJob } from '../../runtime/jobs.ts';
import type { Documents, StoredMetadata } from '../../schemas/ports/documents.ts';
import { type IndicatorBlock, indicatorBlocks, threatIndicators } from '../../schemas/resources/threat-intel.ts';
import { maxBlockEntries, mergeBlocks } from './merge-blocks.ts';

const maxSmallBlocks = 32;
/** Returns the maximum number of large blocks, after which blocks whose entries are mostly superseded are merged. */
const getMaxLargeBlocks = (indicators: number): number => 2 * Math.ceil(indicators / maxBlockEntries) + 4;

const readBlocks = async (documents: Documents, tenantId: string, filter: object) => {
  const blocks: (IndicatorBlock & StoredMetadata)[] = [];
  for await (const block of iterateDocuments(documents.forTenant(tenantId).collection(indicatorBlocks), {
    filter: { ...filter },
  }))
    blocks.push(block);
  return blocks;
};

/**
 * Adds the merged blocks before the old ones are deleted in one step, so that concurrent matching has the same results.
 */
const replaceBlocks = async (
  documents: Documents,
  tenantId: string,
  blocks: readonly (IndicatorBlock & StoredMetadata)[],
  isComplete: boolean,
): Promise<void> => {
  const blockCollection = documents.forTenant(tenantId).collection(indicatorBlocks);
  for (const block of mergeBlocks(blocks, { isComplete })) await blockCollection.insert(block);
  await documents.transaction(async ({ forTenant }) => {
    for (const { id } of blocks) await forTenant(tenantId).collection(indicatorBlocks).delete(id);
  });
};

/** Merges blocks of an organization that has many. */
export const mergeIndicatorBlocks = async (documents: Documents, tenantId: string): Promise<void> => {
  const tenantDocuments = documents.forTenant(tenantId);
  if ((await tenantDocuments.collection(indicatorBlocks).count({ level: 0 })) > maxSmallBlocks)
    await replaceBlocks(documents, tenantId, await readBlocks(documents, tenantId, { level: 0 }), false);
  const largeBlockCount = await tenantDocuments.collection(indicatorBlocks).count({ level: 1 });
  if (largeBlockCount > getMaxLargeBlocks(await tenantDocuments.collection(threatIndicators).count()))
    await replaceBlocks(documents, tenantId, await readBlocks(documents, tenantId, {}), true);
};

export const mergeAllIndicatorBlocks = defineJob<{ readonly documents: Documents }>({
  name: 'threat-indicator-blocks',
  summary: 'Merges blocks of threat indicators',
  everyMs: 60_000,
  scope: 'installation',
  async run({ documents }, signal) {
    const tenants = new Set<string>();
    for await (const { tenantId } of documents.findInAllTenants(indicatorBlocks, { level: 0 })) tenants.add(tenantId);
    for (const tenantId of tenants) if (!signal.aborted) await mergeIndicatorBlocks(documents, tenantId);
  },
});
