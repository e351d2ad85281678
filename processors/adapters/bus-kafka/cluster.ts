/** Who leads what in the cluster, and connections to brokers. */
import {
  Base,
  type BaseOptions,
  type ClusterMetadata,
  type Connection,
  FetchIsolationLevels,
  findErrorBy,
  listOffsetsV7,
  UserError,
} from '@platformatic/kafka';
import type { DirectConnection } from './direct-connection.ts';
import { DirectConnections } from './direct-connections.ts';
import { FatalBusError } from './wire.ts';

/** Whether an error of the driver, or one that it wraps, is this error of the protocol. */
export const isProtocolError = (error: unknown, ...ids: readonly string[]): boolean =>
  error instanceof Error && ids.some((id) => findErrorBy(error, 'apiId', id) !== null);

/** What went wrong, for people: the innermost message of the driver's nested errors. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors.at(-1));
  if (error instanceof Error && error.cause !== undefined) return reasonOf(error.cause);
  return error instanceof Error ? error.message : String(error);
};

/** A topic that was never created, or a broker that does not know its topics yet. */
export class MissingTopicError extends FatalBusError {}

/** How brokers know that it is us, and we that it is them. */
export interface KafkaSecurity {
  /** Speaks TLS; brokers' certificates are checked against Node's authorities (`NODE_EXTRA_CA_CERTS` adds some). */
  readonly tls?: boolean;
  readonly sasl?: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  };
}

const mechanisms = { plain: 'PLAIN', 'scram-sha-256': 'SCRAM-SHA-256', 'scram-sha-512': 'SCRAM-SHA-512' } as const;

export const driverOptions = (
  brokers: readonly string[],
  clientId: string,
  { tls = false, sasl }: KafkaSecurity = {},
): BaseOptions => ({
  ...(tls && { tls: {} }),
  ...(sasl && { sasl: { ...sasl, mechanism: mechanisms[sasl.mechanism] } }),
  clientId,
  bootstrapBrokers: [...brokers],
  connectTimeout: 3000,
  timeout: 5000,
  requestTimeout: 10_000,
  retries: 0,
  metadataMaxAge: 60_000,
});

/** One client's view of the cluster, with connections of its own: a request that waits holds up only this client. */
export class Cluster {
  readonly #client: Base;
  readonly #direct: DirectConnections;

  constructor(options: BaseOptions) {
    this.#client = new Base(options);
    this.#direct = new DirectConnections(options);
  }

  /** Metadata of topics, cached until it is asked for anew. A missing topic is a `MissingTopicError`. */
  async metadata(topics: readonly string[], forceUpdate = false): Promise<ClusterMetadata> {
    try {
      return await this.#client.metadata({ topics: [...topics], forceUpdate });
    } catch (error) {
      // The driver puts the protocol's error in words of its own.
      if (error instanceof UserError && error.message.startsWith('Unknown topic'))
        throw new MissingTopicError(
          `Kafka has no topic ${topics.join(' or ')}: create the topics first (oiq migrate)`,
          {
            cause: error,
          },
        );
      throw error;
    }
  }

  /** A connection to a broker by its id, made anew when it broke. */
  async connection(metadata: ClusterMetadata, node: number): Promise<Connection> {
    return this.#client.connections.get(brokerOf(metadata, node));
  }

  /** As `connection`, for answers that are large. */
  async directConnection(metadata: ClusterMetadata, node: number): Promise<DirectConnection> {
    return this.#direct.get(brokerOf(metadata, node));
  }

  /** First offset that is kept. */
  earliest(topic: string, partition: number): Promise<number> {
    return this.#offset(topic, partition, -2n);
  }

  /** Next offset that consumers could see: before the first transaction that is still open. */
  stableEnd(topic: string, partition: number): Promise<number> {
    return this.#offset(topic, partition, -1n);
  }

  async #offset(topic: string, partition: number, timestamp: bigint): Promise<number> {
    const metadata = await this.metadata([topic]);
    const connection = await this.connection(metadata, metadata.topics.get(topic)?.partitions[partition]?.leader ?? -1);
    const { topics } = await listOffsetsV7.api.async(connection, -1, FetchIsolationLevels.READ_COMMITTED, [
      { name: topic, partitions: [{ partitionIndex: partition, currentLeaderEpoch: -1, timestamp }] },
    ]);
    return Number(topics[0]?.partitions[0]?.offset ?? 0n);
  }

  /** A connection to any broker. */
  async anyConnection(metadata: ClusterMetadata): Promise<Connection> {
    return this.#client.connections.getFirstAvailable([...metadata.brokers.values()]);
  }

  connectionTo(host: string, port: number): Promise<Connection> {
    return this.#client.connections.get({ host, port });
  }

  /** Cuts the connections, whatever waits for an answer. */
  async close(): Promise<void> {
    this.#direct.close();
    await this.#client.close();
  }
}

const brokerOf = (metadata: ClusterMetadata, node: number) => {
  const broker = metadata.brokers.get(node);
  if (broker === undefined) throw new Error(`Kafka does not know a broker ${node}`);
  return broker;
};
