/** A cluster of Kafka brokers. Topics and offsets are replicated to all brokers, and writes need two of three. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Connection, metadataV12, ResponseError } from '@platformatic/kafka';
import { eventually } from '../waiting.ts';
import { clusterId } from './kafka.ts';
import { freePorts } from './ports.ts';
import { type Instance, startService } from './services.ts';

export interface BrokersOptions {
  readonly count?: number;
  /** Advertised addresses, if they differ from those of the brokers. */
  readonly advertised?: readonly string[];
  /** Additional settings of every broker, as lines of its properties file. */
  readonly more?: string;
}

/** Session timeout of a broker; Kafka's default is 9 seconds. */
const brokerSession = 'broker.session.timeout.ms=4000\nbroker.heartbeat.interval.ms=500';

/**
 * Starts the brokers. The node id of a broker is its index plus one, and its rack is `rack-` with that id. If one
 * fails, all are stopped.
 */
export const startBrokers = async (
  directory: string,
  { count = 3, advertised = [], more = brokerSession }: BrokersOptions = {},
): Promise<readonly Instance[]> => {
  const ports = await freePorts(3 * count);
  const nodes = Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    port: ports[3 * index] ?? 0,
    internal: ports[3 * index + 1] ?? 0,
    controller: ports[3 * index + 2] ?? 0,
    directory: join(directory, `kafka-${index + 1}`),
  }));
  const voters = nodes.map(({ id, controller }) => `${id}@127.0.0.1:${controller}`).join(',');
  const copies = Math.min(3, count);
  const cluster = clusterId();
  const start = async ({ id, port, internal, controller, directory: place }: (typeof nodes)[number]) => {
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'cluster-id'), cluster);
    await writeFile(
      join(place, 'more.properties'),
      `node.id=${id}
controller.quorum.voters=${voters}
listeners=PLAINTEXT://127.0.0.1:${port},INTERNAL://127.0.0.1:${internal},CONTROLLER://127.0.0.1:${controller}
advertised.listeners=PLAINTEXT://${advertised[id - 1] ?? `127.0.0.1:${port}`},INTERNAL://127.0.0.1:${internal}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=INTERNAL
offsets.topic.replication.factor=${copies}
transaction.state.log.replication.factor=${copies}
transaction.state.log.min.isr=${Math.min(2, copies)}
min.insync.replicas=${Math.min(2, copies)}
controlled.shutdown.enable=true
broker.rack=rack-${id}
replica.selector.class=org.apache.kafka.common.replica.RackAwareReplicaSelector
${more}
`,
    );
    return startService('kafka', { port, directory: place });
  };
  // A broker responds once the controllers have a majority.
  const results = await Promise.allSettled(nodes.map(start));
  const started = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed === undefined) return started;
  await Promise.all(started.map((broker) => broker.kill()));
  throw failed.reason;
};

/**
 * Returns the leader of each partition of a topic as this broker knows it, -1 for a partition without a leader. Waits
 * until the broker knows the topic, which it learns slightly later than others.
 */
export const leadersAt = async ({ url }: Instance, topic: string): Promise<number[]> => {
  const [host = '', port] = url.split(':');
  const connection = new Connection('test');
  await connection.connect(host, Number(port));
  try {
    let leaders: number[] = [];
    await eventually(`the broker at ${url} to know topic ${topic}`, async () => {
      const { topics } = await metadataV12.api.async(connection, [topic], false, false).catch((error: unknown) => {
        // The client reports a partition without a leader, or an unknown topic, as an error of the whole response.
        if (error instanceof ResponseError)
          return error['response'] as Awaited<ReturnType<typeof metadataV12.api.async>>;
        throw error;
      });
      leaders = [];
      for (const { partitionIndex, leaderId } of topics[0]?.partitions ?? []) leaders[partitionIndex] = leaderId;
      return leaders.length > 0;
    });
    return leaders;
  } finally {
    await connection.close();
  }
};
