/** Features of declared resources that no registered resource uses, tested with a synthetic one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { z } from 'zod';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import type { Caller } from '../../api/callers/caller.ts';
import { createTransact } from '../../api/changes.ts';
import { ApiError } from '../../api/errors.ts';
import type { Ports } from '../../api/kernel/ports.ts';
import type { RequestFacts } from '../../api/request-facts.ts';
import { defineResource } from '../../api/resources/resource.ts';
import { createSecretSchema, openSecret, secretMask } from '../../api/resources/resource-secrets.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import { type Documents, defineCollection } from '../../schemas/ports/documents.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';

const Fields = z.strictObject({
  name: z.string().min(1),
  url: z.url().default('https://example.com/'),
  token: createSecretSchema(z.string().min(8)).nullable().default(null),
  window: z.strictObject({ days: z.int().default(30), zone: z.string().default('UTC') }).prefault({}),
  tags: z.array(z.string()).default([]),
});
interface Hook extends z.output<typeof Fields> {
  readonly owner: string;
}
const hooks = defineCollection<Hook>({ name: 'hooks', unique: [['name']] });
const View = z.strictObject({ ...Fields.shape, owner: z.string(), id: z.string(), version: z.int() });

/** Runs while a document is completed, before its transaction. */
let completing: (after: Hook) => Promise<unknown> = async () => undefined;

const changes: [tenantId: string, what: string][] = [];
const resource = defineResource<typeof Fields, Hook, typeof View>({
  noun: 'web hook',
  path: '/api/hooks',
  collection: hooks,
  verbs: ['create', 'read', 'replace', 'patch', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  fields: Fields,
  example: { name: 'One' },
  initial: ({ caller }) => ({ owner: caller.actor.name }),
  async complete(after) {
    await completing(after);
    return { document: after };
  },
  prepare(after) {
    if (after.tags.includes('forbidden')) throw new ApiError('CONFLICT', 'that tag is taken by the platform');
    return { ...after, tags: [...after.tags].sort() };
  },
  view: View,
  show: (documents) =>
    documents.map(({ id, version, name, url, token, window, tags = [], owner }) => ({
      id,
      version,
      name,
      url,
      window,
      tags,
      owner,
      token: token === null ? null : secretMask,
    })),
  secrets: [{ path: 'token', destination: ['url'] }],
  requiresIfMatch: true,
  maxCount: 20,
});

const box = createSecretBox('the secret key of this test');
const directory = mkdtempSync(join(tmpdir(), 'oiq-resource-'));
let documents: Documents;
test.before(async () => {
  documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  await documents.ensureCollections([hooks]);
});
test.after.always(async () => {
  await documents?.close();
  rmSync(directory, { recursive: true, force: true });
});

const clock = { now: () => Date.parse('2025-06-01T12:00:00Z') };

/** Runs the operation of a method as a user of a separate tenant. */
const requestsAs = (tenantId: string) => {
  const caller = { tenantId, actor: { type: 'user', id: 'u1', name: 'ann@example.com' } };
  return async (method: string, { id, body, ifMatch = '' }: { id?: string; body?: unknown; ifMatch?: string } = {}) => {
    const operation = resource.operations.find(
      (one) => one.method === method && one.path.includes('{') === Boolean(id),
    );
    if (operation === undefined) throw new Error(`there is no ${method}`);
    const headers: Record<string, string> = {};
    const request = {
      requestId: 'r1',
      address: '192.0.2.1',
      userAgent: '',
      host: '',
      secure: true,
      header: (name: string) => (name === 'if-match' ? ifMatch : ''),
      reply(name: string, value: string) {
        headers[name] = value;
      },
      redirect: () => undefined,
    } as RequestFacts;
    const ports = { documents, clock, secretBox: box } as unknown as Ports;
    const applyWrite: Ports['directory']['applyWrite'] = ({ name }, tenant, _, document) =>
      void changes.push([tenant, `${name} ${document?.version ?? '-'}`]);
    const change = createTransact(
      { documents, clock, directory: { applyWrite } },
      { caller: caller as Caller, actions: operation.audit, request },
    );
    const params = id === undefined ? {} : { id };
    const raw = {
      caller: caller as Caller,
      params,
      query: {},
      body,
      request,
      signal: new AbortController().signal,
      change,
    };
    // biome-ignore lint/suspicious/noExplicitAny: responses have many formats
    const response = (await operation.run(raw, ports)) as any;
    operation.response.parse(response);
    return { ...response, etag: headers['ETag'] };
  };
};

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
};

