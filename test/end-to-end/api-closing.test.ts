/** Closing an organization: inaccessible at once, reopened by the operator, erased after 30 days. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { createSystemTransact } from '../../api/changes.ts';
import { collections } from '../../api/collections.ts';
import { erasureAction } from '../../api/groups/audit/chain/erasures.ts';
import { deriveEvidenceKey } from '../../api/groups/audit/chain/evidence-key.ts';
import { closeOrganization } from '../../api/identity/accounts/close-organization.ts';
import { eraseDueOrganizations } from '../../api/identity/accounts/erase-organizations.ts';
import { runOrganizationRequest } from '../../commands/control-request.ts';
import { createSecretBox, loadSecretKey } from '../../runtime/secret-box.ts';
import type { CollectionDefinition } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { identities, identitiesTenant } from '../../schemas/resources/identity.ts';
import { buildLicenseKey, licenseKeys } from '../../schemas/resources/license-key.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { projects } from '../../schemas/resources/project.ts';
import { sessions, sessionsTenant } from '../../schemas/resources/session.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { eventually } from '../waiting.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const clock = { now: () => Date.now() };
const keyOf = async () =>
  deriveEvidenceKey(createSecretBox(await loadSecretKey(parseSettings({ OIQ_DATA_DIR: harness.directory }))));
const dayMs = 86_400_000;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const command = async (request: Parameters<typeof runOrganizationRequest>[1]): Promise<string[]> => {
  const lines: string[] = [];
  await runOrganizationRequest({ documents: harness.documents, clock }, request, (line) => lines.push(line));
  return lines;
};
const close = async (token: string, name: unknown = 'Organization b') =>
  harness.request('DELETE', '/api/account', { as: `token ${token}`, body: { name } });

test.serial('only an Owner can close an organization, and only by its name', async (t) => {
  const admin = await harness.request('DELETE', '/api/account', { as: 'admin', body: { name: 'Organization a' } });
  t.is(admin.status, 403);
  const owner = await harness.signIn('owner@b.example');
  for (const name of ['organization b', 'b', '', 'Organization a']) {
    const refused = await close(owner, name);
    t.is(refused.status, 400, name);
    t.is(refused.body.details[0].path, 'name', name);
  }
  t.is((await harness.request('GET', '/auth/session', { as: `token ${owner}` })).status, 200);
});

test.serial(
  'a closed organization is inaccessible at once, for all its members, and its Owners are notified',
  async (t) => {
    const [owner, viewer] = [await harness.signIn('owner@b.example'), await harness.signIn('viewer@b.example')];
    const closed = await close(owner);
    t.is(closed.status, 200);
    const days = (Date.parse(closed.body.eraseAt) - Date.parse(closed.body.closedAt)) / dayMs;
    t.is(days, 30);
    for (const token of [owner, viewer])
      t.is((await harness.request('GET', '/auth/session', { as: `token ${token}` })).status, 401);
    await t.throwsAsync(harness.signIn('viewer@b.example'), { message: /could not sign in/ });
    t.is(await harness.documents.forTenant(sessionsTenant).collection(sessions).count({ tenantId: 'b' }), 0);
    const outbox = (): string => {
      try {
        return readFileSync(join(harness.directory, 'outbox.jsonl'), 'utf8');
      } catch {
        return '';
      }
    };
    await eventually('the mail', () => outbox().includes('owner@b.example'));
    t.regex(outbox(), /oiq organization reopen b/);
  },
);

test.serial(
  'the operator can reopen a closed organization, and everything except the sessions is as before',
  async (t) => {
    t.regex((await command({ action: 'list-organizations' })).join('\n'), /^b +free +closed, erased after \d{4}-/m);
    await t.throwsAsync(command({ action: 'reopen-organization', id: 'a' }), { message: /is not closed/ });
    await t.throwsAsync(command({ action: 'reopen-organization', id: 'x' }), {
      message: /organization x does not exist/,
    });
    await command({ action: 'reopen-organization', id: 'b' });
    const token = await harness.signIn('viewer@b.example');
    t.is((await harness.request('GET', '/api/account', { as: `token ${token}` })).body.name, 'Organization b');
    const actions: string[] = [];
    for await (const { tenantId, action } of harness.documents.findInAllTenants(auditRecords))
      if (tenantId === 'b' && action.startsWith('organization.')) actions.push(action);
    t.deepEqual(actions.sort(), ['organization.close', 'organization.reopen']);
  },
);

test.serial('the operator spreads an organization over more partitions, and the audit log records this', async (t) => {
  t.deepEqual(await command({ action: 'shard-organization', id: 'a', shards: 4 }), [
    'a (Organization a): 1 → 4 shards; receivers follow within seconds',
  ]);
  t.regex((await command({ action: 'list-organizations' })).join('\n'), /^a +\w+ +open +shards 4 +Organization a$/m);
  for (const shards of [0, 65, 1.5])
    await t.throwsAsync(command({ action: 'shard-organization', id: 'a', shards }), { message: /from 1 to 64/ });
  await t.throwsAsync(command({ action: 'shard-organization', id: 'x', shards: 2 }), {
    message: /organization x does not exist/,
  });
  const actions: string[] = [];
  for await (const { tenantId, action } of harness.documents.findInAllTenants(auditRecords))
    if (tenantId === 'a') actions.push(action);
  t.true(actions.includes('organization.shards'));
});

test.serial(
  'after the grace period everything of a closed organization except its audit records is erased, and nothing of other organizations',
  async (t) => {
    const { documents, columns } = harness;
    for (const tenant of ['a', 'b']) {
      await columns.execute(
        `INSERT INTO logs (tenant_id, received_at, timestamp, body) VALUES ('${tenant}', now(), now(), 'hello')`,
      );
      await documents.forTenant(tenant).collection(projects).insert({ id: 'p', name: 'p', description: '' });
      const key = buildLicenseKey(`key of ${tenant}`, { name: 'k', projectId: 'p', expiresAt: null });
      await documents.forTenant(tenant).collection(licenseKeys).insert(key);
    }
    const people = documents.forTenant(usersTenant).collection(users);
    const [both] = (await people.list({ filter: { email: 'editor@b.example' } })).items;
    await documents
      .forTenant('a')
      .collection(memberships)
      .insert({ id: both?.id ?? '', role: 'viewer' });
    const known = documents.forTenant(identitiesTenant).collection(identities);
    for await (const { id: userId, email } of documents.findInAllTenants(users))
      if (email.startsWith('editor@') || email.startsWith('viewer@'))
        await known.insert({ issuer: 'https://idp.example', subject: email, userId });
    const before = await documents.forTenant('b').collection(auditRecords).count();
    const stored = documents.forTenant(organizationsTenant).collection(organizations);
    const closeAt = async (now: number): Promise<void> => {
      const organization = await stored.find('b');
      if (organization === undefined) throw new Error('there is no organization b');
      await createSystemTransact(
        { documents, clock },
        'organization.close',
      )(async (scope) => {
        const named = { ...scope, record: (what: object) => scope.record({ ...what, id: 'b', tenantId: 'b' }) };
        await closeOrganization(named, organization, now);
      });
    };
    const evidenceKey = await keyOf();
    const erase = (): Promise<void> =>
      eraseDueOrganizations({ documents, columns, clock, log: silentLog, collections, evidenceKey });

    await closeAt(clock.now() - 29 * dayMs);
    await erase();
    t.is((await stored.find('b'))?.closed?.erased, false);
    t.is(await documents.forTenant('b').collection(projects).count(), 1);

    await closeAt(clock.now() - 30 * dayMs);
    await t.throwsAsync(command({ action: 'reopen-organization', id: 'b' }), { message: /its data was erased/ });
    await erase();
    await erase();
    const organization = await stored.find('b');
    t.is(organization?.name, '(erased)');
    t.is(organization?.closed?.erased, true);
    for (const each of [memberships, projects, licenseKeys] as CollectionDefinition<object>[]) {
      t.is(await documents.forTenant('b').collection(each).count(), 0, each.name);
      t.not(await documents.forTenant('a').collection(each).count(), 0, each.name);
    }
    const rows = await columns.query('SELECT DISTINCT tenant_id FROM logs');
    t.deepEqual(rows, [{ tenant_id: 'a' }]);
    const emails: string[] = [];
    for await (const { email } of documents.findInAllTenants(users))
      if (email.endsWith('@b.example')) emails.push(email);
    t.deepEqual(emails, ['editor@b.example']);
    const retainedRecords = await documents
      .forTenant('b')
      .collection(auditRecords)
      .list({ sort: { sequence: 1 } });
    t.true(retainedRecords.items.length > before);
    t.is(retainedRecords.items.filter(({ action }) => action === 'organization.erase').length, 1);
    const erasures = retainedRecords.items.filter(({ action }) => action === erasureAction);
    t.true(erasures.length > 0 && erasures.every((record) => evidenceKey.isErasureSigned('b', record)));
    t.notRegex(JSON.stringify(retainedRecords.items), /@b\.example|Organization b/);
    const evidence = await documents.forTenant('a').collection(auditRecords).list({ limit: 1 });
    t.regex(JSON.stringify(evidence.items), /@a\.example/);
  },
);

test.serial('no collection contains a document of an erased organization, except those of the audit log', async (t) => {
  const { documents, columns } = harness;
  const erased = collections.filter(({ name }) => !name.startsWith('audit-'));
  for (const tenant of ['c', 'd'])
    for (const collection of erased)
      await documents
        .forTenant(tenant)
        .collection(collection)
        .insert({ id: 'any' } as object);
  const at = new Date(clock.now()).toISOString();
  await documents
    .forTenant(organizationsTenant)
    .collection(organizations)
    .insert({ id: 'c', name: 'c', planId: 'free', closed: { at, eraseAt: at, erased: false } } as never);
  await eraseDueOrganizations({ documents, columns, clock, log: silentLog, collections, evidenceKey: await keyOf() });
  const holding = async (tenant: string): Promise<string[]> => {
    const tenantCollections: string[] = [];
    for (const collection of collections)
      if ((await documents.forTenant(tenant).collection(collection).count()) > 0)
        tenantCollections.push(collection.name);
    return tenantCollections;
  };
  t.deepEqual(await holding('c'), ['audit-records', 'audit-heads']);
  t.deepEqual(
    await holding('d'),
    erased.map(({ name }) => name),
  );
});
