/** A Redis client that never blocks: a call completes in time or fails, and the client reconnects by itself. */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { parseRedisAddress, type RedisAddress } from '../schemas/redis-address.ts';

/** Timeout of a call to one server; in a cluster, a server may redirect the call to another one. */
const commandTimeoutMs = 500;
/** A cluster that moves slots redirects to another server; more redirections mean that its state is inconsistent. */
const maxRedirections = 3;

const getRetryDelayMs = (times: number): number => Math.min(times * 100, 1000);

const commonOptions = {
  connectionName: 'oiq',
  commandTimeout: commandTimeoutMs,
  connectTimeout: 2000,
  // A call fails immediately instead of waiting for Redis, and is never sent twice.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // The server became a replica: the address, or Sentinel, may now resolve to another server.
  reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
} as const satisfies RedisOptions;

/** For a client with one connection; a cluster client manages the connections of its servers itself. */
const connectionOptions = {
  ...commonOptions,
  enableAutoPipelining: true,
  enableOfflineQueue: false,
  retryStrategy: getRetryDelayMs,
} as const satisfies RedisOptions;

type Scripts = Readonly<Record<string, { lua: string; numberOfKeys: number }>>;

const getLoginOptions = ({ username, password, usesTls }: RedisAddress) => ({
  ...(username !== undefined && { username }),
  ...(password !== undefined && { password }),
  ...(usesTls && { tls: {} }),
});

const connectServer = (address: RedisAddress, scripts: Scripts): Redis =>
  new Redis({
    ...connectionOptions,
    ...getLoginOptions(address),
    ...address.nodes[0],
    db: address.database,
    scripts: { ...scripts },
  });

const connectSentinel = (address: RedisAddress, scripts: Scripts): Redis =>
  new Redis({
    ...connectionOptions,
    ...getLoginOptions(address),
    sentinels: [...address.nodes],
    name: address.name as string,
    ...(address.sentinelUsername !== undefined && { sentinelUsername: address.sentinelUsername }),
    ...(address.sentinelPassword !== undefined && { sentinelPassword: address.sentinelPassword }),
    ...(address.usesTls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
    sentinelRetryStrategy: getRetryDelayMs,
    db: address.database,
    scripts: { ...scripts },
  });

const connectCluster = (address: RedisAddress, scripts: Scripts): Cluster =>
  new Cluster([...address.nodes], {
    // Without automatic pipelines: ioredis 6.0 never settles the calls of a pipeline that met a dead server.
    enableAutoPipelining: false,
    enableOfflineQueue: false,
    redisOptions: { ...commonOptions, ...getLoginOptions(address) },
    // Certificates contain the names by which servers are reached.
    ...(address.usesTls && {
      dnsLookup: (host: string, callback: (error: null, host: string) => void) => callback(null, host),
    }),
    clusterRetryStrategy: getRetryDelayMs,
    maxRedirections,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: 2000,
    slotsRefreshInterval: 5000,
    scripts: { ...scripts },
  });

/**
 * Connects to the address of `OIQ_REDIS_URL`: one server, Sentinel or a cluster. `scripts` become methods of the
 * client.
 */
export const connectRedis = (url: string, scripts: Scripts): Redis | Cluster => {
  const address = parseRedisAddress(url);
  if (address.kind === 'cluster') return connectCluster(address, scripts);
  return address.kind === 'sentinel' ? connectSentinel(address, scripts) : connectServer(address, scripts);
};

/**
 * Reconnects after a call without a response. A hanging server does not close its connection, even when Sentinel or a
 * shared address already resolves to another server. A cluster finds its servers by itself.
 */
export const reconnect = (client: Redis | Cluster, { message }: Error): void => {
  if (!client.isCluster && message === 'Command timed out') (client as Redis).disconnect(true);
};
