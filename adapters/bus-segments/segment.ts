/** One segment: a file named by its first offset, with an index of record positions. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { findFirstIndex } from '../../schemas/first-index.ts';

const fileSuffix = '.log';
/** Bytes of the log per index entry: the maximum that a reader skips before its first record. */
const indexEveryBytes = 1024 * 1024;

const IndexFile = z.strictObject({
  lastTimestampMs: z.number(),
  offsets: z.array(z.number()),
  positions: z.array(z.number()),
});

/** Offsets and positions of some records, in order. */
export interface SegmentIndex {
  readonly offsets: number[];
  readonly positions: number[];
}

export interface Segment {
  /** Offset of the first record. */
  readonly baseOffset: number;
  readonly path: string;
  /** Synced bytes, the limit for readers */
  size: number;
  /** Arrival time of its first record in epoch milliseconds; `undefined` while it has none, and for full segments. */
  firstTimestampMs: number | undefined;
  /** Arrival time of its last record in epoch milliseconds; `undefined` until it is read from the file. */
  lastTimestampMs: number | undefined;
  /** `undefined` until it is read from its file. */
  index: SegmentIndex | undefined;
}

export const getSegmentPath = (directory: string, base: number): string =>
  join(directory, `${String(base).padStart(20, '0')}${fileSuffix}`);

export const createSegment = (directory: string, baseOffset: number): Segment => ({
  baseOffset,
  path: getSegmentPath(directory, baseOffset),
  size: 0,
  firstTimestampMs: undefined,
  lastTimestampMs: undefined,
  index: { offsets: [], positions: [] },
});

/** The first offset in a file name; `undefined` for other files. */
export const parseSegmentBase = (file: string): number | undefined =>
  /^\d{20}\.log$/.test(file) ? Number(file.slice(0, -fileSuffix.length)) : undefined;

export const getIndexPath = (segment: Segment): string => segment.path.replace(/log$/, 'index');

/** Adds the position of a record to the index, if an entry is due. */
export const addIndexEntry = (index: SegmentIndex, offset: number, position: number): void => {
  const lastPosition = index.positions.at(-1);
  if (lastPosition !== undefined && position - lastPosition < indexEveryBytes) return;
  index.offsets.push(offset);
  index.positions.push(position);
};

/**
 * Writes the index of a full segment to its own file. Without the file everything works, but reading from the middle
 * costs a scan.
 */
export const writeIndex = async (segment: Segment): Promise<void> => {
  const { index, lastTimestampMs } = segment;
  if (index === undefined || lastTimestampMs === undefined) return;
  const path = getIndexPath(segment);
  await writeFile(`${path}.new`, JSON.stringify({ lastTimestampMs, ...index }));
  await rename(`${path}.new`, path);
};

/** Reads the index file of a segment; returns an empty index if there is no readable file. */
export const loadIndex = async (segment: Segment): Promise<SegmentIndex> => {
  if (segment.index !== undefined) return segment.index;
  const text = await readFile(getIndexPath(segment), 'utf8').catch(() => '{}');
  let indexFile: z.output<typeof IndexFile> | undefined;
  try {
    indexFile = IndexFile.safeParse(JSON.parse(text)).data;
  } catch {
    // Invalid JSON counts as a missing file.
  }
  segment.lastTimestampMs ??= indexFile?.lastTimestampMs;
  segment.index = indexFile ?? { offsets: [], positions: [] };
  return segment.index;
};

/** Returns a position at or before the record with an offset. */
export const findPositionBefore = ({ offsets, positions }: SegmentIndex, offset: number): number => {
  const nextEntry = findFirstIndex(offsets.length, (index) => (offsets[index] ?? 0) > offset);
  return nextEntry === 0 ? 0 : (positions[nextEntry - 1] ?? 0);
};