const stored = async (tenant: string, id: string): Promise<Hook> => {
  const found = await documents.forTenant(tenant).collection(hooks).find(id);
  if (found === undefined) throw new Error('it is not there');
  return found;
};

test('operation names consist of the noun and the verb', (t) => {
  t.deepEqual(
    resource.operations.map(({ operationId }) => operationId),
    ['createWebHook', 'getWebHook', 'replaceWebHook', 'updateWebHook', 'deleteWebHook'],
  );
});

test('an operation that requires If-Match does nothing without it', async (t) => {
  const request = requestsAs('requires');
  const { id, etag, ...view } = await request('POST', { body: { name: 'One' } });
  t.is(etag, '"1"');
  t.is(await codeOf(request('PUT', { id, body: { ...view, name: 'Two' } })), 'PRECONDITION_REQUIRED');
  t.is(await codeOf(request('PATCH', { id, body: { name: 'Two' } })), 'PRECONDITION_REQUIRED');
  t.is(await codeOf(request('DELETE', { id })), 'PRECONDITION_REQUIRED');
  t.is((await request('GET', { id })).name, 'One');
  t.is((await request('PATCH', { id, body: { name: 'Two' }, ifMatch: etag })).etag, '"2"');
  t.is(await codeOf(request('DELETE', { id, ifMatch: '"1"' })), 'PRECONDITION_FAILED');
  t.is(await codeOf(request('DELETE', { id: 'none' })), 'NOT_FOUND');
  t.is(await codeOf(request('DELETE', { id, ifMatch: '"2"' })), 'done');
});

test('PUT replaces the whole document and resets omitted fields; the server preserves its own fields', async (t) => {
  const request = requestsAs('replace');
  const created = await request('POST', { body: { name: 'One', tags: ['b', 'a'], window: { days: 7 } } });
  t.is(created.owner, 'ann@example.com');
  t.deepEqual(created.tags, ['a', 'b']);
  const body = { name: 'One', owner: 'mallory', id: 'another', version: 9 };
  const replaced = await request('PUT', { id: created.id, body, ifMatch: '*' });
  t.deepEqual(
    { ...replaced, etag: '' },
    { ...created, tags: [], window: { days: 30, zone: 'UTC' }, version: 2, etag: '' },
  );
});

test('PATCH merges objects, replaces lists, and adds no defaults', async (t) => {
  const request = requestsAs('patch');
  const { id } = await request('POST', { body: { name: 'One', tags: ['a'], window: { days: 7, zone: 'CET' } } });
  const patched = await request('PATCH', { id, body: { window: { zone: 'EST' } }, ifMatch: '*' });
  t.deepEqual([patched.window, patched.tags], [{ days: 7, zone: 'EST' }, ['a']]);
  const reset = await request('PATCH', { id, body: { window: { days: null }, tags: ['z', 'y'] }, ifMatch: '*' });
  t.deepEqual([reset.window, reset.tags], [{ days: 30, zone: 'EST' }, ['y', 'z']]);
  t.is(await codeOf(request('PATCH', { id, body: { name: null }, ifMatch: '*' })), 'VALIDATION_FAILED');
  t.is(await codeOf(request('PATCH', { id, body: { window: { years: 1 } }, ifMatch: '*' })), 'VALIDATION_FAILED');
  t.is(await codeOf(request('PATCH', { id, ifMatch: '*' })), 'VALIDATION_FAILED');
});

test('a change that the hook rejects is neither written nor recorded', async (t) => {
  const request = requestsAs('prepare');
  t.is(await codeOf(request('POST', { body: { name: 'One', tags: ['forbidden'] } })), 'CONFLICT');
  t.is(await documents.forTenant('prepare').collection(hooks).count(), 0);
  t.is(await documents.forTenant('prepare').collection(auditRecords).count(), 0);
});

