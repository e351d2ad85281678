/** Merges several blocks into one with the latest entry of each indicator */
import type { IndicatorBlock } from '../../schemas/resources/threat-intel.ts';
import { decodeEntry, headerBytes } from './block.ts';
import { IndicatorIndex } from './indicator-index.ts';

/** Maximum number of entries of a block; a document is limited to 4 MB */
export const maxBlockEntries = 16_384;
const maxBytes = 2_000_000;

/**
 * Merges blocks. `isComplete` means that these are all blocks of the organization, so that expired entries can be
 * removed.
 */
export const mergeBlocks = (
  blocks: readonly Pick<IndicatorBlock, 'sources' | 'entries'>[],
  { isComplete }: { readonly isComplete: boolean },
): IndicatorBlock[] => {
  const index = new IndicatorIndex();
  for (const [number, block] of blocks.entries()) index.add(String(number), block);
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
  for (const { bytes, at, source } of index.latest()) {
    if (isComplete && decodeEntry(bytes, at).isRevoked) continue;
    const number = sources.get(source) ?? sources.size;
    sources.set(source, number);
    const entry = Buffer.from(bytes.subarray(at, at + headerBytes + bytes.readUInt16LE(at + 25)));
    entry.writeUInt16LE(number, 3);
    entries.push(entry);
    size += entry.length;
    if (entries.length >= maxBlockEntries || size >= maxBytes) close();
  }
  close();
  return merged;
};
