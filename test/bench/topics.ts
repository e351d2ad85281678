import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { defineTopic } from '../../schemas/topic.ts';
import { allTopics } from '../../schemas/topics.ts';

/** Creates the platform's topics, and the collector's, on a broker. */
export const migrateTopics = async (broker: string): Promise<void> => {
  const bus = await openKafkaBus({ brokers: [broker], replication: 1 });
  await bus.ensureTopics([
    ...allTopics,
    defineTopic({ name: 'peer.logs', summary: 'The collector’s', key: 'none', maxMessageBytes: 8 * 1024 * 1024 }),
  ]);
  await bus.close();
};
