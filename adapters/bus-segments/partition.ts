/** One partition: its segments, its only writer, and the callers that wait for new records. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Disk, SegmentFile } from './disk.ts';
import type { ReadableLog } from './reader.ts';
import { type EncodedRecord, headBytes, readTimestamp, writeStamp } from './record.ts';
import { recoverSegment } from './recovery.ts';
import {
  addIndexEntry,
  createSegment,
  getIndexPath,
  getSegmentPath,
  loadIndex,
  parseSegmentBase,
  type Segment,
  writeIndex,
} from './segment.ts';

/** Maximum bytes of the waiting records in one write. */
const maxWriteBytes = 32 * 1024 * 1024;
/** Bytes whose checksums are computed in one tick of the event loop: a large publish must not delay others. */
const yieldEveryBytes = 4 * 1024 * 1024;

export interface PartitionOptions {
  readonly topic: string;
  readonly partition: number;
  readonly directory: string;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  readonly segmentBytes: number;
  /** Age of its first record at which a segment gets no more records, so that it can expire. */
  readonly maxSegmentAgeMs: number;
  /** First offset that no group is known to have read; all records below it must exist. */
  readonly acknowledgedOffset: number;
  isAborted(transaction: number): boolean;
}

/** Messages of one publish for this partition. */
interface PendingAppend {
  readonly entries: readonly EncodedRecord[];
  readonly transaction: number;
  readonly bytes: number;
  resolve(): void;
  reject(error: Error): void;
}

/** Writes the stamp and checksum of each record; returns the bytes to write. */
const stampRecords = async (
  appends: readonly PendingAppend[],
  first: number,
  timestampMs: number,
): Promise<Uint8Array[]> => {
  const buffers: Uint8Array[] = [];
  let offset = first;
  let stampedBytes = 0;
  for (const { entries, transaction } of appends)
    for (const entry of entries) {
      writeStamp(entry, { offset: offset++, timestampMs, transaction, group: first });
      buffers.push(entry.head);
      if (entry.value.length > 0) buffers.push(entry.value);
      stampedBytes += entry.value.length;
      if (stampedBytes < yieldEveryBytes) continue;
      stampedBytes = 0;
      await yieldToEventLoop();
    }
  return buffers;
};

/** Arrival time of the first record of a file; `undefined` if it has none. */
const readFirstTimestamp = async (file: SegmentFile, validBytes: number): Promise<number | undefined> => {
  if (validBytes < headBytes) return undefined;
  const head = Buffer.alloc(headBytes);
  return (await file.read(head, 0)) < headBytes ? undefined : readTimestamp(head);
};

export interface RetentionLimits {
  readonly milliseconds: number;
  readonly bytes: number;
  /** First offset that some group still needs. */
  readonly minNeededOffset: number;
}

export class PartitionLog implements ReadableLog {
  readonly title: string;
  readonly disk: Disk;
  readonly log: Log;
  readonly segments: Segment[];
  /** Called when new records are readable. */
  readonly listeners = new Set<() => void>();
  /** Totals of everything written since the log was opened, for readers that wait for a full batch. */
  writtenBytes = 0;
  writtenWeight = 0;
  readonly #options: PartitionOptions;
  /** First offset of each open transaction. */
  readonly #openTransactions = new Map<number, number>();
  #end: number;
  #file: SegmentFile | undefined;
  /** Whether the bytes after the synced part of the last segment are unknown. */
  #needsRepair = false;
  #fault: Error | undefined;
  /** The next write begins a new segment. */
  #mustStartSegment = false;
  #queue: PendingAppend[] = [];
  #writing: Promise<void> | undefined;
  #isClosed = false;

  private constructor(options: PartitionOptions, segments: Segment[], end: number) {
    this.#options = options;
    this.title = `${options.topic}/${options.partition}`;
    this.disk = options.disk;
    this.log = options.log;
    this.segments = segments;
    this.#end = end;
  }

  /** Opens a partition's directory, creates it if missing, and repairs the effects of a crash. */
  static async open(options: PartitionOptions): Promise<PartitionLog> {
    await mkdir(options.directory, { recursive: true });
    const names = await readdir(options.directory);
    const bases = names.map(parseSegmentBase).filter((base) => base !== undefined);
    bases.sort((left, right) => left - right);
    const segments = bases.map((base) => ({ ...createSegment(options.directory, base), index: undefined }) as Segment);
    const last = segments.at(-1);
    const partition = new PartitionLog(options, segments, 0);
    for (const segment of segments) await partition.#measureSegment(segment);
    if (last === undefined) await partition.#createSegment(options.acknowledgedOffset);
    else await partition.#recoverSegment(last);
    return partition;
  }

  get end(): number {
    return this.#end;
  }

  get earliest(): number {
    return this.segments[0]?.baseOffset ?? this.#end;
  }

