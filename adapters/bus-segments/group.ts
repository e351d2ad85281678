/** A consumer group in this process: its members, and the partitions that each of them owns. */
import type { Batch, Consumer, ConsumerOptions, PartitionEvents } from '../../schemas/ports/bus.ts';
import type { Owner, PartitionConsumer } from './partition-consumer.ts';

interface Member extends Owner {
  readonly topics: readonly string[];
}

/**
 * A consumer group. The partitions of a topic are assigned round robin to the members that run on it, in the order in
 * which the members joined.
 */
export class Group {
  readonly #getConsumers: (topic: string) => readonly PartitionConsumer[];
  #members: readonly Member[] = [];

  constructor(getConsumers: (topic: string) => readonly PartitionConsumer[]) {
    this.#getConsumers = getConsumers;
  }

  get size(): number {
    return this.#members.length;
  }

  join(member: Member): void {
    // Throws for a missing topic before anything has changed.
    for (const topic of member.topics) this.#getConsumers(topic);
    this.#members = [...this.#members, member];
    this.#assignPartitions(member.topics);
  }

  leave(member: Member): void {
    if (!this.#members.includes(member)) return;
    this.#members = this.#members.filter((other) => other !== member);
    this.#assignPartitions(member.topics);
  }

  /** Reassigns the partitions after some were added. */
  rebalance(): void {
    this.#assignPartitions([...new Set(this.#members.flatMap(({ topics }) => topics))]);
  }

  #assignPartitions(topics: readonly string[]): void {
    for (const topic of topics) {
      const members = this.#members.filter((member) => member.topics.includes(topic));
      for (const consumer of this.#getConsumers(topic))
        consumer.assign(members[consumer.partition % Math.max(1, members.length)]);
    }
  }
}

export const createSegmentsConsumer = (
  { maxRecords = 20_000, maxBytes = 8 * 1024 * 1024, maxWaitMs = 1000 }: ConsumerOptions,
  group: Group,
): Consumer => {
  const assignments = new Set<Promise<void>>();
  const stopEvent = Promise.withResolvers<void>();
  let member: Member | undefined;
  let stopping: Promise<void> | undefined;

  const leaveGroup = async () => {
    if (member !== undefined) group.leave(member);
    await Promise.all(assignments);
  };
  const trackAssignment = (assignment: Promise<void>) => {
    assignments.add(assignment);
    void assignment.then(() => assignments.delete(assignment));
  };

  return {
    async run(topics: readonly string[], onBatch: (batch: Batch) => Promise<void>, events: PartitionEvents = {}) {
      if (member !== undefined) throw new Error('a consumer can run only once');
      if (stopping !== undefined) return;
      member = { topics, maxRecords, maxBytes, maxWaitMs, onBatch, events, trackAssignment };
      group.join(member);
      await stopEvent.promise;
    },
    stop() {
      stopping ??= leaveGroup().then(() => stopEvent.resolve());
      return stopping;
    },
  };
};
