/** Runs suites of the API and of tables over ClickHouse servers instead of the embedded engine. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { shardCount } from '../budget.ts';
import { useTables } from '../cases/sink-tables.ts';
import { spread } from '../contract/spread-columns.ts';
import { clusterName, startShards } from '../services/clickhouse-shards.ts';
import { startServices, unavailable } from '../services/services.ts';
import { useColumns } from './api-harness.ts';

/** Opens a new database, which is dropped when the columns are closed. */
const openServed = async (): Promise<Columns> => {
  const database = `api_${randomUUID().slice(0, 8)}`;
  const server = (await startServices(['clickhouse'])).url('clickhouse');
  const columns = await openClickhouseColumns({ urls: [`${server}/${database}`] });
  return new Proxy(columns, {
    get(target, name) {
      if (name === 'close')
        return async () => {
          await target.execute(`DROP DATABASE ${database}`);
          await target.close();
        };
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
};

let shards: Promise<readonly string[]> | undefined;

/** Addresses of shards, which are stopped with the process. */
const startedShards = async (): Promise<readonly string[]> => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-shards-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return (await startShards(shardCount, directory)).map((shard) => {
    shard.unref();
    return shard.url;
  });
};

/** Opens a new database on shards. Blocks are spread over them at random. */
const openSharded = async (): Promise<Columns> => {
  shards ??= startedShards();
  const database = `api_${randomUUID().slice(0, 8)}`;
  const urls = (await shards).map((url) => `${url}/${database}`);
  return spread(await openClickhouseColumns({ urls, cluster: clusterName }));
};

/** Registers the tests of a suite over a ClickHouse server, or over the shards of a cluster. */
export const runOnClickhouse = async (
  suite: () => Promise<unknown>,
  { servers = 1 }: { readonly servers?: 1 | 2 } = {},
): Promise<void> => {
  const reason = unavailable('clickhouse');
  if (reason !== undefined) {
    test.skip(`clickhouse: ${reason}`, () => undefined);
    return;
  }
  const open = servers === 1 ? openServed : openSharded;
  useColumns(open);
  useTables(open);
  await suite();
};
