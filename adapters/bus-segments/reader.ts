/** Reads one partition in order, in large pieces, checking every record. */
import { stat } from 'node:fs/promises';
import { type BusRecord, bytesIn, recordsIn } from '../../schemas/ports/bus.ts';
import { type BufferPool, type PooledBuffer, pooledBufferBytes } from '../buffer-pool.ts';
import type { Disk, SegmentFile } from './disk.ts';
import type { Lost } from './lost-messages.ts';
import { bad, decode, find, headBytes, stampOf, verified } from './record.ts';
import { nextGood } from './recovery.ts';
import { loadIndex, positionBefore, type Segment } from './segment.ts';

/** Pieces are read at least this large where the file has as much, … */
const minPieceBytes = 1024 * 1024;
/** … and at most this large, unless one record is larger. */
const maxPieceBytes = pooledBufferBytes;

/** The parts of a partition that a reader needs. */
export interface ReadableLog {
  /** `topic/partition`, for people. */
  readonly title: string;
  readonly disk: Disk;
  /** In order; at least one. */
  readonly segments: readonly Segment[];
  /** The next offset to be written. */
  readonly end: number;
  /** Offsets below are synced and no open transaction has one. */
  readonly stableEnd: number;
  aborted(transaction: number): boolean;
}

export interface Limits {
  readonly maxRecords: number;
  readonly maxBytes: number;
  /** Offset after the last record to take. */
  readonly before: number;
}

/** Records on their way to becoming a batch. */
export class Gathered {
  readonly limits: Limits;
  readonly records: BusRecord[] = [];
  weight = 0;
  bytes = 0;
  /** No further record goes in. */
  closed = false;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  /** Whether a value of this size still goes in; closes where not. */
  accepts(bytes: number): boolean {
    if (this.records.length > 0 && this.bytes + bytes > this.limits.maxBytes) this.closed = true;
    return !this.closed;
  }

  add(record: BusRecord, weight: number): void {
    this.records.push(record);
    this.weight += weight;
    this.bytes += bytesIn(record);
    if (this.weight >= this.limits.maxRecords || this.bytes >= this.limits.maxBytes) this.closed = true;
  }
}

/** A slab that several pieces of a partition lie in. */
interface CountedBuffer extends PooledBuffer {
  users: number;
}

const letGo = (pooledBuffer: CountedBuffer): void => {
  pooledBuffer.users--;
  if (pooledBuffer.users === 0) pooledBuffer.release();
};

export class PartitionReader {
  readonly #log: ReadableLog;
  readonly #bufferPool: BufferPool;
  #next: number;
  #segment: Segment | undefined;
  #file: SegmentFile | undefined;
  /** Bytes of the segment from `#chunkStart`; those before `#at` are done with. */
  #chunk: Buffer = Buffer.alloc(0);
  #chunkStart = 0;
  #at = 0;
  /** Memory of the chunk; of those before it that values may still be read from. */
  #pooledBuffer: CountedBuffer | undefined;
  #left: CountedBuffer[] = [];

  constructor(log: ReadableLog, from: number, bufferPool: BufferPool) {
    this.#log = log;
    this.#next = from;
    this.#bufferPool = bufferPool;
  }

  /** Offset of the next record to be read. */
  get next(): number {
    return this.#next;
  }