test.serial(
  'others write while a document is completed, and it is completed again if it was changed meanwhile',
  async (t) => {
    const request = requestsAs('completing');
    const { id } = await request('POST', { body: { name: 'One' } });
    const completed: string[] = [];
    const others = ['Two', 'Three', 'Four', 'Five'];
    completing = async ({ url }) => {
      const name = completed.length < 2 ? others[completed.length] : undefined;
      completed.push(url);
      if (name === undefined) return;
      await documents.forTenant('completing').collection(hooks).update(id, { name });
    };
    const patched = await request('PATCH', { id, body: { url: 'https://new.example.com/' }, ifMatch: '*' });
    t.deepEqual([patched.name, patched.url, patched.version], ['Three', 'https://new.example.com/', 4]);
    t.is(completed.length, 3);
    completing = () =>
      documents
        .forTenant('completing')
        .collection(hooks)
        .update(id, { name: `${Math.random()}` });
    t.is(await codeOf(request('PATCH', { id, body: { url: 'https://other.example.com/' }, ifMatch: '*' })), 'CONFLICT');
    completing = async () => t.fail('completed');
    t.is(await codeOf(request('PATCH', { id: 'missing', body: { name: 'x' }, ifMatch: '*' })), 'NOT_FOUND');
    t.is(await codeOf(request('PATCH', { id, body: { name: 'x' }, ifMatch: '"1"' })), 'PRECONDITION_FAILED');
    completing = async () => undefined;
  },
);

test('the directory receives each committed write, and no other', async (t) => {
  const request = requestsAs('learning');
  const { id } = await request('POST', { body: { name: 'One' } });
  await request('PATCH', { id, body: { name: 'One' }, ifMatch: '*' });
  await codeOf(request('PATCH', { id, body: { tags: ['forbidden'] }, ifMatch: '*' }));
  await request('PATCH', { id, body: { name: 'Two' }, ifMatch: '*' });
  await request('DELETE', { id, ifMatch: '*' });
  const received = changes.flatMap(([tenantId, what]) =>
    tenantId === 'learning' && what.startsWith(hooks.name) ? [what] : [],
  );
  t.deepEqual(received, [`${hooks.name} 1`, `${hooks.name} 2`, `${hooks.name} -`]);
});

test('the number of resources is limited regardless of the plan, and a deletion makes room for another', async (t) => {
  const request = requestsAs('most');
  const created: string[] = [];
  for (let count = 1; count <= 20; count++)
    created.push(((await request('POST', { body: { name: String(count) } })) as { id: string }).id);
  const refused = await t.throwsAsync(request('POST', { body: { name: 'one more' } }), { instanceOf: ApiError });
  t.is(refused?.code, 'CONFLICT');
  t.is(refused?.message, 'there are 20 web hooks: delete one first');
  await request('DELETE', { id: created[0] ?? '', ifMatch: '"1"' });
  await t.notThrowsAsync(request('POST', { body: { name: 'one more' } }));
});

test('a secret is stored encrypted, shown masked, and preserved by its mask only for its original address', async (t) => {
  const request = requestsAs('secret');
  const created = await request('POST', { body: { name: 'One', token: 'correct horse' } });
  t.is(created.token, secretMask);
  const { id, etag: _, ...view } = created;
  const opened = async () => openSecret(await stored('secret', id), 'token', { box, purpose: resource.type });
  t.not((await stored('secret', id)).token, 'correct horse');
  t.is(await opened(), 'correct horse');
  await request('PUT', { id, body: { ...view, name: 'Two' }, ifMatch: '*' });
  await request('PATCH', { id, body: { tags: ['x'] }, ifMatch: '*' });
  t.is(await opened(), 'correct horse');
  const moved = { url: 'https://evil.example/' };
  t.is(await codeOf(request('PUT', { id, body: { ...view, ...moved }, ifMatch: '*' })), 'VALIDATION_FAILED');
  t.is(await codeOf(request('PATCH', { id, body: moved, ifMatch: '*' })), 'VALIDATION_FAILED');
  await request('PATCH', { id, body: { ...moved, token: 'battery staple' }, ifMatch: '*' });
  t.is(await opened(), 'battery staple');
  t.is((await request('PATCH', { id, body: { token: null }, ifMatch: '*' })).token, null);
  const { items } = await documents.forTenant('secret').collection(auditRecords).list();
  t.is(items.length, 5);
  t.false(/correct horse|battery staple|v1\./.test(JSON.stringify(items)));
});

test('a document without a newer field has its default, even after another field changes', async (t) => {
  const old = { name: 'Old', url: 'https://example.com/', token: null, window: { days: 1, zone: 'UTC' }, owner: 'x' };
  const { id } = await documents
    .forTenant('older')
    .collection(hooks)
    .insert(old as unknown as Hook);
  const changed = await requestsAs('older')('PATCH', { id, body: { name: 'New' }, ifMatch: '*' });
  t.deepEqual([changed.name, changed.tags, changed.owner], ['New', [], 'x']);
});
