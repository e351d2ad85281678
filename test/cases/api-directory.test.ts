/** Permissions of documents that another instance has just created, before the change feed delivers them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { loadMemoryDirectory } from '../../api/identity/directory.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { defaultPlans, type Plan, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { apiTokens, serviceAccounts } from '../../schemas/resources/service-account.ts';

const clock = { now: () => Date.now() };
const hash = 'a'.repeat(64);

/** The store, with a feed that delivers the initial documents and no later changes. */
const deaf = (documents: Documents): Documents => ({
  forTenant: (tenantId) => documents.forTenant(tenantId),
  ensureCollections: (definitions) => documents.ensureCollections(definitions),
  findInAllTenants: (definition, filter) => documents.findInAllTenants(definition, filter),
  transaction: (work) => documents.transaction(work),
  check: () => documents.check(),
  close: () => documents.close(),
  async follow(definition, onChange) {
    let isInitialized = false;
    const feed = await documents.follow(definition, (change) => {
      if (!isInitialized) onChange(change);
    });
    isInitialized = true;
    return { getStaleMs: () => 0, close: () => feed.close() };
  },
});

test('an API token that the feed has not delivered is looked up in the store on first use', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'oiq-directory-'));
  const documents = await openSqliteDocuments({ path: join(path, 'documents.sqlite') });
  await documents
    .forTenant(plansTenant)
    .collection(plans)
    .insert({ id: 'free', ...(defaultPlans['free'] as Plan) });
  const directory = await loadMemoryDirectory(deaf(documents), clock);
  await documents
    .forTenant(organizationsTenant)
    .collection(organizations)
    .insert({ id: 'a', name: 'A', planId: 'free', retentionDays: {}, shards: 1, disabled: false });
  const account = await documents
    .forTenant('a')
    .collection(serviceAccounts)
    .insert({ name: 'ci', description: '', role: 'viewer', disabled: false });
  await documents
    .forTenant('a')
    .collection(apiTokens)
    .insert({
      serviceAccountId: account.id,
      name: 'Token',
      hash,
      prefix: 'oiq_sa_x',
      scopes: ['logs:read'],
      expiresAt: new Date(clock.now() + 60_000).toISOString(),
      createdBy: { type: 'user', id: '', name: '' },
    });
  t.is(directory.getServiceAccountCaller(hash), undefined);
  t.like(await directory.loadServiceAccountCaller(hash), { tenantId: 'a', role: 'viewer', scopes: ['logs:read'] });
  t.like(directory.getServiceAccountCaller(hash), { tenantId: 'a' }, 'and is cached from then on');
  t.is(await directory.loadServiceAccountCaller('b'.repeat(64)), undefined);
  await directory.close();
  await documents.close();
  rmSync(path, { recursive: true, force: true });
});
