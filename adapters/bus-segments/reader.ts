/** Reads one partition in order, with large reads, and verifies every record. */
import { stat } from 'node:fs/promises';
import { type BusRecord, countRecords, getDecompressedBytes } from '../../schemas/ports/bus.ts';
import { type BufferPool, type PooledBuffer, pooledBufferBytes } from '../buffer-pool.ts';
import type { Disk, SegmentFile } from './disk.ts';
import type { LostRange } from './lost-messages.ts';
import { decode, hasValidChecksum, headBytes, invalidRecord, parseHead, readStamp } from './record.ts';
import { findNextValid } from './recovery.ts';
import { findPositionBefore, loadIndex, type Segment } from './segment.ts';

/** Minimum bytes of a read, unless the file is shorter. */
const minReadBytes = 1024 * 1024;
/** Maximum bytes of a read, unless a single record is larger. */
const maxReadBytes = pooledBufferBytes;

/** The parts of a partition that a reader needs. */
export interface ReadableLog {
  /** `topic/partition`, for messages. */
  readonly title: string;
  readonly disk: Disk;
  /** Segments in order; at least one. */
  readonly segments: readonly Segment[];
  /** Next offset to be written */
  readonly end: number;
  /** Offsets below it are synced and belong to no open transaction. */
  readonly stableEnd: number;
  aborted(transaction: number): boolean;
}

export interface Limits {
  readonly maxRecords: number;
  readonly maxBytes: number;
  /** Offset after the last record to read */
  readonly before: number;
}

/** Records collected for a batch. */
export class BatchBuilder {
  readonly limits: Limits;
  readonly records: BusRecord[] = [];
  weight = 0;
  bytes = 0;
  /** The batch accepts no further record. */
  closed = false;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  /** Whether a value of this size fits; closes the batch if not. */
  accepts(bytes: number): boolean {
    if (this.records.length > 0 && this.bytes + bytes > this.limits.maxBytes) this.closed = true;
    return !this.closed;
  }

  add(record: BusRecord, weight: number): void {
    this.records.push(record);
    this.weight += weight;
    this.bytes += getDecompressedBytes(record);
    if (this.weight >= this.limits.maxRecords || this.bytes >= this.limits.maxBytes) this.closed = true;
  }
}

/** A buffer from the pool with a count of its users; it is released when the count reaches 0. */
interface CountedBuffer extends PooledBuffer {
  users: number;
}

const releaseUser = (pooledBuffer: CountedBuffer): void => {
  pooledBuffer.users--;
  if (pooledBuffer.users === 0) pooledBuffer.release();
};

export class PartitionReader {
  readonly #log: ReadableLog;
  readonly #bufferPool: BufferPool;
  #next: number;
  #segment: Segment | undefined;
  #file: SegmentFile | undefined;
  /** Bytes of the segment from `#chunkStart`; those before `#at` are processed. */
  #chunk: Buffer = Buffer.alloc(0);
  #chunkStart = 0;
  #chunkPosition = 0;
  /** Memory of the chunk; memory of earlier chunks whose values are still in use. */
  #pooledBuffer: CountedBuffer | undefined;
  #retiredBuffers: CountedBuffer[] = [];

  constructor(log: ReadableLog, from: number, bufferPool: BufferPool) {
    this.#log = log;
    this.#next = from;
    this.#bufferPool = bufferPool;
  }

  /** Offset of the next record to read */
  get next(): number {
    return this.#next;
  }

