/** The response to a Fetch request of version 15. The driver's own parser copies every value into separate memory. */
import { Reader, type RecordsBatch, readRecordsBatches } from '@platformatic/kafka';
import type { BufferPool, PooledBuffer } from '../buffer-pool.ts';
import { maxReadBytes, type Parser } from './fetch-buffer.ts';

/** A broker's response for one partition. */
export interface PartitionResponse {
  readonly partitionIndex: number;
  readonly errorCode: number;
  /** Replica that the leader prefers for reads instead of itself; -1 for none. */
  readonly preferredReplica: number;
  readonly abortedTransactions: readonly { readonly producerId: bigint; readonly firstOffset: bigint }[];
  /** Keys, values and headers are in `pooledBuffer`; those of a compressed batch have their own memory. */
  readonly records: readonly RecordsBatch[];
  readonly pooledBuffer: PooledBuffer | undefined;
}

interface TopicResponse {
  readonly topicId: string;
  readonly partitions: readonly PartitionResponse[];
}

export interface FetchResponse {
  readonly errorCode: number;
  readonly responses: readonly TopicResponse[];
}

/** Parses a fetch response, starting after its correlation id. Records are read into buffers of `bufferPool`. */
export function* parseFetchResponse(bufferPool: BufferPool): Parser<FetchResponse> {
  yield* skipTaggedFields();
  const head = yield 10; // Throttle time, error, session
  const errorCode = head.readInt16BE(4);
  const responses: TopicResponse[] = [];
  for (let remainingTopics = yield* readArrayLength(); remainingTopics > 0; remainingTopics--) {
    const topicId = (yield 16).toString('hex');
    const partitions: PartitionResponse[] = [];
    for (let remainingPartitions = yield* readArrayLength(); remainingPartitions > 0; remainingPartitions--) {
      partitions.push(yield* parsePartitionResponse(bufferPool));
      yield* skipTaggedFields();
    }
    yield* skipTaggedFields();
    responses.push({ topicId: formatUuid(topicId), partitions });
  }
  yield* skipTaggedFields();
  return { errorCode, responses };
}

function* parsePartitionResponse(bufferPool: BufferPool): Parser<PartitionResponse> {
  const head = yield 30; // …, high watermark, last stable offset, first offset
  const partitionIndex = head.readInt32BE(0);
  const errorCode = head.readInt16BE(4);
  const abortedTransactions: { producerId: bigint; firstOffset: bigint }[] = [];
  for (let remainingTransactions = yield* readArrayLength(); remainingTransactions > 0; remainingTransactions--) {
    const entry = yield 16;
    abortedTransactions.push({ producerId: entry.readBigInt64BE(0), firstOffset: entry.readBigInt64BE(8) });
    yield* skipTaggedFields();
  }
  const preferredReplica = (yield 4).readInt32BE(0);
  const bytes = yield* readArrayLength();
  const pooledBuffer = bytes > 0 ? bufferPool.acquire(bytes) : undefined;
  if (pooledBuffer !== undefined) yield pooledBuffer.bytes;
  const records = pooledBuffer === undefined ? [] : readRecordsBatches(Reader.from(pooledBuffer.bytes));
  return { partitionIndex, errorCode, preferredReplica, abortedTransactions, records, pooledBuffer };
}

/** Length of a compact array; `null` and empty both return 0. */
function* readArrayLength(): Parser<number> {
  return Math.max(0, (yield* readVarint()) - 1);
}

function* readVarint(): Parser<number> {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = (yield 1)[0] ?? 0;
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return value;
  }
  throw new Error('a number in Kafka’s response is too long');
}

/** Skips fields that a later version may add. */
function* skipTaggedFields(): Parser<void> {
  for (let left = yield* readVarint(); left > 0; left--) {
    yield* readVarint();
    for (let bytes = yield* readVarint(); bytes > 0; bytes -= maxReadBytes) yield Math.min(bytes, maxReadBytes);
  }
}

const formatUuid = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
