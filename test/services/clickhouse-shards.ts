/** Several ClickHouse servers that read each other's tables: shards of one cluster, without replicas. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterFile } from './clickhouse.ts';
import { freePorts } from './ports.ts';
import { withoutResets } from './resets.ts';
import { type Instance, startService } from './services.ts';

/** Name in `system.clusters`. */
export const clusterName = 'shards';

/**
 * The name of the cluster of the first servers, and of the cluster with all servers whose last one gets no new rows.
 */
export const firstShards = (count: number): string => `${clusterName}_${count}`;
export const emptying = 'emptying';

const clusterOf = (name: string, ports: readonly number[], weightOfLast = 1): string =>
  `<${name}>
${ports
  .map(
    (port, shard) =>
      `    <shard><weight>${shard === ports.length - 1 ? weightOfLast : 1}</weight><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`,
  )
  .join('\n')}
  </${name}>`;

/** Name of a disk for `BACKUP`. */
export const backups = 'backups';

/** Storage policy with a volume `cold` beside the default disk. */
export const tiered = 'tiered';

/** `tcpPorts` are the ports of all servers as seen by this one, including its own. */
const configurationOf = (tcpPorts: readonly number[], own: number, directory: string): string => `<clickhouse>
  <tcp_port>${tcpPorts[own]}</tcp_port>
  <query_condition_cache_size>${100 * 1024 * 1024}</query_condition_cache_size>
  <storage_configuration>
    <disks>
      <cold><path>${directory}/cold/</path></cold>
      <${backups}><type>local</type><path>${directory}/${backups}/</path></${backups}>
    </disks>
    <policies><${tiered}><volumes><default><disk>default</disk></default><cold><disk>cold</disk></cold></volumes></${tiered}></policies>
  </storage_configuration>
  <backups><allowed_disk>${backups}</allowed_disk></backups>
  <remote_servers>${[
    clusterOf(clusterName, tcpPorts),
    clusterOf(emptying, tcpPorts, 0),
    ...tcpPorts.map((_, last) => clusterOf(firstShards(last + 1), tcpPorts.slice(0, last + 1))),
  ].join('\n  ')}</remote_servers>
</clickhouse>
`;

/**
 * Starts the servers in the order of their shards, with their files under `directory`. With three or more servers, set
 * `shielded` before killing one: connection resets of the killed server would end the others.
 */
export const startShards = async (
  count: number,
  directory: string,
  { shielded = false } = {},
): Promise<readonly Instance[]> => {
  const ports = await freePorts(2 * count);
  const [httpPorts, tcpPorts] = [ports.slice(0, count), ports.slice(count)];
  const found = shielded ? await Promise.all(tcpPorts.map(withoutResets)) : tcpPorts;
  return Promise.all(
    httpPorts.map(async (port, shard) => {
      const own = join(directory, `shard-${shard + 1}`);
      await mkdir(own, { recursive: true });
      await writeFile(join(own, clusterFile), configurationOf(found.with(shard, tcpPorts[shard] ?? 0), shard, own));
      return startService('clickhouse', { port, directory: own });
    }),
  );
};
