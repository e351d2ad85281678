/** A process that is killed while it sums hours of calls leaves no wrong sums. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { copyColumns } from '../services/columns-template.ts';

const runMember = (...parameters: readonly string[]) =>
  spawnSync(process.execPath, [fileURLToPath(new URL('llm-hours-member.ts', import.meta.url)), ...parameters], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });

test('totals equal those of the calls after kills at any moment of the summation', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-llm-hours-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  copyColumns(directory);
  const columns = await openChdbColumns({ directory });
  await migrate(columns, silentLog);
  await columns.close();

  const killsMs = [0, 20, 60, 150, 400];
  for (const killMs of killsMs) t.is(runMember(directory, String(killMs)).signal, 'SIGKILL');
  const { afterKills, summed, single } = JSON.parse(runMember(directory).stdout);
  t.is(single.total.requests, 8_000 * killsMs.length);
  t.true(summed.isSummed);
  for (const read of [afterKills, summed]) t.deepEqual({ ...read, isSummed: false }, single);
});
