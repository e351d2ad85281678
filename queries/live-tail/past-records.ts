/**
 * Reads past records for a listener before it is attached to the shared partitions: the last records, or those since
 * the positions of its token.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Semaphore } from '../../runtime/semaphore.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Partition } from '../../schemas/records/source.ts';
import { createLongPauseHooks, longPauseMs, type PartitionRange, readLastRecords } from './last-records.ts';
import type { Listener } from './listener.ts';
import { offerMatchingRecords, type RecordHooks, selectTargets } from './match-records.ts';
import type { PartitionTail } from './partition-tail.ts';

/** Length of a time slice for reading the past; the pause after it is longer. */
const timeSliceMs = 5;
/**
 * A listener that has not caught up after this many bytes, or after this time, continues at the end of the
 * partition.
 */
const maxCatchUpBytes = 256 * 1024 * 1024;
const maxCatchUpMs = 120_000;

export interface PastDependencies {
  readonly bus: Pick<Bus, 'read'>;
  /** Limits concurrent readers of the past. */
  readonly slots: Semaphore;
}

/** Offers a listener the last matching records by bus time, and positions it at the ends of the partitions. */
export const offerLastRecords = async (
  listener: Listener,
  maxRecords: number,
  partitions: readonly PartitionRange[],
  dependencies: PastDependencies,
): Promise<void> => {
  const request = { listenerFilter: listener.listenerFilter, maxRecords, isClosed: () => listener.isClosed };
  await dependencies.slots.acquire();
  const lastRecords = await readLastRecords(request, partitions, dependencies.bus).finally(() =>
    dependencies.slots.release(),
  );
  for (const { topicPartition, end } of partitions) {
    const firstPosition = lastRecords.find(({ partition }) => partition === topicPartition.partition)?.position;
    listener.setStart(topicPartition.partition, firstPosition ?? { offset: end, ordinal: 0 });
  }
  for (const { text, partition, position } of lastRecords) {
    await listener.waitForRoom();
    listener.enqueue(text, partition, position);
  }
  for (const { topicPartition, end } of partitions) listener.markRead(topicPartition.partition, end - 1);
};

/** Work of one listener to catch up. */
interface CatchUpWork {
  bytes: number;
  readonly deadlineMs: number;
}

const hasExceededLimits = ({ bytes, deadlineMs }: CatchUpWork): boolean =>
  bytes > maxCatchUpBytes || performance.now() > deadlineMs;

/** Offers a listener its records up to an offset; stops early at the limits. */
const readUpTo = async (
  listener: Listener,
  { topic, partition }: Partition,
  to: number,
  { bus, slots }: PastDependencies,
  work: CatchUpWork,
): Promise<void> => {
  const hooks: RecordHooks = {
    ...createLongPauseHooks(),
    isPauseDue: () => listener.isFull,
    async pause() {
      if (!listener.isFull) return sleep(longPauseMs);
      // A slow reader must not block others.
      slots.release();
      await listener.waitForRoom();
      await slots.acquire();
    },
  };
  const { offset: from } = listener.position(partition) ?? { offset: to };
  let sliceStartMs = performance.now();
  for await (const message of bus.read(topic, partition, from, to)) {
    work.bytes += message.value.length;
    const targets = selectTargets(message, [listener]);
    if (targets.length > 0) await offerMatchingRecords(message, { topic, partition }, targets, hooks);
    listener.markRead(partition, message.offset);
    if (listener.isClosed || hasExceededLimits(work)) return;
    if (performance.now() - sliceStartMs < timeSliceMs) continue;
    await sleep(longPauseMs);
    sliceStartMs = performance.now();
  }
  listener.markRead(partition, to - 1);
};

/** Reads the records that a listener lacks until it has caught up with the attached listeners, and attaches it. */
export const catchUp = async (
  listener: Listener,
  tail: PartitionTail,
  dependencies: PastDependencies,
): Promise<void> => {
  const { partition } = tail.topicPartition;
  const hasCaughtUp = (): boolean => (listener.position(partition)?.offset ?? 0) >= tail.nextOffset;
  const work = { bytes: 0, deadlineMs: performance.now() + maxCatchUpMs };
  while (!listener.isClosed && !hasCaughtUp()) {
    await dependencies.slots.acquire();
    try {
      await readUpTo(listener, tail.topicPartition, tail.nextOffset, dependencies, work);
    } finally {
      dependencies.slots.release();
    }
    if (hasExceededLimits(work)) return attachWithGap(listener, tail);
  }
  if (!listener.isClosed) tail.attach(listener);
};

/** Attaches the listener at the current position, and marks that records are missing. */
export const attachWithGap = (listener: Listener, tail: PartitionTail): void => {
  if (listener.isClosed) return;
  listener.skipTo(tail.topicPartition.partition, { offset: tail.nextOffset, ordinal: 0 });
  tail.attach(listener);
};
