/** Recipients of event mails of a project, and the first project of an installation. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { initializeInstallation } from '../../api/identity/accounts/first-start.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { licenseKeys, toSecretFields } from '../../schemas/resources/license-key.ts';
import { projects } from '../../schemas/resources/project.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const project = async (name: string): Promise<string> =>
  (await harness.request('POST', '/api/projects', { as: 'editor', body: { name } })).body.id;

test('a new project sends no mail, and its settings are stored with it', async (t) => {
  const id = await project('Mailed');
  const path = `/api/projects/${id}/notifications`;
  const first = await harness.request('GET', path, { as: 'viewer' });
  t.is(first.status, 200);
  t.like(first.body, { enabled: true, minimumSeverity: 'warning' });
  t.deepEqual(first.body.recipients, []);
  const body = { ...first.body, recipients: ['Ann@Example.com', 'ann@example.com', 'bob@example.com'] };
  const set = await harness.request('PUT', path, { as: 'editor', body });
  t.is(set.status, 200);
  t.deepEqual(set.body.recipients, ['ann@example.com', 'bob@example.com']);
  t.is(set.headers.get('etag'), '"2"');
  t.deepEqual((await harness.request('GET', path)).body, set.body);
  const { items } = await harness.documents
    .forTenant('a')
    .collection(auditRecords)
    .list({ filter: { action: 'project.set-notifications', 'resource.id': id } });
  t.is(items.length, 1);
});

test('settings use the version of the project, and survive a change of the project', async (t) => {
  const id = await project('Versioned');
  const path = `/api/projects/${id}/notifications`;
  await harness.request('PUT', path, { body: { recipients: ['ann@example.com'] } });
  const renamed = await harness.request('PATCH', `/api/projects/${id}`, { body: { name: 'Renamed' } });
  t.is(renamed.body.version, 3);
  t.false('notifications' in renamed.body);
  const stale = await harness.request('PUT', path, { body: {}, headers: { 'if-match': '"2"' } });
  t.is(stale.status, 412);
  const current = await harness.request('GET', path);
  t.deepEqual(current.body.recipients, ['ann@example.com']);
  t.is((await harness.request('GET', path, { headers: { 'if-none-match': '"3"' } })).status, 304);
});

const bad: readonly [string, object, string][] = [
  ['an address that is none', { recipients: ['ann@example.com', 'ann'] }, 'recipients.1'],
  ['an event that there is not', { events: ['birthday'] }, 'events.0'],
  [
    'more addresses than fifty',
    { recipients: Array.from({ length: 51 }, (_, n) => `a${n}@example.com`) },
    'recipients',
  ],
  ['a severity that there is not', { minimumSeverity: 'terrible' }, 'minimumSeverity'],
];
for (const [what, body, path] of bad) {
  test(`settings with ${what} are refused with the field`, async (t) => {
    const response = await harness.request('PUT', '/api/projects/any/notifications', { body });
    t.is(response.status, 400);
    t.is(response.body.details[0].path, path);
  });
}

test('a Viewer cannot change anything, and an Editor cannot delete anything', async (t) => {
  const id = await project('Guarded');
  const viewer = { as: 'viewer' } as const;
  t.is((await harness.request('PATCH', `/api/projects/${id}`, { ...viewer, body: { name: 'x' } })).status, 403);
  t.is((await harness.request('PUT', `/api/projects/${id}/notifications`, { ...viewer, body: {} })).status, 403);
  t.is((await harness.request('DELETE', `/api/projects/${id}`, { as: 'editor' })).status, 403);
  t.is((await harness.request('DELETE', `/api/projects/${id}`, { as: 'admin' })).status, 200);
});

test('a first start creates a key that is the ingest key of its project and the first audit record', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-first-'));
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  const first = await initializeInstallation(documents, parseSettings({ OIQ_DATA_DIR: directory }));
  const own = documents.forTenant('default');
  const { ingestKeyId = '' } = (await own.collection(projects).find('default')) ?? {};
  const key = await own.collection(licenseKeys).find(ingestKeyId);
  t.like(key, { projectId: 'default', ...toSecretFields(first?.licenseKey ?? '') });
  const records = await own.collection(auditRecords).list();
  t.like(records.items[0], { sequence: 1, action: 'organization.create', actor: { type: 'system' } });
  t.is(records.items.length, 1);
  await documents.close();
  rmSync(directory, { recursive: true, force: true });
});
