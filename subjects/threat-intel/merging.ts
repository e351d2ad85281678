/** Limits the number of indicator blocks */

import { documentsIn } from '../../runtime/documents-in.ts';
import { defineJob } from '../../runtime/jobs.ts';
import type { Documents, Stored } from '../../schemas/ports/documents.ts';
import { type IndicatorBlock, indicatorBlocks, threatIndicators } from '../../schemas/resources/threat-intel.ts';
import { maxBlockEntries, mergeBlocks } from './merge-blocks.ts';

const maxSmallBlocks = 32;
/** Returns the maximum number of large blocks, after which blocks whose entries are mostly superseded are merged. */
const maxLargeBlocks = (indicators: number): number => 2 * Math.ceil(indicators / maxBlockEntries) + 4;

const blocksOf = async (documents: Documents, tenantId: string, filter: object) => {
  const blocks: (IndicatorBlock & Stored)[] = [];
  for await (const block of documentsIn(documents.of(tenantId).collection(indicatorBlocks), { filter: { ...filter } }))
    blocks.push(block);
  return blocks;
};

/**
 * Adds the merged blocks before the old ones are deleted in one step, so that concurrent matching has the same results.
 */
const replaceBlocks = async (
  documents: Documents,
  tenantId: string,
  blocks: readonly (IndicatorBlock & Stored)[],
  isComplete: boolean,
): Promise<void> => {
  const stored = documents.of(tenantId).collection(indicatorBlocks);
  for (const block of mergeBlocks(blocks, { isComplete })) await stored.insert(block);
  await documents.transaction(async ({ of }) => {
    for (const { id } of blocks) await of(tenantId).collection(indicatorBlocks).delete(id);
  });
};

/** Merges blocks of an organization that has many. */
export const mergeIndicatorBlocks = async (documents: Documents, tenantId: string): Promise<void> => {
  const own = documents.of(tenantId);
  if ((await own.collection(indicatorBlocks).count({ level: 0 })) > maxSmallBlocks)
    await replaceBlocks(documents, tenantId, await blocksOf(documents, tenantId, { level: 0 }), false);
  const large = await own.collection(indicatorBlocks).count({ level: 1 });
  if (large > maxLargeBlocks(await own.collection(threatIndicators).count()))
    await replaceBlocks(documents, tenantId, await blocksOf(documents, tenantId, {}), true);
};

export const mergeAllIndicatorBlocks = defineJob<{ readonly documents: Documents }>({
  name: 'threat-indicator-blocks',
  summary: 'Merges blocks of threat indicators',
  everyMs: 60_000,
  scope: 'installation',
  async run({ documents }, signal) {
    const tenants = new Set<string>();
    for await (const { tenantId } of documents.everywhere(indicatorBlocks, { level: 0 })) tenants.add(tenantId);
    for (const tenantId of tenants) if (!signal.aborted) await mergeIndicatorBlocks(documents, tenantId);
  },
});
