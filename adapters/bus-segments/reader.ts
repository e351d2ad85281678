/** Reads one partition in order, with large reads, and verifies every record. */
import { stat } from 'node:fs/promises';
import { type BusRecord, countRecords, getDecompressedBytes } from '../../schemas/ports/bus.ts';
import { type BufferPool, type PooledBuffer, pooledBufferBytes } from '../buffer-pool.ts';
import type { Disk, SegmentFile } from './disk.ts';
import type { LostRange } from './lost-messages.ts';
import { decodeRecord, hasValidChecksum, headBytes, invalidRecord, parseHeader, readStamp } from './record.ts';
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
  isAborted(transaction: number): boolean;
}

export interface ReadLimits {
  readonly maxRecords: number;
  readonly maxBytes: number;
  /** Offset after the last record to read */
  readonly endOffset: number;
}

/** Records collected for a batch. */
export class BatchBuilder {
  readonly limits: ReadLimits;
  readonly records: BusRecord[] = [];
  weight = 0;
  bytes = 0;
  /** The batch accepts no further record. */
  isClosed = false;

  constructor(limits: ReadLimits) {
    this.limits = limits;
  }

  /** Whether a value of this size fits; closes the batch if not. */
  accepts(bytes: number): boolean {
    if (this.records.length > 0 && this.bytes + bytes > this.limits.maxBytes) this.isClosed = true;
    return !this.isClosed;
  }

  add(record: BusRecord, weight: number): void {
    this.records.push(record);
    this.weight += weight;
    this.bytes += getDecompressedBytes(record);
    if (this.weight >= this.limits.maxRecords || this.bytes >= this.limits.maxBytes) this.isClosed = true;
  }
}

/** A buffer from the pool with a count of its users; it is released when the count reaches 0. */
interface RefCountedBuffer extends PooledBuffer {
  referenceCount: number;
}

const releaseReference = (pooledBuffer: RefCountedBuffer): void => {
  pooledBuffer.referenceCount--;
  if (pooledBuffer.referenceCount === 0) pooledBuffer.release();
};

export class PartitionReader {
  readonly #log: ReadableLog;
  readonly #bufferPool: BufferPool;
  #nextOffset: number;
  #segment: Segment | undefined;
  #file: SegmentFile | undefined;
  /** Bytes of the segment from `#chunkStart`; those before `#chunkPosition` are processed. */
  #chunk: Buffer = Buffer.alloc(0);
  #chunkStart = 0;
  #chunkPosition = 0;
  /** Memory of the chunk; memory of earlier chunks whose values are still in use. */
  #pooledBuffer: RefCountedBuffer | undefined;
  #retiredBuffers: RefCountedBuffer[] = [];

  constructor(log: ReadableLog, from: number, bufferPool: BufferPool) {
    this.#log = log;
    this.#nextOffset = from;
    this.#bufferPool = bufferPool;
  }

  /** Offset of the next record to read */
  get nextOffset(): number {
    return this.#nextOffset;
  }

