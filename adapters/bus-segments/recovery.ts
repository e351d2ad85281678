/** Determines where the valid records of the last segment end after a crash, and whether the rest was acknowledged. */
import type { SegmentFile } from './disk.ts';
import { hasValidChecksum, headBytes, invalidRecord, magic, parseHeader, readStamp } from './record.ts';
import { addIndexEntry, type Segment, type SegmentIndex } from './segment.ts';

const chunkBytes = 1024 * 1024;
/** Number of bytes after a fault in which recovery searches for unwritten sectors. */
const unwrittenBytes = 4 * 1024 * 1024;
const sectorBytes = 512;

export interface SegmentRecovery {
  readonly index: SegmentIndex;
  readonly lastTimestampMs: number | undefined;
  /** Bytes of valid records from the beginning */
  readonly validBytes: number;
  /** The offset after the last record that can belong to the segment */
  readonly end: number;
  /** `torn`: the bytes after the valid ones were never acknowledged. `damaged`: they were, or may have been. */
  readonly tail: 'clean' | 'torn' | 'damaged';
  /** Description of the fault at `validBytes` */
  readonly reason: string;
}

/** A buffered window of a file, which grows and moves with the scan. */
class FileWindow {
  readonly #file: SegmentFile;
  readonly #size: number;
  #start = 0;
  /** Reused for each chunk, because a start reads hundreds of megabytes and garbage would stay in memory. */
  #memory: Buffer = Buffer.alloc(0);
  buffer: Buffer = Buffer.alloc(0);

  constructor(file: SegmentFile, size: number) {
    this.#file = file;
    this.#size = size;
  }

