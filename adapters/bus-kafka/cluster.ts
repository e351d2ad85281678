/** Leaders of partitions and groups, and connections to brokers. */
import {
  type BaseOptions,
  type Connection,
  ConnectionPool,
  FetchIsolationLevels,
  listOffsetsV7,
  metadataV12,
  ProtocolError,
  parseBroker,
  ResponseError,
} from '@platformatic/kafka';
import { withTimeout } from '../../runtime/timeout.ts';
import type { DirectConnection } from './direct-connection.ts';
import { DirectConnections } from './direct-connections.ts';
import { isProtocolError, MissingTopicError } from './failures.ts';

/** A certificate with its chain, and its private key, in PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Authentication of this process and of the brokers. */
export interface KafkaSecurity {
  /**
   * Uses TLS. Broker certificates are verified against Node's authorities (`NODE_EXTRA_CA_CERTS` adds some). A
   * certificate is presented to the brokers.
   */
  readonly tls?: boolean | ClientCertificate;
  readonly sasl?: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  };
}

const mechanisms = { plain: 'PLAIN', 'scram-sha-256': 'SCRAM-SHA-256', 'scram-sha-512': 'SCRAM-SHA-512' } as const;

/** Options of the driver, and options that the driver does not have. */
export interface DriverOptions extends BaseOptions {
  /** Rack of this process. Brokers name a replica in the same rack to read from. */
  readonly rack?: string;
}

export const buildDriverOptions = (
  brokers: readonly string[],
  clientId: string,
  { tls = false, sasl, rack = '' }: KafkaSecurity & { readonly rack?: string | undefined } = {},
): DriverOptions => ({
  rack,
  ...(tls && { tls: tls === true ? {} : { ...tls } }),
  ...(sasl && { sasl: { ...sasl, mechanism: mechanisms[sasl.mechanism] } }),
  clientId,
  bootstrapBrokers: [...brokers],
  connectTimeout: 3000,
  timeout: 5000,
  requestTimeout: 10_000,
  retries: 0,
  metadataMaxAge: 60_000,
});

/** The address of a broker. */
export interface Node {
  readonly host: string;
  readonly port: number;
}

/** Metadata of the cluster, as returned by brokers. */
export interface Metadata {
  readonly brokers: ReadonlyMap<number, Node>;
  readonly topics: ReadonlyMap<string, TopicMetadata>;
}

interface TopicMetadata {
  readonly id: string;
  /** Node that leads each partition; -1 while there is no leader. */
  readonly leaders: readonly number[];
}

/** First retained offset and next offset of one partition. */
export interface Bounds {
  readonly partition: number;
  readonly earliest: number;
  readonly end: number;
}

type MetadataResponse = Awaited<ReturnType<typeof metadataV12.api.async>>;

/** Timeout for a request that any broker can handle. After it, the request goes to another broker. */
const requestTimeoutMs = 2000;
const metadataMaxAgeMs = 60_000;
const unknownTopic = 3;

const formatAddress = ({ host, port }: Node): string => `${host}:${port}`;

/** One client's view of the cluster, with its own connections: a blocking request delays only this client. */
export class Cluster {
  readonly #pool: ConnectionPool;
  readonly #directConnections: DirectConnections;
  /** Brokers of the settings */
  readonly bootstrapNodes: readonly Node[];
  #metadataCache: Metadata = { brokers: new Map(), topics: new Map() };
  readonly #refreshedAt = new Map<string, number>();
  /** Time of a broker's last failure to answer, by address. Brokers that failed are tried last. */
  readonly #failedAt = new Map<string, number>();
  #nextBroker = 0;
  /** Rack of this process; empty if unknown. */
  readonly rack: string;

  constructor(options: DriverOptions) {
    this.rack = options.rack ?? '';
    this.#pool = new ConnectionPool(options.clientId, options);
    this.#directConnections = new DirectConnections(options);
    this.bootstrapNodes = options.bootstrapBrokers.map((broker) => parseBroker(broker));
  }

  /**
   * Sends a request that any broker can handle to one broker after another, until one responds. A broker that is dead
   * or hangs does not block the request, even if it is the first in the configuration. An error in a response is final,
   * except for an unknown topic, which other brokers may already know.
   */
  async requestAny<Answer>(request: (connection: Connection) => Promise<Answer>): Promise<Answer> {
    let failure: unknown;
    for (const node of this.#listCandidates()) {
      try {
        const response = await withTimeout(
          requestTimeoutMs,
          this.#pool.get(node).then((connection) => request(connection)),
        );
        this.#failedAt.delete(formatAddress(node));
        return response;
      } catch (error) {
        failure = error;
        if (error instanceof MissingTopicError || isProtocolError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) continue;
        if (error instanceof ResponseError) throw error;
        this.#failedAt.set(formatAddress(node), performance.now());
      }
    }
    throw failure;
  }

  /**
   * Brokers in the order in which to try them. The first one rotates, since one broker may be cut off from the others.
   */
  #listCandidates(): Node[] {
    const nodes = [...this.#metadataCache.brokers.values(), ...this.bootstrapNodes];
    const distinctNodes = [...new Map(nodes.map((node) => [formatAddress(node), node])).values()];
    const from = this.#nextBroker++ % distinctNodes.length;
    const rotatedNodes = [...distinctNodes.slice(from), ...distinctNodes.slice(0, from)];
    const getFailureTime = (node: Node): number => this.#failedAt.get(formatAddress(node)) ?? Number.NEGATIVE_INFINITY;
    return rotatedNodes.sort((a, b) =>
      getFailureTime(a) < getFailureTime(b) ? -1 : Number(getFailureTime(a) > getFailureTime(b)),
    );
  }

