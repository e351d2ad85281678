/** Expired snapshots of dashboards are deleted with their data, in both stores. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { MongoClient } from 'mongodb';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { snapshotExpiry } from '../../processors/dashboards/expired-snapshots.ts';
import type { SchedulePorts } from '../../processors/engine/schedule.ts';
import type { Documents, TenantDocuments } from '../../schemas/ports/documents.ts';
import { dashboardSnapshotContents, dashboardSnapshots } from '../../schemas/resources/dashboard-snapshot.ts';
import { removeSnapshots } from '../../subjects/dashboards/snapshots/remove.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices, unavailable } from '../services/services.ts';

const inADay = new Date(Date.now() + 86_400_000).toISOString();
const aSecondAgo = new Date(Date.now() - 1000).toISOString();

const add = async (own: TenantDocuments, { id, expiresAt = inADay }: { id: string; expiresAt?: string }) => {
  const fields = { dashboardId: 'shop', name: 'Shop', createdBy: 'u', tokenHash: 'h', labels: [], bodies: false };
  await own.collection(dashboardSnapshotContents).insert({ id, gzip: 'shown' });
  return own.collection(dashboardSnapshots).insert({ id, ...fields, expiresAt, opened: 0 });
};

const left = async (own: TenantDocuments): Promise<[string[], string[]]> => {
  const ids = ({ items }: { readonly items: readonly { readonly id: string }[] }) => items.map(({ id }) => id).sort();
  return [
    ids(await own.collection(dashboardSnapshots).list()),
    ids(await own.collection(dashboardSnapshotContents).list()),
  ];
};

const contract = (store: string, open: () => Promise<Documents>): void => {
  test(`${store}: the schedule deletes an expired snapshot with its data, and no other snapshot`, async (t) => {
    const documents = await open();
    t.teardown(() => documents.close());
    const [one, other] = [documents.forTenant(randomUUID()), documents.forTenant(randomUUID())];
    const ports = { documents } as unknown as SchedulePorts;
    const run = { dueMs: Date.now(), canWait: true, state: null, emit: {}, signal: AbortSignal.timeout(60_000), ports };
    const jobs = [
      [one, await add(one, { id: 'late', expiresAt: aSecondAgo })],
      [one, await add(one, { id: 'kept' })],
      [other, await add(other, { id: 'late' })],
    ] as const;
    for (const [{ tenantId }, job] of jobs) {
      await snapshotExpiry.run(job, { ...run, tenantId });
      // As after a crash between the two deletions.
      await snapshotExpiry.run(job, { ...run, tenantId });
    }
    t.deepEqual(await left(one), [['kept'], ['kept']]);
    t.deepEqual(await left(other), [['late'], ['late']]);
  });
};

const directory = mkdtempSync(join(tmpdir(), 'oiq-dashboard-snapshots-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));
const openSqlite = async (): Promise<Documents> => {
  const documents = await openSqliteDocuments({ path: join(directory, `${randomUUID()}.sqlite`) });
  await documents.ensureCollections([dashboardSnapshots, dashboardSnapshotContents]);
  return documents;
};
contract('sqlite', openSqlite);

test('all snapshots of a dashboard are deleted, even if they do not fit on one page', async (t) => {
  const documents = await openSqlite();
  t.teardown(() => documents.close());
  const own = documents.forTenant(randomUUID());
  await documents.transaction(async ({ forTenant }) => {
    for (let index = 0; index < 1001; index++) await add(forTenant(own.tenantId), { id: `s${index}` });
  });
  await documents.transaction(({ forTenant }) => removeSnapshots(forTenant(own.tenantId), { dashboardId: 'shop' }));
  t.deepEqual(await left(own), [[], []]);
});

const reason = unavailable('mongodb');
if (reason !== undefined) test.skip(`mongodb: ${reason}`, () => undefined);
else {
  const name = `oiq-snapshots-${process.pid}-${Date.now()}`;
  const urls = startServices(['mongodb']).then((services) => services.url('mongodb'));
  test.after.always(async () => {
    const client = await new MongoClient(await urls).connect();
    await client.db(name).dropDatabase();
    await client.close();
  });
  contract('mongodb', async () => {
    const documents = await openPatientDocuments((await urls).replace('/?', `/${name}?`));
    await documents.ensureCollections([dashboardSnapshots, dashboardSnapshotContents]);
    return documents;
  });
}
