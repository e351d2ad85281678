/** The bus on Kafka 3.9 or later. See `bus-kafka/README.md`. */
import kafkajs, { Kafka, type SASLOptions } from 'kafkajs';
import { getFormerGroup } from '../../runtime/consumer-groups.ts';
import { Budget } from '../../runtime/reading-window.ts';
import { createStoreMembers } from '../../runtime/store-members.ts';
import { withTimeout } from '../../runtime/timeout.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Bus, BusRecord, ConsumerOptions } from '../../schemas/ports/bus.ts';
import { type Log, silentLog } from '../../schemas/ports/log.ts';
import type { StoreMembers } from '../../schemas/ports/store-members.ts';
import { pooledBufferBytes } from '../buffer-pool.ts';
import { Administration } from './administration.ts';
import { BrokerMembers } from './broker-members.ts';
import { buildDriverOptions, Cluster, type DriverOptions, type KafkaSecurity } from './cluster.ts';
import { KafkaConsumer } from './consumer.ts';
import { toFailure } from './failures.ts';
import { createGapError, Fetcher } from './fetcher.ts';
import { KafkaFollower } from './follower.ts';
import { Takeover } from './group-migration.ts';
import { KafkaProducer } from './producer.ts';
import { SharedFetcher } from './shared-fetcher.ts';
import { runTransaction } from './transaction.ts';
import { toBusRecord } from './wire.ts';

export interface KafkaBusOptions extends KafkaSecurity {
  /** Bootstrap servers, `host:port`. */
  readonly brokers: readonly string[];
  /**
   * Replication factor of topics that `ensureTopics` creates. Defaults to 3, or to the number of brokers if there are
   * fewer.
   */
  readonly replication?: number | undefined;
  readonly clientId?: string;
  /** Rack of this process: consumers read from a replica there, if brokers select replicas by rack. */
  readonly rack?: string | undefined;
  readonly log?: Log;
  /** Watches the brokers. */
  readonly storeMembers?: StoreMembers;
  /** A member without a heartbeat for this long counts as dead, and its partitions are reassigned. Default 10,000. */
  readonly sessionTimeoutMs?: number;
  /** How long a rebalance waits for the members' batches in progress. Default 300,000. */
  readonly rebalanceTimeoutMs?: number;
}

/** Maximum bytes buffered for consumers that have not consumed them yet. */
const maxBufferedBytes = 64 * 1024 * 1024;
const checkTimeoutMs = 3000;
const silentLogging = { logLevel: kafkajs.logLevel.NOTHING, logCreator: () => () => undefined };

/** Opens a fetcher with its own connections, because its requests would delay other requests. */
const openWorkerFetcher = (driver: DriverOptions, log: Log): Pick<Fetcher, 'fetch' | 'close'> => {
  const cluster = new Cluster(driver);
  const fetcher = new Fetcher(cluster, log);
  return {
    fetch: (topic, partition, offset) => fetcher.fetch(topic, partition, offset),
    close() {
      fetcher.close();
      void cluster.close().catch(() => undefined);
    },
  };
};

/**
 * Opens the bus. Connections are opened on demand, so `check` and the first use report an unavailable cluster. `close`
 * abandons consumers that were not stopped: their batches in progress are not committed.
 */
