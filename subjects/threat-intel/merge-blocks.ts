/** Merges several blocks into one with the latest entry of each indicator */
import type { IndicatorBlock } from '../../schemas/resources/threat-intel.ts';
import { decodeEntry, headerBytes } from './block.ts';
import { IndicatorIndex } from './indicator-index.ts';

/** Maximum number of entries of a block; a document is limited to 4 MB */
export const maxBlockEntries = 16_384;
const maxBytes = 2_000_000;

/**
 * Merges blocks. `isComplete` means that these are all blocks of the organization, so revoked entries can be
 * removed.
 */
export const mergeBlocks = (
  blocks: readonly Pick<IndicatorBlock, 'sources' | 'entries'>[],
  { isComplete }: { readonly isComplete: boolean },
): IndicatorBlock[] => {
  const index = new IndicatorIndex();
  for (const [blockNumber, block] of blocks.entries()) index.add(String(blockNumber), block);
  const merged: IndicatorBlock[] = [];
  let sources = new Map<string, number>();
  let entries: Buffer[] = [];
  let size = 0;
  const close = (): void => {
    if (entries.length > 0)
      merged.push({ sources: [...sources.keys()], entries: Buffer.concat(entries).toString('base64'), level: 1 });
    sources = new Map();
    entries = [];
    size = 0;
  };
  for (const { bytes, offset, source } of index.latest()) {
    if (isComplete && decodeEntry(bytes, offset).isRevoked) continue;
    const sourceNumber = sources.get(source) ?? sources.size;
    sources.set(source, sourceNumber);
    const entry = Buffer.from(bytes.subarray(offset, offset + headerBytes + bytes.readUInt16LE(offset + 25)));
    entry.writeUInt16LE(sourceNumber, 3);
    entries.push(entry);
    size += entry.length;
    if (entries.length >= maxBlockEntries || size >= maxBytes) close();
  }
  close();
  return merged;
};
