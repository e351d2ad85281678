/**
 * The states of checks, read with one statement, compared with the uptime calculated from the same states one by one.
 */
import test from 'ava';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { readCheckStatuses, readStates, uptimeDays } from '../../../subjects/synthetics/stored-results.ts';
import { computeUptime } from '../../../subjects/synthetics/uptime.ts';
import { runSeed } from '../../parts.ts';
import { seeded } from '../random.ts';
import { openTables, receivedAtMs, type Tables } from '../sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const states = ['up', 'down', 'degraded', 'unknown'] as const;

test('the state of a check follows from its states of today, from before ninety days, or duplicated', async (t) => {
  const random = seeded(runSeed);
  const nowMs = receivedAtMs;
  const ids = Array.from({ length: 12 }, (_, index) => `c${index}`);
  const row = (tenant: string, id: string, place: string, atMs: number): string =>
    `('${tenant}', '${id}', '${place}', fromUnixTimestamp64Milli(toInt64(${atMs})), '${states[random(4)]}')`;
  const rows = ids.flatMap((id, index) => [
    // Some checks have all their changes in the last days, some have none, and some change exactly at the start of a
    // day.
    ...Array.from({ length: random(12) }, () =>
      row('acme', id, '', nowMs - random([2, 40, 300][index % 3] ?? 1) * dayMs),
    ),
    ...Array.from({ length: random(8) }, () => row('acme', id, '', nowMs - 90 * dayMs - random(300 * dayMs))),
    row('acme', id, 'local', nowMs - random(100) * dayMs - 1),
    row('other', id, '', nowMs - 1000),
    row('acme', id, '', nowMs + 5000),
  ]);
  const once = [...new Map(rows.map((each) => [each.replace(/, '\w+'\)$/, ''), each])).values()];
  await tables.columns.execute('SYSTEM STOP MERGES synthetic_states');
  for (const some of [once, once.filter((_, index) => index % 3 === 0)])
    await tables.columns.execute(`INSERT INTO synthetic_states VALUES ${some.join(', ')}`);
  const reader = { columns: tables.columns.forTenant('acme'), nowMs } as unknown as TenantReader;
  const statuses = await readCheckStatuses(reader, [...ids, 'none'], nowMs);
  t.false(statuses.has('none'));
  for (const id of ids) {
    const title = `${id} (TEST_SEED=${runSeed})`;
    const changes = (await readStates(reader, id, { fromMs: 0, toMs: nowMs + 1 })).get('') ?? [];
    const found = statuses.get(id);
    t.is(found?.state, changes.at(-1)?.state, title);
    const recent = await readStates(reader, id, { fromMs: nowMs - 90 * dayMs + 1, toMs: nowMs + 1 });
    t.is(found?.sinceMs, recent.get('')?.at(-1)?.atMs, title);
    if (found === undefined) continue;
    const uptimes = uptimeDays.map(
      (days) => computeUptime(changes, [], { fromMs: nowMs - days * dayMs, toMs: nowMs }).uptime,
    );
    t.deepEqual(found.uptime, uptimes, title);
    const hours = Array.from(
      { length: 24 },
      (_, hour) =>
        computeUptime(changes, [], { fromMs: nowMs - (24 - hour) * hourMs, toMs: nowMs - (23 - hour) * hourMs }).uptime,
    );
    t.deepEqual(found.hours, hours, title);
  }
});
