/** A location without a vote raises one alert of its organization, which ends when its results count again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../../adapters/documents-sqlite/documents-sqlite.ts';
import { listFiringPlatformAlerts } from '../../../api/groups/alerts/platform-alerts.ts';
import { detectSuspects } from '../../../api/platform-watch/suspect-locations.ts';
import type { AlertTransition } from '../../../schemas/alerts.ts';
import type { Columns } from '../../../schemas/ports/columns.ts';
import { silentLog } from '../../../schemas/ports/log.ts';
import { syntheticChecks } from '../../../schemas/resources/synthetic-check.ts';
import { syntheticLocations, syntheticProbeContacts } from '../../../schemas/resources/synthetic-location.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import type { CheckResult } from '../../../subjects/synthetics/stored-results.ts';
import { findSuspectLocations } from '../../../subjects/synthetics/suspects.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const check = (of: object = {}) => ({ enabled: true, every: '1m', locations: ['f', 'z'], ...of });
const latest = (failing: string): CheckResult[] =>
  ['c1', 'c2', 'c3', 'c4'].flatMap((checkId) =>
    ['f', 'z'].map((location) => ({
      checkId,
      location,
      startedAtMs: nowMs,
      outcome: location === failing ? ('failed' as const) : ('passed' as const),
    })),
  );
const suspects = (of: object = {}) =>
  Object.fromEntries(
    findSuspectLocations({
      checks: [check()],
      latest: [],
      sinceMs: () => 0,
      nowMs,
      lastSeenAtMs: new Map([
        ['f', nowMs],
        ['z', nowMs],
      ]),
      ...of,
    }),
  );

test('a location is suspect when it is silent for three of its shortest intervals or fails checks that pass elsewhere', (t) => {
  const lastSeenAgo = (agoMs: number) => ({
    lastSeenAtMs: new Map([
      ['f', nowMs - agoMs],
      ['z', nowMs],
    ]),
  });
  t.deepEqual(suspects(), {});
  t.deepEqual(suspects(lastSeenAgo(180_000)), {});
  t.deepEqual(suspects(lastSeenAgo(180_001)), { f: 'silent' });
  t.deepEqual(suspects({ ...lastSeenAgo(180_001), latest: latest('') }), {}, 'a result is contact');
  t.deepEqual(suspects({ ...lastSeenAgo(120_000), checks: [check(), check({ every: '30s', locations: ['f'] })] }), {
    f: 'silent',
  });
  t.deepEqual(
    suspects({ ...lastSeenAgo(50_000), checks: [check({ every: '10s' })] }),
    {},
    'contacts are noted every ten seconds',
  );
  t.deepEqual(suspects({ ...lastSeenAgo(900_000), checks: [check({ enabled: false })] }), {}, 'no check runs there');
  t.deepEqual(suspects({ ...lastSeenAgo(900_000), sinceMs: () => nowMs - 60_000 }), {}, 'it has just started');
  t.deepEqual(suspects({ lastSeenAtMs: new Map() }), { f: 'silent', z: 'silent' });
  t.deepEqual(suspects({ latest: latest('z') }), { z: 'differs' });
});

test('a suspect location raises one alert with its reason, which is listed among the alerts and ends', async (t) => {
  const clock = { ms: Date.now(), now: () => clock.ms };
  const directory = mkdtempSync(join(tmpdir(), 'suspects-'));
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.db'), clock });
  t.teardown(async () => {
    await documents.close();
    rmSync(directory, { recursive: true });
  });
  const own = documents.forTenant('acme');
  const { id } = await own
    .collection(syntheticLocations)
    .insert({ name: 'Frankfurt', description: '', hash: 'h', prefix: 'p' });
  const fields = CheckFields.parse({ name: 'Shop', type: 'tcp', tcp: { host: 'a.example', port: 1 }, locations: [id] });
  const stored = await own.collection(syntheticChecks).insert(fields);
  const transitions: AlertTransition[] = [];
  const checkSuspects = () =>
    detectSuspects(
      {
        documents,
        clock,
        log: silentLog,
        publishEvent: async () => undefined,
        columns: { forTenant: () => ({ query: async () => [] }) } as unknown as Columns,
        publish: async (transition) => void transitions.push(transition),
      },
      new AbortController().signal,
    );
  await checkSuspects();
  t.is(transitions.length, 0, 'the check is new');
  clock.ms += 200_000;
  await checkSuspects();
  await checkSuspects();
  t.is(transitions.length, 1);
  t.like(transitions[0], { to: 'firing', alertId: `suspect-location-${id}`, severity: 'warning' });
  t.like(transitions[0]?.labels, {
    alertname: 'SyntheticLocationSuspect',
    location_name: 'Frankfurt',
    reason: 'silent',
  });
  t.is(
    transitions[0]?.reason,
    'Frankfurt has sent no results for three intervals of its checks: its results are not reliable',
  );
  t.is((await listFiringPlatformAlerts(documents, 'acme', clock.ms)).length, 1);
  t.is((await listFiringPlatformAlerts(documents, 'other', clock.ms)).length, 0);
  await own
    .collection(syntheticProbeContacts)
    .insert({ location: id, probe: 'p', lastSeenAt: new Date(clock.ms).toISOString() });
  await checkSuspects();
  t.like(transitions[1], { to: 'inactive', endedAtMs: clock.ms });
  t.deepEqual(await listFiringPlatformAlerts(documents, 'acme', clock.ms), []);
  clock.ms += 200_000;
  await checkSuspects();
  t.is(transitions.length, 3);
  await own.collection(syntheticChecks).delete(stored.id);
  await checkSuspects();
  t.is(transitions.length, 4, 'no check runs there any more');
});
