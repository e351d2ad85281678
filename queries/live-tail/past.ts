/**
 * Reads the past for a listener before it is attached to shared partitions: the last records, or those since its token.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Partition } from '../../schemas/records/source.ts';
import { lastRecords, type PastPartition, restful, restMs } from './last-records.ts';
import type { Listener } from './listener.ts';
import { type Between, match, targetsOf } from './matching.ts';
import type { PartitionTail } from './partition-tail.ts';
import type { Slots } from './slots.ts';

/** Length of a time slice for reading the past; the pause after it is longer. */
const workMs = 5;
/** A listener that has not caught up after this many bytes or this time continues at the end. */
const maxCatchUpBytes = 256 * 1024 * 1024;
const maxCatchUpMs = 120_000;

export interface PastPorts {
  readonly bus: Pick<Bus, 'read'>;
  /** Limits concurrent readers of the past. */
  readonly slots: Slots;
}

/** Offers a listener the last matching records by bus time, and positions it at the ends of the partitions. */
export const offerLastRecords = async (
  listener: Listener,
  maxRecords: number,
  partitions: readonly PastPartition[],
  ports: PastPorts,
): Promise<void> => {
  const request = { wish: listener.wish, maxRecords, isClosed: () => listener.closed };
  await ports.slots.acquire();
  const last = await lastRecords(request, partitions, ports.bus).finally(() => ports.slots.release());
  for (const { where, end } of partitions) {
    const first = last.find(({ partition }) => partition === where.partition)?.place;
    listener.begin(where.partition, first ?? { offset: end, ordinal: 0 });
  }
  for (const { text, partition, place } of last) {
    await listener.room();
    listener.offer(text, partition, place);
  }
  for (const { where, end } of partitions) listener.passed(where.partition, end - 1);
};

/** Work of one listener to catch up. */
interface CatchUpWork {
  bytes: number;
  readonly late: number;
}

const isTooMuch = ({ bytes, late }: CatchUpWork): boolean => bytes > maxCatchUpBytes || performance.now() > late;

/** Offers a listener its records up to an offset; stops early at the limits. */
const readTo = async (
  listener: Listener,
  { topic, partition }: Partition,
  to: number,
  { bus, slots }: PastPorts,
  effort: CatchUpWork,
): Promise<void> => {
  const between: Between = {
    ...restful(),
    isDue: () => listener.isFull,
    async pause() {
      if (!listener.isFull) return sleep(restMs);
      // A slow reader must not block others.
      slots.release();
      await listener.room();
      await slots.acquire();
    },
  };
  const { offset: from } = listener.position(partition) ?? { offset: to };
  let rested = performance.now();
  for await (const message of bus.read(topic, partition, from, to)) {
    effort.bytes += message.value.length;
    const targets = targetsOf(message, [listener]);
    if (targets.length > 0) await match(message, { topic, partition }, targets, between);
    listener.passed(partition, message.offset);
    if (listener.closed || isTooMuch(effort)) return;
    if (performance.now() - rested < workMs) continue;
    await sleep(restMs);
    rested = performance.now();
  }
  listener.passed(partition, to - 1);
};

/** Reads the records between a listener and the attached listeners of a partition, and attaches it. */
export const catchUp = async (listener: Listener, tail: PartitionTail, ports: PastPorts): Promise<void> => {
  const { partition } = tail.where;
  const isThere = (): boolean => (listener.position(partition)?.offset ?? 0) >= tail.next;
  const effort = { bytes: 0, late: performance.now() + maxCatchUpMs };
  while (!listener.closed && !isThere()) {
    await ports.slots.acquire();
    try {
      await readTo(listener, tail.where, tail.next, ports, effort);
    } finally {
      ports.slots.release();
    }
    if (isTooMuch(effort)) return giveUp(listener, tail);
  }
  if (!listener.closed) tail.attach(listener);
};

/** Attaches the listener at the current position, and marks that records are missing. */
export const giveUp = (listener: Listener, tail: PartitionTail): void => {
  if (listener.closed) return;
  listener.jump(tail.where.partition, { offset: tail.next, ordinal: 0 });
  tail.attach(listener);
};
