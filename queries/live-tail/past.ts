/** What a listener reads before it is attached to the partitions that everybody reads: the last records, or those since its token. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Partition } from '../../schemas/records/source.ts';
import type { Listener, Wish } from './listener.ts';
import { type Between, match, type Target, targetsOf } from './matching.ts';
import type { PartitionTail } from './partition-tail.ts';
import type { Place } from './positions.ts';
import type { Slots } from './slots.ts';

/** Reading the past works so long, and then leaves the processor to others for longer. */
const workMs = 5;
const restMs = 20;
/** Messages that are read first when the last records are looked for; then four times as many, and so on. */
const firstWindow = 16;
/** At most so many messages of a partition, and so many bytes of all, are searched for the last records. */
const mostMessages = 2_000;
const mostBytes = 32 * 1024 * 1024;
/** Characters of the last records. */
const mostLength = 4 * 1024 * 1024;
/** A listener that has not caught up after so many bytes or so long goes on at the end. */
const mostCatchUpBytes = 256 * 1024 * 1024;
const mostCatchUpMs = 120_000;

export interface PastPorts {
  readonly bus: Pick<Bus, 'read'>;
  /** Few read the past at a time. */
  readonly slots: Slots;
}

interface FoundRecord {
  readonly text: string;
  readonly partition: number;
  readonly place: Place;
  readonly timestampMs: number;
}

const restful = (): Between => ({ spent: () => undefined, isDue: () => false, pause: () => sleep(restMs) });

/** Gathers what it is told. */
class Gathering implements Target {
  readonly wish: Wish;
  readonly found: FoundRecord[] = [];
  timestampMs = 0;

  constructor(wish: Wish) {
    this.wish = wish;
  }

  position(): undefined {
    return undefined;
  }

  offer(text: string, partition: number, place: Place): void {
    this.found.push({ text, partition, place, timestampMs: this.timestampMs });
  }
}

/** A partition, what is kept of it, and the offset before which the past lies. */
export interface PastPartition {
  readonly where: Partition;
  readonly earliest: number;
  readonly end: number;
}

interface Search {
  readonly most: number;
  bytes: number;
}

/** The last wanted records of a partition, oldest first. Windows go back from the end, so that only what is needed is read. */
const lastOf = async (
  wish: Wish,
  { where, earliest, end }: PastPartition,
  { bus }: PastPorts,
  search: Search,
): Promise<FoundRecord[]> => {
  let found: FoundRecord[] = [];
  let length = 0;
  let to = end;
  let window = firstWindow;
  const isEnough = (): boolean => found.length >= search.most || length > mostLength || search.bytes > mostBytes;
  while (to > earliest && end - to < mostMessages && !isEnough()) {
    const from = Math.max(earliest, to - window);
    const gathering = new Gathering(wish);
    let bytes = 0;
    for await (const message of bus.read(where.topic, where.partition, from, to)) {
      bytes += message.value.length;
      gathering.timestampMs = message.timestampMs;
      const targets = targetsOf(message, [gathering]);
      if (targets.length > 0) await match(message, where, targets, restful());
    }
    search.bytes += bytes;
    found = [...gathering.found, ...found].slice(-search.most);
    length = found.reduce((sum, { text }) => sum + text.length, 0);
    // A window must not read far more than what is left.
    const perMessage = Math.max(1, bytes / Math.max(1, to - from));
    window = Math.max(firstWindow, Math.min(window * 4, Math.floor((mostBytes - search.bytes) / perMessage)));
    to = from;
  }
  return found;
};

const inOrder = (one: FoundRecord, other: FoundRecord): number =>
  one.timestampMs - other.timestampMs ||
  one.partition - other.partition ||
  one.place.offset - other.place.offset ||
  one.place.ordinal - other.place.ordinal;

/** Newest first, as long as there is room. */
const withinLength = (found: readonly FoundRecord[]): FoundRecord[] => {
  let length = 0;
  const first = found.findLastIndex(({ text }) => {
    length += text.length;
    return length > mostLength;
  });
  return found.slice(first + 1);
};

/** Tells a listener of the last records it wants, by the time at which the bus took them, and leaves it at the ends of the partitions. */
export const tellLast = async (
  listener: Listener,
  most: number,
  partitions: readonly PastPartition[],
  ports: PastPorts,
): Promise<void> => {
  const all: FoundRecord[] = [];
  const search = { most, bytes: 0 };
  await ports.slots.take();
  try {
    for (const partition of partitions)
      if (!listener.closed) all.push(...(await lastOf(listener.wish, partition, ports, search)));
  } finally {
    ports.slots.release();
  }
  const last = withinLength(all.sort(inOrder).slice(-most));
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

/** What one listener has read to catch up. */
interface Effort {
  bytes: number;
  readonly late: number;
}

const isTooMuch = ({ bytes, late }: Effort): boolean => bytes > mostCatchUpBytes || performance.now() > late;

/** Tells a listener of what it wants up to an offset; stops before where that is too much. */
const readTo = async (
  listener: Listener,
  { topic, partition }: Partition,
  to: number,
  { bus, slots }: PastPorts,
  effort: Effort,
): Promise<void> => {
  const between: Between = {
    ...restful(),
    isDue: () => listener.isFull,
    async pause() {
      if (!listener.isFull) return sleep(restMs);
      // Whoever reads slowly must not keep others from reading.
      slots.release();
      await listener.room();
      await slots.take();
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

/** Reads what lies between a listener and those who are attached to a partition, and attaches it. */
export const catchUp = async (listener: Listener, tail: PartitionTail, ports: PastPorts): Promise<void> => {
  const { partition } = tail.where;
  const isThere = (): boolean => (listener.position(partition)?.offset ?? 0) >= tail.next;
  const effort = { bytes: 0, late: performance.now() + mostCatchUpMs };
  while (!listener.closed && !isThere()) {
    await ports.slots.take();
    try {
      await readTo(listener, tail.where, tail.next, ports, effort);
    } finally {
      ports.slots.release();
    }
    if (isTooMuch(effort)) return giveUp(listener, tail);
  }
  if (!listener.closed) tail.attach(listener);
};

/** Goes on with those who are attached, and says that records are missing. */
export const giveUp = (listener: Listener, tail: PartitionTail): void => {
  if (listener.closed) return;
  listener.jump(tail.where.partition, { offset: tail.next, ordinal: 0 });
  tail.attach(listener);
};
