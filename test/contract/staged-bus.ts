/** A bus with separate topics and groups for a test, whose times come from message headers. */
import type { Batch, Bus, BusRecord, Consumer, Message, PartitionEvents, Producer } from '../../schemas/ports/bus.ts';
import type { Topic } from '../../schemas/topic.ts';

/** Header with the time at which the bus accepted a message. */
export const stagedTime = 'test-time';

export const staged = (bus: Bus, prefix: string, partitions: number): Bus => {
  const outer = (name: string): string => prefix + name;
  const inner = (name: string): string => name.slice(prefix.length);
  const timed = (record: BusRecord): BusRecord => {
    const time = record.headers[stagedTime];
    return time === undefined ? record : { ...record, timestampMs: Number(time) };
  };
  const sent = (messages: readonly Message[]): Message[] =>
    messages.map((message) => ({ ...message, topic: outer(message.topic) }));
  const consumer = (created: Consumer): Consumer => ({
    run: (topics, onBatch, events = {}) => {
      const staged: PartitionEvents = {
        onAssigned: (each) => events.onAssigned?.({ ...each, topic: inner(each.topic) }),
        onRevoked: (each) => events.onRevoked?.({ ...each, topic: inner(each.topic) }),
      };
      const handle = (batch: Batch): Promise<void> =>
        onBatch({ ...batch, topic: inner(batch.topic), records: batch.records.map(timed) });
      return created.run(topics.map(outer), handle, staged);
    },
    stop: () => created.stop(),
  });
  return {
    ensureTopics: (topics: readonly Topic[]) =>
      bus.ensureTopics(
        topics.map((topic) => ({ ...topic, name: outer(topic.name), partitions, embeddedPartitions: partitions })),
      ),
    async producer(): Promise<Producer> {
      const producer = await bus.producer();
      return {
        publish: (messages) => producer.publish(sent(messages)),
        transaction: (name, work) =>
          producer.transaction(outer(name), (publish) => work((messages) => publish(sent(messages)))),
        close: () => producer.close(),
      };
    },
    createConsumer: (options) =>
      consumer(bus.createConsumer({ ...options, group: outer(options.group), maxWaitMs: 30 })),
    async *read(topic, partition, from, to) {
      for await (const record of bus.read(outer(topic), partition, from, to)) yield timed(record);
    },
    createFollower: () => bus.createFollower(),
    offsets: (topic) => bus.offsets(outer(topic)),
    lag: async (group, topics) =>
      (await bus.lag(outer(group), topics.map(outer))).map((lag) => ({ ...lag, topic: inner(lag.topic) })),
    members: async (groups) =>
      new Map([...(await bus.members(groups.map(outer)))].map(([group, count]) => [inner(group), count])),
    deleteGroup: (group) => bus.deleteGroup(outer(group)),
    check: () => bus.check(),
    close: () => bus.close(),
  };
};
