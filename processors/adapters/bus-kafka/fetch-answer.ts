/** The answer to a Fetch request of version 15. The driver's own parser copies every value into memory of its own. */
import { Reader, type RecordsBatch, ResponseError, readRecordsBatches } from '@platformatic/kafka';
import type { Slab, Slabs } from './slabs.ts';

/** What a broker says of one partition. */
export interface PartitionAnswer {
  readonly partitionIndex: number;
  readonly errorCode: number;
  readonly abortedTransactions: readonly { readonly producerId: bigint; readonly firstOffset: bigint }[] | null;
  /** Keys, values and headers lie in `slab`, those of a compressed batch in memory of their own. */
  readonly records: readonly RecordsBatch[];
  readonly slab: Slab | undefined;
}

export interface FetchAnswer {
  readonly responses: readonly { readonly topicId: string; readonly partitions: readonly PartitionAnswer[] }[];
}

const errorOf = (code: number): [number, null] => [code, null];

/** Copies the records' bytes out of the connection's chunks, once. */
const slabOf = (reader: Reader, bytes: number, slabs: Slabs): Slab => {
  const slab = slabs.take(bytes);
  let at = 0;
  for (const chunk of reader.buffer.subarray(reader.position, reader.position + bytes).buffers)
    at += chunk.copy(slab.bytes, at);
  reader.skip(bytes);
  return slab;
};

const readPartition = (reader: Reader, slabs: Slabs): PartitionAnswer => {
  const partitionIndex = reader.readInt32();
  const errorCode = reader.readInt16();
  reader.readInt64(); // High watermark
  reader.readInt64(); // Last stable offset
  reader.readInt64(); // First offset
  const abortedTransactions = reader.readNullableArray((entry) => ({
    producerId: entry.readInt64(),
    firstOffset: entry.readInt64(),
  }));
  reader.readInt32(); // Preferred replica
  const bytes = reader.readUnsignedVarInt() - 1;
  const slab = bytes > 0 ? slabOf(reader, bytes, slabs) : undefined;
  const records = slab === undefined ? [] : readRecordsBatches(Reader.from(slab.bytes));
  return { partitionIndex, errorCode, abortedTransactions, records, slab };
};

/** Makes the parser of answers. As the driver's, it throws a `ResponseError` with the answer when a partition has an error. */
export const fetchAnswerIn =
  (slabs: Slabs) =>
  (_correlation: number, apiKey: number, apiVersion: number, reader: Reader): FetchAnswer => {
    const errors: Record<string, [number, null]> = {};
    reader.readInt32(); // Throttle time
    const errorCode = reader.readInt16();
    if (errorCode !== 0) errors[''] = errorOf(errorCode);
    reader.readInt32(); // Session
    const responses = reader.readArray((topic, i) => ({
      topicId: topic.readUUID(),
      partitions: topic.readArray((partition, j) => {
        const answer = readPartition(partition, slabs);
        if (answer.errorCode !== 0) errors[`/responses/${i}/partitions/${j}`] = errorOf(answer.errorCode);
        return answer;
      }),
    }));
    reader.readTaggedFields();
    const answer = { responses };
    if (Object.keys(errors).length > 0) throw new ResponseError(apiKey, apiVersion, errors, answer);
    return answer;
  };
