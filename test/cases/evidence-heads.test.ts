/** Signed heads on their way: on the bus, and in the table where the sink lands them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { segmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { chdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openHeadStore } from '../../api/audit/tree-head-store.ts';
import { silent } from '../../schemas/ports/log.ts';
import { allTopics } from '../../schemas/topics.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { headKey, headOf, headsIn, landHeads } from './signed-heads.ts';

test('heads are read in order of size, landed or not, each once and exactly as signed', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-heads-'));
  const columns = await chdbColumns({ directory: join(directory, 'columns') });
  await migrate(columns, silent);
  const bus = await segmentsBus({ directory: join(directory, 'bus') });
  await bus.ensureTopics(allTopics);
  const heads = openHeadStore(bus, columns);
  t.teardown(async () => {
    await heads.close();
    await bus.close();
    await columns.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const all = (...args: [tenantId: string, after?: number, upTo?: number]) => headsIn(heads, ...args);
  const landed = () => landHeads(bus, columns);

  const [three, seven, ten] = [headOf('a', 3), headOf('a', 7), headOf('a', 10)] as const;
  await heads.publish([three, headOf('b', 4), seven]);
  t.deepEqual(await all('a'), [three, seven], 'all on the bus');
  await landed();
  t.deepEqual(await all('a'), [three, seven], 'all in the table');
  const again = headOf('a', 7, '2026-03-01T11:00:00.000Z');
  await heads.publish([ten, again, headOf('b', 9)]);
  t.deepEqual(await all('a'), [three, seven, again, ten], 'some here, some there');
  t.deepEqual(await all('a', 3, 9), [seven, again]);
  t.deepEqual(
    (await heads.newest('a')).map(({ size }) => size),
    [10, 7, 7, 3],
  );
  t.deepEqual([...(await heads.sizes())].sort(), [
    ['a', 7],
    ['b', 4],
  ]);
  await landed();
  await columns.execute('OPTIMIZE TABLE evidence_heads FINAL');
  t.deepEqual(await all('a'), [three, again, ten], 'two heads over the same records are one');
  t.true((await all('a')).every((head) => headKey.signed(head)));
  t.deepEqual(await all('c'), []);
});