  /**
   * Returns metadata with these topics, cached until a refresh is requested. Throws a `MissingTopicError` for a missing
   * topic.
   */
  async metadata(topics: readonly string[], forceUpdate = false): Promise<Metadata> {
    const minRefreshTime = performance.now() - metadataMaxAgeMs;
    const isFresh = topics.every(
      (topic) => (this.#refreshedAt.get(topic) ?? Number.NEGATIVE_INFINITY) > minRefreshTime,
    );
    if (isFresh && !forceUpdate && this.#metadataCache.brokers.size > 0) return this.#metadataCache;
    return this.#updateMetadata(await this.requestAny((connection) => fetchMetadata(connection, topics)));
  }

  #updateMetadata({ brokers, topics }: MetadataResponse): Metadata {
    const updatedTopics = new Map(this.#metadataCache.topics);
    for (const { errorCode, name, topicId, partitions } of topics) {
      if (name == null) continue;
      if (errorCode !== 0) throw new ProtocolError(errorCode);
      const leaders: number[] = [];
      for (const { partitionIndex, leaderId } of partitions) leaders[partitionIndex] = leaderId;
      updatedTopics.set(name, { id: topicId, leaders });
      this.#refreshedAt.set(name, performance.now());
    }
    this.#metadataCache = {
      brokers: new Map(brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }])),
      topics: updatedTopics,
    };
    return this.#metadataCache;
  }

  /** Returns a connection to a broker by its id; a new connection after the old one broke. */
  async connection(metadata: Metadata, node: number): Promise<Connection> {
    return this.#pool.get(getBroker(metadata, node));
  }

  /** Like `connection`, for large responses. */
  async directConnection(metadata: Metadata, node: number): Promise<DirectConnection> {
    return this.#directConnections.get(getBroker(metadata, node));
  }

  /** Returns the first retained offset and the next offset of each partition, in order. */
  async bounds(topic: string): Promise<Bounds[]> {
    const metadata = await this.metadata([topic], true);
    const leaders = metadata.topics.get(topic)?.leaders ?? [];
    const byLeader = Map.groupBy(leaders.keys(), (partition) => leaders[partition] ?? -1);
    const boundsByLeader = await Promise.all(
      [...byLeader].map(async ([leader, partitions]) => {
        const connection = await this.connection(metadata, leader);
        const [earliest, end] = await Promise.all(
          [-2n, -1n].map((timestamp) => listOffsets(connection, topic, partitions, timestamp)),
        );
        return partitions.map((partition) => ({
          partition,
          earliest: earliest?.get(partition) ?? 0,
          end: end?.get(partition) ?? 0,
        }));
      }),
    );
    return boundsByLeader.flat().sort((a, b) => a.partition - b.partition);
  }

  /** Returns the first retained offset. */
  earliest(topic: string, partition: number): Promise<number> {
    return this.#fetchOffset(topic, partition, -2n);
  }

  /** Returns the next offset that consumers can see: before the first open transaction. */
  stableEnd(topic: string, partition: number): Promise<number> {
    return this.#fetchOffset(topic, partition, -1n);
  }

  async #fetchOffset(topic: string, partition: number, timestamp: bigint): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      try {
        const metadata = await this.metadata([topic], attempt > 1);
        const connection = await this.connection(metadata, metadata.topics.get(topic)?.leaders[partition] ?? -1);
        return (await listOffsets(connection, topic, [partition], timestamp)).get(partition) ?? 0;
      } catch (error) {
        // Another broker may lead the partition since the last metadata refresh.
        if (attempt === 2) throw error;
      }
    }
  }

  connectToNode(node: Node): Promise<Connection> {
    return this.#pool.get(node);
  }

  /** Closes the connections without waiting for pending responses. */
  async close(): Promise<void> {
    this.#directConnections.close();
    await this.#pool.close();
  }
}

/** Offsets at a time (-1 for the next offset, -2 for the first one), for partitions that one broker leads. */
const listOffsets = async (
  connection: Connection,
  topic: string,
  partitions: readonly number[],
  timestamp: bigint,
): Promise<Map<number, number>> => {
  const { topics } = await listOffsetsV7.api.async(connection, -1, FetchIsolationLevels.READ_COMMITTED, [
    {
      name: topic,
      partitions: partitions.map((partitionIndex) => ({ partitionIndex, currentLeaderEpoch: -1, timestamp })),
    },
  ]);
  return new Map(topics[0]?.partitions.map(({ partitionIndex, offset }) => [partitionIndex, Number(offset)]));
};

const getBroker = (metadata: Metadata, node: number): Node => {
  const broker = metadata.brokers.get(node);
  if (broker === undefined) throw new Error(`Kafka does not know a broker ${node}`);
  return broker;
};

const fetchMetadata = async (connection: Connection, topics: readonly string[]): Promise<MetadataResponse> => {
  const response = await metadataV12.api.async(connection, [...topics], false, false).catch((error: unknown) => {
    // The driver treats a partition without a leader as a failure of the entire response.
    if (error instanceof ResponseError) return error['response'] as MetadataResponse;
    throw error;
  });
  const missingTopic = response.topics.find(({ errorCode }) => errorCode === unknownTopic);
  if (missingTopic !== undefined)
    throw new MissingTopicError(`Kafka has no topic ${missingTopic.name}: create the topics first (oiq migrate)`);
  return response;
};