  /** Nothing that was taken so far is read any more: its memory is used again. */
  release(): void {
    for (const pooledBuffer of this.#left.splice(0)) letGo(pooledBuffer);
  }

  /** Hands the memory over of what was taken since the last call: it is used again once what this answers is called. */
  handOver(): () => void {
    const held = this.#left.splice(0);
    if (this.#pooledBuffer !== undefined) {
      this.#pooledBuffer.users++;
      held.push(this.#pooledBuffer);
    }
    return () => {
      for (const pooledBuffer of held.splice(0)) letGo(pooledBuffer);
    };
  }

  /** Goes on from another offset. */
  async seek(offset: number): Promise<void> {
    if (offset === this.#next) return;
    await this.close();
    this.#next = offset;
  }

  /** Lets go of file and buffers; reading may go on afterwards. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#segment = undefined;
    this.#hold(undefined);
    this.#chunk = Buffer.alloc(0);
    await file?.close();
  }

  /**
   * Takes records until the gathering is closed or the stable end is reached. At bytes that cannot be read it stops
   * and returns what is lost; `seek` to its `to` continues behind them.
   */
  async readInto(into: Gathered): Promise<Lost | undefined> {
    for (;;) {
      const end = Math.min(this.#log.stableEnd, into.limits.before);
      if (into.closed || this.#next >= end) return undefined;
      const missing = this.#segment === undefined ? await this.#enter() : undefined;
      if (missing !== undefined) return missing;
      const found = this.#gather(into, end);
      if (found === undefined) return undefined;
      const lost =
        found.kind === 'bad'
          ? await this.#damaged(found.reason)
          : await this.#load(found.needed, into.limits.maxBytes - into.bytes);
      if (lost !== undefined) return lost;
    }
  }

  /** Parses what the chunk holds. Answers why it stopped, `undefined` when nothing more is wanted. */
  #gather(into: Gathered, end: number) {
    while (this.#next < end && !into.closed) {
      const found = find(this.#chunk, this.#at);
      if (found.kind !== 'record') return found;
      const isExpected = found.offset === this.#next;
      // Before the checksum, so that what closes a batch is not checked twice.
      if (isExpected && !into.accepts(found.valueLength)) return undefined;
      if (!verified(this.#chunk, this.#at, found.length)) return bad('its checksum does not match');
      if (found.offset > this.#next) return bad(`the next record has offset ${found.offset}`);
      if (isExpected) this.#accept(into);
      this.#at += found.length;
    }
    return undefined;
  }

  /** The record at the reader's place has the next offset and is sound. */
  #accept(into: Gathered): void {
    const { transaction } = stampOf(this.#chunk, this.#at);
    if (transaction === 0 || !this.#log.aborted(transaction)) {
      const record = decode(this.#chunk, this.#at);
      into.add(record, recordsIn(record.headers));
    }
    this.#next++;
  }

  /** Opens the segment that has the next offset. */
  async #enter(): Promise<Lost | undefined> {
    const segment = this.#log.segments.findLast(({ base }) => base <= this.#next);
    if (segment === undefined) return this.#missing();
    const index = await loadIndex(segment);
    this.#file = await this.#log.disk.open(segment.path, 'read');
    this.#segment = segment;
    this.#place(positionBefore(index, this.#next));
    return undefined;
  }

  #hold(pooledBuffer: CountedBuffer | undefined): void {
    if (this.#pooledBuffer !== undefined) this.#left.push(this.#pooledBuffer);
    this.#pooledBuffer = pooledBuffer;
  }

  #place(position: number): void {
    this.#hold(undefined);
    this.#chunkStart = position;
    this.#chunk = Buffer.alloc(0);
    this.#at = 0;
  }

  /** Reads the next piece, from the record that the chunk does not hold whole; at the segment's end goes to the next one. */
  async #load(needed: number, requestedBytes: number): Promise<Lost | undefined> {
    const segment = this.#segment;
    const file = this.#file;
    if (segment === undefined || file === undefined) return undefined;
    const position = this.#chunkStart + this.#at;
    const left = segment.size - position;
    if (left <= 0) return this.#leave(segment);
    if (left < needed) return this.#damaged('it is cut short');
    const piece = Math.max(needed, minPieceBytes, Math.min(requestedBytes + headBytes, maxPieceBytes));
    const pooledBuffer = { ...this.#bufferPool.acquire(Math.min(left, piece)), users: 1 };
    const filled = await file.read(pooledBuffer.bytes, position);
    this.#place(position);
    this.#hold(pooledBuffer);
    this.#chunk = pooledBuffer.bytes.subarray(0, filled);
    return filled < needed ? this.#damaged('the file is shorter than it was') : undefined;
  }

  async #leave(segment: Segment): Promise<Lost | undefined> {
    const following = this.#log.segments.find(({ base }) => base > segment.base);
    await this.close();
    return following === undefined || following.base > this.#next ? this.#missing() : undefined;
  }

  /** The next offset lies in no segment. */
  async #missing(): Promise<Lost> {
    const from = this.#next;
    const following = this.#log.segments.find(({ base }) => base > from);
    const file = following?.path ?? this.#log.segments.at(-1)?.path ?? '';
    const reason = 'no segment file has them';
    const to = following?.base ?? this.#log.end;
    return { from, to, file, byte: 0, bytes: 0, reason, timestampMs: await writtenAt(file) };
  }

  /** The record at the reader's place is not what it should be: answers what is lost, unless nothing is that is wanted. */
  async #damaged(reason: string): Promise<Lost | undefined> {
    const segment = this.#segment;
    const file = this.#file;
    if (segment === undefined || file === undefined) return undefined;
    const position = this.#chunkStart + this.#at;
    // An index file may be stale or damaged too: the records themselves decide.
    if (this.#chunkStart > 0 && (segment.index?.positions.length ?? 0) > 0 && this.#at === 0) {
      segment.index = { offsets: [], positions: [] };
      this.#place(0);
      return undefined;
    }
    // Both before the search: what is written meanwhile is not lost.
    const { size } = segment;
    const end = this.#log.segments.find(({ base }) => base > segment.base)?.base ?? this.#log.end;
    const good = await nextGood(file, size, position);
    // On the way to a later offset: what is damaged here is not wanted.
    if (good !== undefined && good.stamp.offset <= this.#next) {
      this.#place(good.position);
      return undefined;
    }
    return {
      from: this.#next,
      to: good?.stamp.offset ?? end,
      file: segment.path,
      byte: position,
      bytes: (good?.position ?? size) - position,
      reason,
      timestampMs: good?.stamp.timestampMs ?? (await writtenAt(segment.path)),
    };
  }
}

const writtenAt = async (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => Math.floor(mtimeMs),
    () => 0,
  );
