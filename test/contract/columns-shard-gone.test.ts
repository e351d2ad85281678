/** What a cluster of ClickHouse answers while a shard's only server is gone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { clickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { silent } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { clusterName, startShards } from '../services/clickhouse-shards.ts';
import { unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { blockOf, countOf, quoted, someTenant, tableNamed } from './columns-harness.ts';

const reason = unavailable('clickhouse');
const run = reason === undefined ? test : test.skip;

run(
  'while a shard is gone its rows are refused and no smaller number is answered, and those of the other shard land',
  async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'oiq-shards-'));
    const shards = await startShards(2, directory);
    const columns = await clickhouseColumns({ urls: shards.map(({ url }) => `${url}/oiq`), cluster: clusterName });
    t.teardown(async () => {
      await columns.close();
      await Promise.all(shards.map((shard) => shard.stop()));
      rmSync(directory, { recursive: true, force: true });
    });
    await migrate(columns, silent);
    const native = async (select: string): Promise<Uint8Array> => {
      const response = await fetch(shards[0]?.url ?? '', { method: 'POST', body: `${select} FORMAT Native` });
      return new Uint8Array(await response.arrayBuffer());
    };
    const under = { columns, native };
    const [here, there] = [someTenant(), someTenant()];
    const blockFor = (tenant: string) => blockOf(under, tableNamed('logs'), { tenant_id: quoted(tenant) });
    const [first, second] = [await blockFor(here), await blockFor(there)];
    await columns.insert(first, `${here}:1`, 0);
    await columns.insert(second, `${there}:1`, 1);

    await shards[1]?.kill();
    await columns.insert(first, `${here}:2`, 0);
    await t.throwsAsync(columns.insert(second, `${there}:2`, 1), { instanceOf: UnavailableError });
    await t.throwsAsync(countOf(under, 'logs', here), { instanceOf: UnavailableError });

    await shards[1]?.start();
    await eventually('the shard is read again', () =>
      countOf(under, 'logs', here).then(
        () => true,
        () => false,
      ),
    );
    await columns.insert(second, `${there}:1`, 1);
    await columns.insert(second, `${there}:2`, 1);
    t.is(await countOf(under, 'logs', here), 200);
    t.is(await countOf(under, 'logs', there), 200);
  },
);
