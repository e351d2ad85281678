/** Selects the messages to send in one request. */
import { batchOverhead, type OutgoingMessage } from './wire.ts';

/** Maximum bytes of a request. */
const maxBytes = 32 * 1024 * 1024;

/**
 * Returns the largest set of messages from the front of the queue that fits into one request. All messages of a
 * partition become one record batch, which counts as one message for the topic's size limit. When a partition is full,
 * its later messages wait too, which preserves their order.
 */
export const selectForRequest = <Entry extends OutgoingMessage>(
  queue: readonly Entry[],
  getMaxBytes: (topic: string) => number,
): { round: Entry[]; remaining: Entry[] } => {
  const bytesByPartition = new Map<string, number>();
  const fullPartitions = new Set<string>();
  const selected: Entry[] = [];
  const remaining: Entry[] = [];
  let totalBytes = 0;
  for (const entry of queue) {
    const key = `${entry.topic}:${entry.partition}`;
    const partitionBytes = bytesByPartition.get(key) ?? batchOverhead;
    const isWithinLimit = partitionBytes === batchOverhead || partitionBytes + entry.bytes <= getMaxBytes(entry.topic);
    if (fullPartitions.has(key) || !isWithinLimit || (selected.length > 0 && totalBytes + entry.bytes > maxBytes)) {
      fullPartitions.add(key);
      remaining.push(entry);
      continue;
    }
    bytesByPartition.set(key, partitionBytes + entry.bytes);
    totalBytes += entry.bytes;
    selected.push(entry);
  }
  return { round: selected, remaining };
};