  /** Releases the memory of all records read so far, for reuse. */
  release(): void {
    for (const pooledBuffer of this.#retiredBuffers.splice(0)) releaseUser(pooledBuffer);
  }

  /**
   * Transfers the memory of the records that were read since the last call to the caller, who releases it with the
   * returned function.
   */
  handOver(): () => void {
    const held = this.#retiredBuffers.splice(0);
    if (this.#pooledBuffer !== undefined) {
      this.#pooledBuffer.users++;
      held.push(this.#pooledBuffer);
    }
    return () => {
      for (const pooledBuffer of held.splice(0)) releaseUser(pooledBuffer);
    };
  }

  /** Continues from another offset. */
  async seek(offset: number): Promise<void> {
    if (offset === this.#next) return;
    await this.close();
    this.#next = offset;
  }

  /** Releases file and buffers; reading may continue afterwards. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#segment = undefined;
    this.#setBuffer(undefined);
    this.#chunk = Buffer.alloc(0);
    await file?.close();
  }

  /**
   * Reads records until the batch is closed or the stable end is reached. Stops at unreadable bytes and returns the
   * lost range; `seek` to its `to` continues after it.
   */
  async readInto(into: BatchBuilder): Promise<LostRange | undefined> {
    for (;;) {
      const end = Math.min(this.#log.stableEnd, into.limits.before);
      if (into.closed || this.#next >= end) return undefined;
      const missing = this.#segment === undefined ? await this.#openSegment() : undefined;
      if (missing !== undefined) return missing;
      const found = this.#parseChunk(into, end);
      if (found === undefined) return undefined;
      const lost =
        found.kind === 'bad'
          ? await this.#handleDamage(found.reason)
          : await this.#load(found.needed, into.limits.maxBytes - into.bytes);
      if (lost !== undefined) return lost;
    }
  }

  /** Parses the chunk. Returns why it stopped, or `undefined` when the batch needs no more records. */
  #parseChunk(into: BatchBuilder, end: number) {
    while (this.#next < end && !into.closed) {
      const found = parseHead(this.#chunk, this.#chunkPosition);
      if (found.kind !== 'record') return found;
      const isExpected = found.offset === this.#next;
      // Before the checksum, so that a record that closes a batch is not verified twice.
      if (isExpected && !into.accepts(found.valueLength)) return undefined;
      if (!hasValidChecksum(this.#chunk, this.#chunkPosition, found.length))
        return invalidRecord('its checksum does not match');
      if (found.offset > this.#next) return invalidRecord(`the next record has offset ${found.offset}`);
      if (isExpected) this.#accept(into);
      this.#chunkPosition += found.length;
    }
    return undefined;
  }

  /** Accepts the record at the current position, which has the next offset and a valid checksum. */
  #accept(into: BatchBuilder): void {
    const { transaction } = readStamp(this.#chunk, this.#chunkPosition);
    if (transaction === 0 || !this.#log.aborted(transaction)) {
      const record = decode(this.#chunk, this.#chunkPosition);
      into.add(record, countRecords(record.headers));
    }
    this.#next++;
  }

  /** Opens the segment that contains the next offset. */
  async #openSegment(): Promise<LostRange | undefined> {
    const segment = this.#log.segments.findLast(({ base }) => base <= this.#next);
    if (segment === undefined) return this.#missing();
    const index = await loadIndex(segment);
    this.#file = await this.#log.disk.open(segment.path, 'read');
    this.#segment = segment;
    this.#moveTo(findPositionBefore(index, this.#next));
    return undefined;
  }

  #setBuffer(pooledBuffer: CountedBuffer | undefined): void {
    if (this.#pooledBuffer !== undefined) this.#retiredBuffers.push(this.#pooledBuffer);
    this.#pooledBuffer = pooledBuffer;
  }

  #moveTo(position: number): void {
    this.#setBuffer(undefined);
    this.#chunkStart = position;
    this.#chunk = Buffer.alloc(0);
    this.#chunkPosition = 0;
  }

  /**
   * Reads the next piece, from the first record that the chunk does not contain completely. At the end of the segment
   * it continues with the next segment.
   */
  async #load(needed: number, requestedBytes: number): Promise<LostRange | undefined> {
    const segment = this.#segment;
    const file = this.#file;
    if (segment === undefined || file === undefined) return undefined;
    const position = this.#chunkStart + this.#chunkPosition;
    const left = segment.size - position;
    if (left <= 0) return this.#openNextSegment(segment);
    if (left < needed) return this.#handleDamage('it is cut short');
    const piece = Math.max(needed, minReadBytes, Math.min(requestedBytes + headBytes, maxReadBytes));
    const pooledBuffer = { ...this.#bufferPool.acquire(Math.min(left, piece)), users: 1 };
    const filled = await file.read(pooledBuffer.bytes, position);
    this.#moveTo(position);
    this.#setBuffer(pooledBuffer);
    this.#chunk = pooledBuffer.bytes.subarray(0, filled);
    return filled < needed ? this.#handleDamage('the file is shorter than it was') : undefined;
  }

  async #openNextSegment(segment: Segment): Promise<LostRange | undefined> {
    const following = this.#log.segments.find(({ base }) => base > segment.base);
    await this.close();
    return following === undefined || following.base > this.#next ? this.#missing() : undefined;
  }

  /** Returns the lost range when no segment contains the next offset. */
  async #missing(): Promise<LostRange> {
    const from = this.#next;
    const following = this.#log.segments.find(({ base }) => base > from);
    const file = following?.path ?? this.#log.segments.at(-1)?.path ?? '';
    const reason = 'no segment file has them';
    const to = following?.base ?? this.#log.end;
    return { from, to, file, position: 0, bytes: 0, reason, timestampMs: await getModificationTime(file) };
  }

  /** Handles an invalid record at the current position: returns the lost range, unless no needed record is lost. */
  async #handleDamage(reason: string): Promise<LostRange | undefined> {
    const segment = this.#segment;
    const file = this.#file;
    if (segment === undefined || file === undefined) return undefined;
    const position = this.#chunkStart + this.#chunkPosition;
    // An index file may be stale or damaged too: the records themselves decide.
    if (this.#chunkStart > 0 && (segment.index?.positions.length ?? 0) > 0 && this.#chunkPosition === 0) {
      segment.index = { offsets: [], positions: [] };
      this.#moveTo(0);
      return undefined;
    }
    // Read both before the search, so that records written in the meantime do not count as lost.
    const { size } = segment;
    const end = this.#log.segments.find(({ base }) => base > segment.base)?.base ?? this.#log.end;
    const good = await findNextValid(file, size, position);
    // The damage is before the requested offset and does not matter.
    if (good !== undefined && good.stamp.offset <= this.#next) {
      this.#moveTo(good.position);
      return undefined;
    }
    return {
      from: this.#next,
      to: good?.stamp.offset ?? end,
      file: segment.path,
      position,
      bytes: (good?.position ?? size) - position,
      reason,
      timestampMs: good?.stamp.timestampMs ?? (await getModificationTime(segment.path)),
    };
  }
}

const getModificationTime = async (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => Math.floor(mtimeMs),
    () => 0,
  );
