/** Several Kafka brokers that form one cluster: every topic and offset on all of them, writes need two of three. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Connection, metadataV12, ResponseError } from '@platformatic/kafka';
import { eventually } from '../waiting.ts';
import { clusterId } from './kafka.ts';
import { freePorts } from './ports.ts';
import { type Instance, startService } from './services.ts';

export interface BrokersOptions {
  readonly count?: number;
  /** Addresses under which clients are told to reach the brokers, when they are not the brokers' own. */
  readonly advertised?: readonly string[];
  /** Further settings of every broker, as lines of its properties. */
  readonly more?: string;
}

/** After so long without a heartbeat a broker counts as dead; Kafka's own default is 9 seconds. */
const brokerSession = 'broker.session.timeout.ms=4000\nbroker.heartbeat.interval.ms=500';

/** A broker's node id is its place in the answer, counted from 1, and its rack `rack-` and that. All are started; what fails ends those that did. */
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
  // A broker answers once a majority of controllers is there.
  const results = await Promise.allSettled(nodes.map(start));
  const started = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed === undefined) return started;
  await Promise.all(started.map((broker) => broker.kill()));
  throw failed.reason;
};

/**
 * Which node leads each partition of a topic (-1 while none does), as this broker sees it. A broker hears of a topic that is
 * new only a moment after others: so long it is waited for.
 */
export const leadersAt = async ({ url }: Instance, topic: string): Promise<number[]> => {
  const [host = '', port] = url.split(':');
  const connection = new Connection('test');
  await connection.connect(host, Number(port));
  try {
    let leaders: number[] = [];
    await eventually(`the broker at ${url} to know topic ${topic}`, async () => {
      const { topics } = await metadataV12.api.async(connection, [topic], false, false).catch((error: unknown) => {
        // The driver takes a partition without a leader, or a topic that is unknown, for a failure of the whole answer.
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
