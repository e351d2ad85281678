/** Finds the bounds of a partition, and the offset of a time. */
import type { Bus, BusRecord } from '../../schemas/ports/bus.ts';

export type PartitionSource = Pick<Bus, 'offsets' | 'read'>;

export interface Bounds {
  /** First retained offset. */
  readonly earliest: number;
  /** Next offset to be committed. */
  readonly end: number;
}

export const readBounds = async (bus: PartitionSource, topic: string, partition: number): Promise<Bounds> => {
  const bounds = (await bus.offsets(topic)).find((partitionOffsets) => partitionOffsets.partition === partition);
  if (bounds === undefined) throw new Error(`topic ${topic} has no partition ${partition}`);
  return bounds;
};

const readFirstRecord = async (
  bus: PartitionSource,
  topic: string,
  partition: number,
  from: number,
  to: number,
): Promise<BusRecord | undefined> => {
  for await (const record of bus.read(topic, partition, from, to)) return record;
  return undefined;
};

/**
 * Returns the first offset up to `to` whose message was received at `sinceMs` or later. Message times increase
 * roughly with the offsets.
 */
export const findOffsetSince = async (
  bus: PartitionSource,
  { topic, partition, from, to }: { topic: string; partition: number; from: number; to: number },
  sinceMs: number,
): Promise<number> => {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const record = await readFirstRecord(bus, topic, partition, middle, high);
    if (record === undefined || record.timestampMs >= sinceMs) high = middle;
    else low = record.offset + 1;
  }
  return low;
};

const maxBatchBytes = 8 * 1024 * 1024;
const maxBatchMessages = 5_000;

/** Yields the messages with `from <= offset < to`, in batches. */
export async function* readBatches(
  bus: PartitionSource,
  { topic, partition, from, to }: { topic: string; partition: number; from: number; to: number },
): AsyncGenerator<BusRecord[], void, undefined> {
  let batch: BusRecord[] = [];
  let bytes = 0;
  for await (const record of bus.read(topic, partition, from, to)) {
    batch.push(record);
    bytes += record.value.length;
    if (bytes < maxBatchBytes && batch.length < maxBatchMessages) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}
