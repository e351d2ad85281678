/**
 * The state of the last segment after a crash: where its valid records end, and whether the rest was ever acknowledged.
 */
import type { SegmentFile } from './disk.ts';
import { hasValidChecksum, headBytes, invalidRecord, magic, parseHead, readStamp } from './record.ts';
import { addIndexEntry, type Segment, type SegmentIndex } from './segment.ts';

const chunkBytes = 1024 * 1024;
/** Number of bytes after a fault in which recovery searches for unwritten sectors. */
const unwrittenBytes = 4 * 1024 * 1024;
const sectorBytes = 512;

export interface Recovered {
  readonly index: SegmentIndex;
  readonly lastTimestampMs: number | undefined;
  /** Bytes of valid records from the beginning */
  readonly goodBytes: number;
  /** The offset after the last record that can belong to the segment */
  readonly end: number;
  /** `torn`: the bytes after the valid ones were never acknowledged. `damaged`: they were, or may have been. */
  readonly tail: 'clean' | 'torn' | 'damaged';
  /** Description of the fault at `goodBytes` */
  readonly reason: string;
}

/** A window on a file that grows and moves with the scan. */
class FileWindow {
  readonly #file: SegmentFile;
  readonly #size: number;
  #start = 0;
  /** Reused for each part: garbage stays in memory for a while, and a start reads hundreds of megabytes. */
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
    const until = Math.min(this.#size, position + needed);
    if (position < this.#start || until > this.#start + this.buffer.length) {
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
  let found = parseHead(window.buffer, index);
  if (found.kind === 'short') {
    index = await window.fill(position, found.needed);
    found = parseHead(window.buffer, index);
  }
  if (found.kind !== 'record') return found;
  if (!hasValidChecksum(window.buffer, index, found.length)) return invalidRecord('its checksum does not match');
  return { kind: 'record', length: found.length, stamp: readStamp(window.buffer, index) } as const;
};

/** The next valid record from a position where a record begins or should begin. */
export const findNextValid = async (file: SegmentFile, size: number, from: number) => {
  const window = new FileWindow(file, size);
  // Consistent lengths lead past a damaged value, which may contain bytes that resemble a record.
  for (let position = from; position < size; ) {
    const good = await readValidRecord(window, position);
    if (good.kind === 'record') return { position, ...good };
    const place = await window.fill(position, headBytes);
    const head = parseHead(window.buffer, place);
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
    const place = await window.fill(position, headBytes);
    const magicIndex = window.buffer.indexOf(magic, place);
    if (magicIndex < 0) {
      position += Math.max(1, window.buffer.length - place - magic.length + 1);
      continue;
    }
    position += magicIndex - place;
    const good = await readValidRecord(window, position);
    if (good.kind === 'record') return { position, ...good };
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
  for (let at = firstSector; at + sectorBytes <= bytes; at += sectorBytes)
    if (buffer.subarray(at, at + sectorBytes).equals(zeros)) return true;
  return false;
};

/**
 * Scans a segment from its beginning. `acknowledged` is the first offset that no group is known to have read: a fault
 * below it is damage, never a torn write.
 */
export const recover = async (file: SegmentFile, segment: Segment, acknowledged: number): Promise<Recovered> => {
  const size = await file.size();
  const { position, end, fault, ...rest } = await scan(file, size, segment.base);
  const recovered = { ...rest, goodBytes: position, end, reason: fault?.reason ?? '' };
  if (fault === undefined) return { ...recovered, tail: 'clean' };
  const laterRecords = await scanAfterFault(file, size, position + 1);
  const neverAcknowledged = end >= acknowledged && (laterRecords === undefined || laterRecords.lastGroup <= end);
  const isCut = fault.cut && laterRecords === undefined;
  if (neverAcknowledged && (isCut || (await hasUnwrittenSector(file, position, laterRecords?.first ?? size))))
    return { ...recovered, tail: 'torn' };
  // When the number of lost records is unknown, the log does not reuse any offset that a lost record may have had.
  return { ...recovered, end: laterRecords?.end ?? end + Math.ceil((size - position) / headBytes), tail: 'damaged' };
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
    const good = await readValidRecord(window, position);
    if (good.kind === 'short') fault = { cut: true, reason: 'it is cut short' };
    else if (good.kind === 'bad') fault = { cut: false, reason: good.reason };
    else if (good.stamp.offset !== end) fault = { cut: false, reason: `it has offset ${good.stamp.offset}` };
    else {
      addIndexEntry(index, end, position);
      lastTimestampMs = good.stamp.timestampMs;
      position += good.length;
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
  for (let good = first; good !== undefined; good = await searchNextValid(window, size, position)) {
    last = good;
    position = good.position + good.length;
  }
  if (first === undefined || last === undefined) return undefined;
  // Bytes after the last valid record may have been records too.
  const end = last.stamp.offset + 1 + Math.ceil((size - position) / headBytes);
  return { first: first.position, lastGroup: last.stamp.group, end };
};
