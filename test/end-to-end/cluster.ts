/** The cluster form with servers that a test owns, so it may stop and kill them. */
import { join } from 'node:path';
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { openMongoDocuments } from '../../adapters/documents-mongodb/documents-mongodb.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { startBrokers } from '../services/kafka-cluster.ts';
import { freePorts } from '../services/ports.ts';
import { type Instance, startService, unavailable } from '../services/services.ts';
import { mongoDeployment, withoutLimits } from './deployment.ts';
import { type OiqProcess, type Ports, runOiq, startOiq } from './oiq-process.ts';

const servers = ['kafka', 'clickhouse', 'mongodb', 'redis'] as const;
type Server = (typeof servers)[number];

/** Why a test cannot start its own cluster on this machine; `undefined` if it can. */
export const clusterMissing = servers.map(unavailable).find((reason) => reason !== undefined);

export interface Cluster {
  readonly kafka: Instance;
  /** All brokers; `kafka` is the first. The node ID of each is its index, counted from 1. */
  readonly brokers: readonly Instance[];
  readonly clickhouse: Instance;
  readonly mongodb: Instance;
  readonly redis: Instance;
  /** The URL of ClickHouse with the database that contains the tables. */
  readonly columnsUrl: string;
  /** Environment variables with which a process joins this cluster. */
  readonly environment: Readonly<Record<string, string>>;
  readonly dataDirectory: string;
  readonly licenseKey: string;
  /** The test's own connection to the bus. */
  readonly bus: Bus;
  close(): Promise<void>;
}

const spreadOver = async (url: string, shards: number): Promise<void> => {
  const documents = await openMongoDocuments({ url });
  try {
    await documents.forTenant(organizationsTenant).collection(organizations).update('default', { shards });
  } finally {
    await documents.close();
  }
};

/** Starts servers in a directory, sets up the installation and migrates. Tenant data is spread over `shards`. */
export const startCluster = async (directory: string, { shards = 1, brokers: count = 1 } = {}): Promise<Cluster> => {
  const started: Instance[] = [];
  const server = async (name: Server, port: number): Promise<Instance> => {
    const instance = await startService(name, { port, directory: join(directory, name) });
    started.push(instance);
    return instance;
  };
  const brokersOf = async (port: number): Promise<readonly Instance[]> => {
    if (count === 1) return [await server('kafka', port)];
    const several = await startBrokers(directory, { count });
    started.push(...several);
    return several;
  };
  const stopAll = async (): Promise<void> => {
    await Promise.all(started.map((instance) => instance.kill()));
  };
  try {
    const [kafkaPort = 0, clickhousePort = 0, mongodbPort = 0, redisPort = 0] = await freePorts(4);
    const [brokers, clickhouse, mongodb, redis] = await Promise.all([
      brokersOf(kafkaPort),
      server('clickhouse', clickhousePort),
      server('mongodb', mongodbPort),
      server('redis', redisPort),
    ]);
    const [kafka] = brokers;
    if (kafka === undefined) throw new Error('a cluster has a broker');
    const urls = brokers.map(({ url }) => url);
    const columnsUrl = `${clickhouse.url}/oiq`;
    const dataDirectory = join(directory, 'data');
    const environment = {
      OIQ_KAFKA_BROKERS: urls.join(','),
      OIQ_CLICKHOUSE_URL: columnsUrl,
      OIQ_MONGODB_URL: mongodb.url,
      OIQ_REDIS_URL: redis.url,
      OIQ_DATA_DIR: dataDirectory,
      ...withoutLimits,
    };
    const licenseKey = await mongoDeployment(mongodb.url);
    await spreadOver(mongodb.url, shards);
    const migrated = await runOiq(['migrate'], environment);
    if (migrated.code !== 0) throw new Error(`oiq migrate failed:\n${migrated.errors}`);
    const bus = await openKafkaBus({ brokers: urls });
    return {
      kafka,
      brokers,
      clickhouse,
      mongodb,
      redis,
      columnsUrl,
      environment,
      dataDirectory,
      licenseKey,
      bus,
      async close() {
        await bus.close().catch(() => undefined);
        await stopAll();
      },
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
};

/** Starts a process of one role. It is stopped at the latest with the test's process. */
export const startRole = async (cluster: Cluster, role: string): Promise<OiqProcess> => {
  const ports = (await freePorts(3)) as unknown as Ports;
  const { dataDirectory, environment } = cluster;
  return startOiq({ args: [role], dataDirectory, ports, environment });
};