export const openKafkaBus = async (options: KafkaBusOptions): Promise<Bus> => {
  const {
    brokers,
    replication,
    clientId = 'oiq',
    log = silentLog,
    tls = false,
    sasl,
    storeMembers = createStoreMembers(),
  } = options;
  const { sessionTimeoutMs = 10_000, rebalanceTimeoutMs = 300_000 } = options;
  const driver = buildDriverOptions(brokers, clientId, options);
  const kafka = new Kafka({
    ...silentLogging,
    clientId,
    brokers: [...brokers],
    ssl: typeof tls === 'boolean' ? tls : { ...tls },
    ...(sasl && { sasl: sasl as SASLOptions }),
    connectionTimeout: 3000,
    requestTimeout: 10_000,
    retry: { retries: 4, initialRetryTime: 200, maxRetryTime: 2000 },
  });
  const cluster = new Cluster(driver);
  const administration = new Administration(kafka, cluster, { replication, log });
  const brokerMembers = new BrokerMembers(driver);
  const watch = storeMembers.watch('Kafka', () => brokerMembers.list());
  const producers = new Set<KafkaProducer>();
  const consumers = new Set<KafkaConsumer>();
  const followers = new Set<KafkaFollower>();

  const sharedFetcher = new SharedFetcher(() => openWorkerFetcher(driver, log), new Budget(maxBufferedBytes));

  const createConsumer = ({
    group,
    maxRecords = 20_000,
    maxBytes = 8 * 1024 * 1024,
    maxWaitMs = 1000,
  }: ConsumerOptions) => {
    const formerGroup = getFormerGroup(group);
    const newConsumer = new KafkaConsumer({
      driver,
      group,
      limits: { maxRecords, maxBytes, maxWaitMs },
      timing: { sessionTimeoutMs, rebalanceTimeoutMs },
      log,
      shared: sharedFetcher,
      takeover: formerGroup === undefined ? undefined : new Takeover({ group, formerGroup, administration, log }),
      earliest: async (topic) => (await administration.offsets(topic)).map(({ earliest }) => earliest),
    });
    consumers.add(newConsumer);
    return newConsumer;
  };

  const check = async (): Promise<void> => {
    try {
      await withTimeout(checkTimeoutMs, cluster.metadata([], true));
    } catch (cause) {
      throw toFailure('Kafka cannot be reached', cause);
    }
    // Brokers may respond and still reject writes, for example because of too few replicas or a missing permission.
    const publishFailure = [...producers]
      .map((producer) => producer.failureReason)
      .find((reason) => reason !== undefined);
    if (publishFailure !== undefined) throw new UnavailableError(publishFailure);
  };

  /**
   * Creates a follower with its own connections. Its request waits for records, and would block later requests on the
   * same connection.
   */
  const createFollower = (): KafkaFollower => {
    const newFollower = new KafkaFollower(new Cluster(driver), log);
    followers.add(newFollower);
    return newFollower;
  };

  return {
    ensureTopics: (topics) => administration.ensureTopics(topics),
    async producer() {
      const producer = new KafkaProducer({
        driver,
        cluster,
        transaction: (name, work) => runTransaction(kafka, name, work),
      });
      producers.add(producer);
      return producer;
    },
    createConsumer,
    read: (topic, partition, from, to) => readRange({ administration, cluster, log }, topic, partition, from, to),
    createFollower,
    offsets: (topic) => administration.offsets(topic),
    lag: (group, topics) => administration.lag(group, topics),
    members: (groups) => administration.members(groups),
    deleteGroup: (group) => administration.forget(group),
    check,
    async close() {
      watch.close();
      await brokerMembers.close();
      await Promise.all([...consumers].map((consumer) => consumer.abandon()));
      sharedFetcher.close();
      await Promise.all([...followers].map((follower) => follower.close()));
      await Promise.all([...producers].map((producer) => producer.close()));
      await cluster.close();
      await administration.close();
    },
  };
};

interface ReadSource {
  readonly administration: Administration;
  readonly cluster: Cluster;
  readonly log: Log;
}

async function* readRange(
  { administration, cluster, log }: ReadSource,
  topic: string,
  partition: number,
  from: number,
  to: number,
): AsyncGenerator<BusRecord> {
  const partitionOffsets = (await administration.offsets(topic)).find((entry) => entry.partition === partition);
  if (partitionOffsets === undefined) throw new Error(`topic ${topic} has no partition ${partition}`);
  if (from < partitionOffsets.earliest) throw createGapError(topic, partition, from, partitionOffsets.earliest);
  const end = Math.min(to, await cluster.stableEnd(topic, partition));
  const fetcher = new Fetcher(cluster, log);
  try {
    for (let nextOffset = from; nextOffset < end; ) {
      // The first fetch is small, because some callers read only the first record.
      const batch = await fetcher.fetch(topic, partition, nextOffset, nextOffset === from ? 1 : pooledBufferBytes);
      if (batch === undefined) return;
      for (const { offset, timestampMs, record } of batch.records)
        if (offset < end) yield toBusRecord(topic, partition, offset, timestampMs, record);
      nextOffset = batch.next;
    }
  } finally {
    fetcher.close();
  }
}
