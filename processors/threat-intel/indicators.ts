/** Index of a tenant's indicators, updated as its blocks are added and removed. */

import type { DocumentsById } from '../../runtime/resource-cache.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { IndicatorBlock } from '../../schemas/resources/threat-intel.ts';
import { IndicatorIndex } from '../../subjects/threat-intel/indicator-index.ts';

type Blocks = DocumentsById<IndicatorBlock & StoredMetadata>;

interface CachedIndex {
  readonly revision: number;
  readonly index: IndicatorIndex;
}

const indexes = new WeakMap<Blocks, CachedIndex>();

const buildIndex = (blocks: Blocks): IndicatorIndex => {
  const index = new IndicatorIndex();
  for (const [id, block] of blocks) index.add(id, block);
  return index;
};

/** Returns the index with changed blocks applied; a block is immutable. */
const updateIndex = (index: IndicatorIndex, blocks: Blocks): IndicatorIndex => {
  for (const [id, block] of blocks) index.add(id, block);
  const removedIds = [...index.blocks].filter((id) => !blocks.has(id));
  return removedIds.map((id) => index.remove(id)).includes(false) ? buildIndex(blocks) : index;
};

/** Returns the indicator index of a tenant. Cheap if nothing has changed. */
export const getIndex = (blocks: Blocks): IndicatorIndex => {
  const cached = indexes.get(blocks);
  if (cached?.revision === blocks.revision) return cached.index;
  const index = cached === undefined ? buildIndex(blocks) : updateIndex(cached.index, blocks);
  indexes.set(blocks, { revision: blocks.revision, index });
  return index;
};