  /** Releases the memory of all records read so far, for reuse. */
  release(): void {
    for (const pooledBuffer of this.#retiredBuffers.splice(0)) releaseReference(pooledBuffer);
  }

  /**
   * Transfers the memory of the records read since the last call. The caller releases it with the returned function.
   */
  handOver(): () => void {
    const heldBuffers = this.#retiredBuffers.splice(0);
    if (this.#pooledBuffer !== undefined) {
      this.#pooledBuffer.referenceCount++;
      heldBuffers.push(this.#pooledBuffer);
    }
    return () => {
      for (const pooledBuffer of heldBuffers.splice(0)) releaseReference(pooledBuffer);
    };
  }

  /** Continues from another offset. */
  async seek(offset: number): Promise<void> {
    if (offset === this.#nextOffset) return;
    await this.close();
    this.#nextOffset = offset;
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
  async readInto(batch: BatchBuilder): Promise<LostRange | undefined> {
    for (;;) {
      const end = Math.min(this.#log.stableEnd, batch.limits.endOffset);
      if (batch.isClosed || this.#nextOffset >= end) return undefined;
      const missingRange = this.#segment === undefined ? await this.#openSegment() : undefined;
      if (missingRange !== undefined) return missingRange;
      const parseResult = this.#parseChunk(batch, end);
      if (parseResult === undefined) return undefined;
      const lost =
        parseResult.kind === 'bad'
          ? await this.#handleDamage(parseResult.reason)
          : await this.#load(parseResult.needed, batch.limits.maxBytes - batch.bytes);
      if (lost !== undefined) return lost;
    }
  }

  /** Parses the chunk. Returns why it stopped, or `undefined` when the batch needs no more records. */
  #parseChunk(into: BatchBuilder, end: number) {
    while (this.#nextOffset < end && !into.isClosed) {
      const head = parseHeader(this.#chunk, this.#chunkPosition);
      if (head.kind !== 'record') return head;
      const isExpected = head.offset === this.#nextOffset;
      // Checked before the checksum, so a record that closes a batch is not verified twice.
      if (isExpected && !into.accepts(head.valueLength)) return undefined;
      if (!hasValidChecksum(this.#chunk, this.#chunkPosition, head.length))
        return invalidRecord('its checksum does not match');
      if (head.offset > this.#nextOffset) return invalidRecord(`the next record has offset ${head.offset}`);
      if (isExpected) this.#accept(into);
      this.#chunkPosition += head.length;
    }
    return undefined;
  }

  /** Accepts the record at the current position, which has the next offset and a valid checksum. */
  #accept(into: BatchBuilder): void {
    const { transaction } = readStamp(this.#chunk, this.#chunkPosition);
    if (transaction === 0 || !this.#log.isAborted(transaction)) {
      const record = decodeRecord(this.#chunk, this.#chunkPosition);
      into.add(record, countRecords(record.headers));
    }
    this.#nextOffset++;
  }

  /** Opens the segment that contains the next offset. */
  async #openSegment(): Promise<LostRange | undefined> {
    const segment = this.#log.segments.findLast(({ baseOffset }) => baseOffset <= this.#nextOffset);
    if (segment === undefined) return this.#missing();
    const index = await loadIndex(segment);
    this.#file = await this.#log.disk.open(segment.path, 'read');
    this.#segment = segment;
    this.#moveTo(findPositionBefore(index, this.#nextOffset));
    return undefined;
  }

  #setBuffer(pooledBuffer: RefCountedBuffer | undefined): void {
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
   * Reads the next chunk, which begins with the first record that the current chunk does not contain completely. At the
   * end of the segment, continues with the next segment.
   */
  async #load(needed: number, requestedBytes: number): Promise<LostRange | undefined> {
    const segment = this.#segment;
    const file = this.#file;
    if (segment === undefined || file === undefined) return undefined;
    const position = this.#chunkStart + this.#chunkPosition;
    const left = segment.size - position;
    if (left <= 0) return this.#openNextSegment(segment);
    if (left < needed) return this.#handleDamage('it is cut short');
    const readSize = Math.max(needed, minReadBytes, Math.min(requestedBytes + headBytes, maxReadBytes));
    const pooledBuffer = { ...this.#bufferPool.acquire(Math.min(left, readSize)), referenceCount: 1 };
    const bytesRead = await file.read(pooledBuffer.bytes, position);
    this.#moveTo(position);
    this.#setBuffer(pooledBuffer);
    this.#chunk = pooledBuffer.bytes.subarray(0, bytesRead);
    return bytesRead < needed ? this.#handleDamage('the file is shorter than it was') : undefined;
  }

  async #openNextSegment(segment: Segment): Promise<LostRange | undefined> {
    const nextSegment = this.#log.segments.find(({ baseOffset }) => baseOffset > segment.baseOffset);
    await this.close();
    return nextSegment === undefined || nextSegment.baseOffset > this.#nextOffset ? this.#missing() : undefined;
  }

  /** Returns the lost range when no segment contains the next offset. */
  async #missing(): Promise<LostRange> {
    const from = this.#nextOffset;
    const following = this.#log.segments.find(({ baseOffset }) => baseOffset > from);
    const file = following?.path ?? this.#log.segments.at(-1)?.path ?? '';
    const reason = 'no segment file has them';
    const to = following?.baseOffset ?? this.#log.end;
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
    const end =
      this.#log.segments.find(({ baseOffset }) => baseOffset > segment.baseOffset)?.baseOffset ?? this.#log.end;
    const nextRecord = await findNextValid(file, size, position);
    // The damage is before the requested offset and does not matter.
    if (nextRecord !== undefined && nextRecord.stamp.offset <= this.#nextOffset) {
      this.#moveTo(nextRecord.position);
      return undefined;
    }
    return {
      from: this.#nextOffset,
      to: nextRecord?.stamp.offset ?? end,
      file: segment.path,
      position,
      bytes: (nextRecord?.position ?? size) - position,
      reason,
      timestampMs: nextRecord?.stamp.timestampMs ?? (await getModificationTime(segment.path)),
    };
  }
}

const getModificationTime = async (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => Math.floor(mtimeMs),
    () => 0,
  );
