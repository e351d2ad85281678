/** Signed heads on the bus, and in the table to which the sink writes them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { createHeadStore } from '../../api/groups/audit/chain/tree-head-store.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { HeadStore } from '../../schemas/ports/evidence.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { allTopics } from '../../schemas/topics.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { headKey, headOf, headsIn, landHeads } from './signed-heads.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-heads-'));
let columns: Columns;
let bus: Bus;
let heads: HeadStore;
test.before(async () => {
  columns = await openChdbColumns({ directory: join(directory, 'columns') });
  await migrate(columns, silentLog);
  bus = await openSegmentsBus({ directory: join(directory, 'bus') });
  await bus.ensureTopics(allTopics);
  heads = createHeadStore(bus, columns);
});
test.after.always(async () => {
  await heads?.close();
  await bus?.close();
  await columns?.close();
  rmSync(directory, { recursive: true, force: true });
});

test.serial('heads are read in order of size, landed or not, each once and exactly as signed', async (t) => {
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
    (await heads.listNewest('a')).map(({ size }) => size),
    [10, 7, 7, 3],
  );
  t.deepEqual([...(await heads.getNewestSizes())].sort(), [
    ['a', 7],
    ['b', 4],
  ]);
  await landed();
  await columns.execute('OPTIMIZE TABLE evidence_heads FINAL');
  t.deepEqual(await all('a'), [three, again, ten], 'two heads over the same records are one');
  t.true((await all('a')).every((head) => headKey.isSignedBy(head)));
  t.deepEqual(await all('c'), []);
});

test.serial('heads of the same size at the end of a page of a thousand are all read', async (t) => {
  // Without this, two heads of the same size become one.
  await columns.execute('SYSTEM STOP MERGES evidence_heads');
  const head = headOf('paged', 1);
  const sized = (size: number, signedAt = head.signedAt) => ({ ...head, size, signedAt });
  await heads.publish(Array.from({ length: 1_000 }, (_, place) => sized(place + 1)));
  await landHeads(bus, columns);
  await heads.publish([sized(1_000, '2026-03-01T11:00:00.000Z')]);
  await landHeads(bus, columns);
  const sizes = (await headsIn(heads, 'paged')).map(({ size }) => size);
  t.deepEqual(sizes.slice(-3), [999, 1_000, 1_000]);
  t.is(sizes.length, 1_001);
});