  /**
   * Fills the buffer with at least `needed` bytes from `position`, unless the file ends earlier. Returns the index in
   * the buffer.
   */
  async fill(position: number, needed: number): Promise<number> {
    const endPosition = Math.min(this.#size, position + needed);
    if (position < this.#start || endPosition > this.#start + this.buffer.length) {
      const bytes = Math.min(this.#size - position, Math.max(needed, chunkBytes));
      if (bytes > this.#memory.length) this.#memory = Buffer.allocUnsafeSlow(bytes);
      this.buffer = this.#memory.subarray(0, await this.#file.read(this.#memory.subarray(0, bytes), position));
      this.#start = position;
    }
    return position - this.#start;
  }
}

/** The record at a position, if it is complete and valid. */
const readValidRecord = async (window: FileWindow, position: number) => {
  let index = await window.fill(position, headBytes);
  let parsed = parseHeader(window.buffer, index);
  if (parsed.kind === 'short') {
    index = await window.fill(position, parsed.needed);
    parsed = parseHeader(window.buffer, index);
  }
  if (parsed.kind !== 'record') return parsed;
  if (!hasValidChecksum(window.buffer, index, parsed.length)) return invalidRecord('its checksum does not match');
  return { kind: 'record', length: parsed.length, stamp: readStamp(window.buffer, index) } as const;
};

/** The next valid record from a position where a record begins or should begin. */
export const findNextValid = async (file: SegmentFile, size: number, from: number) => {
  const window = new FileWindow(file, size);
  // Consistent lengths lead past a damaged value, which may contain bytes that resemble a record.
  for (let position = from; position < size; ) {
    const record = await readValidRecord(window, position);
    if (record.kind === 'record') return { position, ...record };
    const headIndex = await window.fill(position, headBytes);
    const head = parseHeader(window.buffer, headIndex);
    const length = head.kind === 'bad' ? 0 : head.kind === 'record' ? head.length : head.needed;
    if (length <= headBytes || position + length > size) return searchNextValid(window, size, from + 1);
    position += length;
  }
  return undefined;
};

/** The next valid record at or after a position; false matches are skipped. */
const searchNextValid = async (window: FileWindow, size: number, from: number) => {
  let position = from;
  while (position + headBytes <= size) {
    const bufferIndex = await window.fill(position, headBytes);
    const magicIndex = window.buffer.indexOf(magic, bufferIndex);
    if (magicIndex < 0) {
      position += Math.max(1, window.buffer.length - bufferIndex - magic.length + 1);
      continue;
    }
    position += magicIndex - bufferIndex;
    const record = await readValidRecord(window, position);
    if (record.kind === 'record') return { position, ...record };
    position++;
  }
  return undefined;
};

/** Whether a range contains a whole sector of zeros, which a power failure leaves for pages that were never written. */
const hasUnwrittenSector = async (file: SegmentFile, from: number, to: number): Promise<boolean> => {
  const zeros = Buffer.alloc(sectorBytes);
  const buffer = Buffer.alloc(Math.min(to - from, unwrittenBytes));
  const bytes = await file.read(buffer, from);
  if (bytes < sectorBytes) return buffer.subarray(0, bytes).equals(zeros.subarray(0, bytes));
  const firstSector = (sectorBytes - (from % sectorBytes)) % sectorBytes;
  for (let sectorStart = firstSector; sectorStart + sectorBytes <= bytes; sectorStart += sectorBytes)
    if (buffer.subarray(sectorStart, sectorStart + sectorBytes).equals(zeros)) return true;
  return false;
};

/**
 * Scans a segment from its beginning. `acknowledged` is the first offset that no group is known to have read: a fault
 * below it is damage, never a torn write.
 */
export const recoverSegment = async (
  file: SegmentFile,
  segment: Segment,
  acknowledged: number,
): Promise<SegmentRecovery> => {
  const size = await file.size();
  const { position, end, fault, ...rest } = await scan(file, size, segment.baseOffset);
  const recovery = { ...rest, validBytes: position, end, reason: fault?.reason ?? '' };
  if (fault === undefined) return { ...recovery, tail: 'clean' };
  const laterRecords = await scanAfterFault(file, size, position + 1);
  const isUnacknowledged = end >= acknowledged && (laterRecords === undefined || laterRecords.lastGroup <= end);
  const isTruncated = fault.cut && laterRecords === undefined;
  if (isUnacknowledged && (isTruncated || (await hasUnwrittenSector(file, position, laterRecords?.first ?? size))))
    return { ...recovery, tail: 'torn' };
  // When the number of lost records is unknown, the log does not reuse any offset that a lost record may have had.
  return { ...recovery, end: laterRecords?.end ?? end + Math.ceil((size - position) / headBytes), tail: 'damaged' };
};

/** Valid records from the beginning, and the reason why the scan ended. */
const scan = async (file: SegmentFile, size: number, base: number) => {
  const window = new FileWindow(file, size);
  const index: SegmentIndex = { offsets: [], positions: [] };
  let lastTimestampMs: number | undefined;
  let position = 0;
  let end = base;
  let fault: { readonly cut: boolean; readonly reason: string } | undefined;
  while (position < size && fault === undefined) {
    const record = await readValidRecord(window, position);
    if (record.kind === 'short') fault = { cut: true, reason: 'it is cut short' };
    else if (record.kind === 'bad') fault = { cut: false, reason: record.reason };
    else if (record.stamp.offset !== end) fault = { cut: false, reason: `it has offset ${record.stamp.offset}` };
    else {
      addIndexEntry(index, end, position);
      lastTimestampMs = record.stamp.timestampMs;
      position += record.length;
      end++;
    }
  }
  return { index, lastTimestampMs, position, end, fault };
};

/**
 * Valid records after an invalid one: the position of the first, the group of the last, and the offset after the last.
 */
const scanAfterFault = async (file: SegmentFile, size: number, from: number) => {
  const window = new FileWindow(file, size);
  const first = await searchNextValid(window, size, from);
  let last = first;
  let position = from;
  for (let record = first; record !== undefined; record = await searchNextValid(window, size, position)) {
    last = record;
    position = record.position + record.length;
  }
  if (first === undefined || last === undefined) return undefined;
  // Bytes after the last valid record may have been records too.
  const end = last.stamp.offset + 1 + Math.ceil((size - position) / headBytes);
  return { first: first.position, lastGroup: last.stamp.group, end };
};
