/** How probes of a location share its checks, and take over those of a silent probe. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../../adapters/documents-sqlite/documents-sqlite.ts';
import { createSecretBox } from '../../../runtime/secret-box.ts';
import { syntheticChecks } from '../../../schemas/resources/synthetic-check.ts';
import { syntheticProbeContacts } from '../../../schemas/resources/synthetic-location.ts';
import { syntheticRunRequests } from '../../../schemas/resources/synthetic-run-request.ts';
import { syntheticVariables } from '../../../schemas/resources/synthetic-variable.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import { createWork } from '../../../subjects/synthetics/work.ts';

const location = 'here';
const pollMs = 2000;
const count = 30;

test('a check belongs to one probe at a time; checks of a vanished probe move to others within 30 seconds, and all other checks stay', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'probe-work-'));
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.db') });
  t.teardown(async () => {
    await documents.close();
    rmSync(directory, { recursive: true });
  });
  await documents.ensureCollections([
    syntheticChecks,
    syntheticProbeContacts,
    syntheticVariables,
    syntheticRunRequests,
  ]);
  const own = documents.forTenant('a');
  const icmp = { host: 'router.example' };
  for (let index = 0; index < count; index++) {
    const fields = CheckFields.parse({ name: `c${index}`, type: 'icmp', icmp, locations: [location] });
    await own.collection(syntheticChecks).insert({ id: `c${index}`, ...fields });
  }
  const box = createSecretBox('k'.repeat(40));
  let nowMs = Date.parse('2026-03-01T12:00:00Z');
  /** Polls work for each of these probes, at the usual interval; returns the checks assigned to each. */
  const polled = async (...probes: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> => {
    nowMs += pollMs;
    const assignments = new Map<string, readonly string[]>();
    for (const probe of probes) {
      const { checks } = await createWork(own, { location, probe, nowMs }, box);
      assignments.set(
        probe,
        (checks ?? []).map(({ check }) => check.id),
      );
    }
    return assignments;
  };
  const all = (assignments: ReadonlyMap<string, readonly string[]>): string[] => [...assignments.values()].flat();

  await polled('p1', 'p2', 'p3');
  let before = await polled('p1', 'p2', 'p3');
  for (let round = 0; round < 15; round++) before = await polled('p1', 'p2', 'p3');
  t.is(all(before).length, count);
  t.is(new Set(all(before)).size, count);
  for (const [probe, checks] of before) t.true(checks.length > 0, `${probe} has some`);

  const vanishedMs = nowMs;
  let after = await polled('p1', 'p2');
  for (; all(after).length < count && nowMs < vanishedMs + 60_000; after = await polled('p1', 'p2'))
    t.is(new Set(all(after)).size, all(after).length, 'none is run twice meanwhile');
  t.true(nowMs - vanishedMs <= 30_000, `after ${nowMs - vanishedMs} ms`);
  t.is(new Set(all(after)).size, count);
  for (const probe of ['p1', 'p2'])
    for (const id of before.get(probe) ?? []) t.true(after.get(probe)?.includes(id), `${id} stays with ${probe}`);
  // The probe returns, and gets its former checks.
  await polled('p1', 'p2', 'p3');
  t.deepEqual((await polled('p1', 'p2', 'p3')).get('p3')?.toSorted(), before.get('p3')?.toSorted());
});