  get stableEnd(): number {
    let stableOffset = this.#end;
    for (const first of this.#openTransactions.values()) if (first < stableOffset) stableOffset = first;
    return stableOffset;
  }

  /** Why the last write failed; `undefined` after a successful write. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  isAborted(transaction: number): boolean {
    return this.#options.isAborted(transaction);
  }

  /** Resolves when the messages are synced; rejects with `UnavailableError` when they are not in the log. */
  append(entries: readonly EncodedRecord[], transaction: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new UnavailableError('the bus is closed'));
      let bytes = 0;
      for (const { head, value } of entries) bytes += head.length + value.length;
      this.#queue.push({ entries, transaction, bytes, resolve, reject });
      this.#writing ??= this.#drain();
    });
  }

  /** Called at the end of a transaction: readers may continue past its records. */
  release(transaction: number): void {
    if (this.#openTransactions.delete(transaction)) this.#notifyListeners();
  }

  /**
   * Deletes whole segments beyond the size or age limit. `held` reports whether some segments stay only because a group
   * needs them.
   */
  async retain(limits: RetentionLimits): Promise<{ readonly removed: number; readonly hasRetainedSegments: boolean }> {
    let removed = 0;
    let hasRetainedSegments = false;
    while (!hasRetainedSegments && (await this.#isFirstSegmentExpired(limits))) {
      hasRetainedSegments = (this.segments[1]?.baseOffset ?? this.#end) > limits.minNeededOffset;
      if (hasRetainedSegments || !(await this.#removeFirstSegment())) break;
      removed++;
    }
    if (removed > 0) await this.disk.syncDirectory(this.#options.directory);
    return { removed, hasRetainedSegments };
  }

  /** Whether the first segment is older than the limit, or the others suffice for the size limit. */
  async #isFirstSegmentExpired({ milliseconds, bytes }: RetentionLimits): Promise<boolean> {
    const [first] = this.segments;
    if (first === undefined || first.size === 0) return false;
    const totalBytes = this.segments.reduce((sum, { size }) => sum + size, 0);
    if (this.segments.length > 1 && totalBytes - first.size >= bytes) return true;
    return (await this.#getLastTimestamp(first)) < this.#options.clock.now() - milliseconds;
  }

  /** Removes the first segment; returns false when it has to stay because it is the active segment. */
  async #removeFirstSegment(): Promise<boolean> {
    if (this.segments.length === 1 && this.#writing === undefined && !this.#needsRepair) {
      this.#writing = this.#startSegmentNow();
      await this.#writing;
    }
    const [first, second] = this.segments;
    if (first === undefined || second === undefined) return false;
    this.segments.shift();
    await rm(first.path);
    await rm(getIndexPath(first), { force: true });
    return true;
  }

  /** Writes the waiting records, then closes the files. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
  }

  async #measureSegment(segment: Segment): Promise<void> {
    const file = await this.disk.open(segment.path, 'read');
    segment.size = await file.size();
    await file.close();
  }

  async #getLastTimestamp(segment: Segment): Promise<number> {
    await loadIndex(segment);
    // Without an index file, the modification time of the file is good enough.
    segment.lastTimestampMs ??= (await stat(segment.path)).mtimeMs;
    return segment.lastTimestampMs;
  }

  async #recoverSegment(last: Segment): Promise<void> {
    const { acknowledgedOffset } = this.#options;
    const file = await this.disk.open(last.path, 'write');
    const recovery = await recoverSegment(file, last, acknowledgedOffset);
    last.index = recovery.index;
    last.lastTimestampMs = recovery.lastTimestampMs;
    last.firstTimestampMs = await readFirstTimestamp(file, recovery.validBytes);
    this.#end = recovery.end;
    const damageFields = { file: last.path, byte: recovery.validBytes, reason: recovery.reason };
    if (recovery.tail === 'torn') {
      this.log.warn(
        { ...damageFields, bytes: last.size - recovery.validBytes },
        'cut off an incomplete record at the end of the log: a write that a crash interrupted, or the file has lost its end',
      );
      await file.truncate(recovery.validBytes);
      last.size = recovery.validBytes;
    }
    // Consumers are about to read records that a killed process wrote and perhaps did not sync.
    await file.sync();
    if (recovery.tail === 'damaged') {
      this.log.warn(
        { ...damageFields, log: this.title },
        'a segment is damaged; readable records after the damage are still read',
      );
      this.#mustStartSegment = true;
    }
    if (this.#end < acknowledgedOffset) {
      this.log.error(
        { log: this.title, end: this.#end, acknowledged: acknowledgedOffset },
        'records that were already read are missing',
      );
      this.#end = acknowledgedOffset;
      this.#mustStartSegment = true;
    }
    if (!this.#mustStartSegment) {
      this.#file = file;
      return;
    }
    await file.close();
    await this.#rollSegment();
  }

  /** Begins a segment at an offset; its name is durable before any record is written to it. */
  async #createSegment(base: number): Promise<void> {
    const { directory } = this.#options;
    const file = await this.disk.open(getSegmentPath(directory, base), 'create');
    try {
      await this.disk.syncDirectory(directory);
    } catch (error) {
      await file.close();
      await rm(getSegmentPath(directory, base), { force: true });
      throw error;
    }
    this.#file = file;
    this.#end = base;
    this.segments.push(createSegment(directory, base));
  }

  async #rollSegment(): Promise<void> {
    const last = this.segments.at(-1);
    this.#mustStartSegment = false;
    // A segment without records would have the same name as its successor.
    if (last?.baseOffset === this.#end) return;
    const fullFile = this.#file;
    try {
      await this.#createSegment(this.#end);
    } catch (error) {
      this.#mustStartSegment = true;
      throw error;
    }
    await fullFile?.close();
    // The index is only a shortcut: the log works without it.
    if (last !== undefined) await writeIndex(last).catch(() => undefined);
  }

  async #startSegmentNow(): Promise<void> {
    try {
      await this.#rollSegment();
    } catch (cause) {
      this.log.warn({ log: this.title, cause: String(cause) }, 'no new segment could be created');
    }
    this.#writing = this.#queue.length > 0 ? this.#drain() : undefined;
  }

  /** Group commit: the records that wait at the end of a write form the next write. */
  async #drain(): Promise<void> {
    // Waits for one microtask, so that publishes of the same tick share the first write.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const group = this.#takeNextGroup();
      try {
        await this.#prepareSegment();
        await this.#write(group);
      } catch (cause) {
        await this.#handleWriteFailure(cause as Error);
        const error = new UnavailableError(`the log of ${this.title} cannot be written: ${(cause as Error).message}`, {
          cause,
        });
        for (const { reject } of group) reject(error);
      }
    }
    this.#writing = undefined;
  }

  #takeNextGroup(): PendingAppend[] {
    let bytes = 0;
    let count = 0;
    for (const pendingAppend of this.#queue) {
      if (count > 0 && bytes + pendingAppend.bytes > maxWriteBytes) break;
      bytes += pendingAppend.bytes;
      count++;
    }
    return this.#queue.splice(0, count);
  }

  /** Ensures that the last segment is open, ends with its last good byte, and has room. */
  async #prepareSegment(): Promise<void> {
    if (this.#needsRepair) await this.#repair();
    const last = this.segments.at(-1);
    if (this.#mustStartSegment || (last !== undefined && this.#isFull(last))) await this.#rollSegment();
  }

  #isFull({ size, firstTimestampMs = Number.POSITIVE_INFINITY }: Segment): boolean {
    const { segmentBytes, maxSegmentAgeMs, clock } = this.#options;
    return size >= segmentBytes || clock.now() - firstTimestampMs >= maxSegmentAgeMs;
  }

  async #write(group: readonly PendingAppend[]): Promise<void> {
    const segment = this.segments.at(-1);
    const file = this.#file;
    if (segment === undefined || file === undefined) throw new Error('the segment file is not open');
    const first = this.#end;
    const timestampMs = this.#options.clock.now();
    await file.write(await stampRecords(group, first, timestampMs), segment.size);
    try {
      await file.sync();
    } catch (error) {
      // It is unknown which pages of this file reached the disk, so nothing more is appended to it.
      this.#mustStartSegment = true;
      throw error;
    }
    this.#recordWrite(segment, group, timestampMs);
  }

  #recordWrite(segment: Segment, group: readonly PendingAppend[], timestampMs: number): void {
    let position = segment.size;
    let offset = this.#end;
    segment.firstTimestampMs ??= timestampMs;
    segment.lastTimestampMs = timestampMs;
    this.#fault = undefined;
    for (const { entries, transaction, bytes } of group) {
      if (transaction !== 0 && !this.#openTransactions.has(transaction))
        this.#openTransactions.set(transaction, offset);
      for (const { head, value, weight } of entries) {
        if (segment.index !== undefined) addIndexEntry(segment.index, offset, position);
        this.writtenWeight += weight;
        this.writtenBytes += value.length;
        position += head.length + value.length;
        offset++;
      }
      segment.size += bytes;
    }
    this.#end = offset;
    for (const { resolve } of group) resolve();
    this.#notifyListeners();
  }

  /** Truncates the file to its last good byte immediately, which frees space on a full disk. */
  async #handleWriteFailure(cause: Error): Promise<void> {
    if (this.#fault === undefined)
      this.log.error({ log: this.title, cause: cause.message }, 'the log cannot be written');
    this.#fault = cause;
    this.#needsRepair = true;
    // If this fails too, the next write tries again.
    await this.#repair().catch(() => undefined);
  }

  async #repair(): Promise<void> {
    const last = this.segments.at(-1);
    if (last === undefined) return;
    await this.#file?.close().catch(() => undefined);
    this.#file = undefined;
    const file = await this.disk.open(last.path, 'write');
    try {
      await file.truncate(last.size);
      await file.sync();
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
    this.#file = file;
    this.#needsRepair = false;
  }

  #notifyListeners(): void {
    for (const listener of this.listeners) listener();
  }
}

export const getPartitionDirectory = (directory: string, topic: string, partition: number): string =>
  join(directory, topic, String(partition));
