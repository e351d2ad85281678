/** Service accounts and their tokens over the real server: permissions of a token, and no privilege escalation. */
import test from 'ava';
import { deleteExpiredApiTokens } from '../../api/identity/token-uses.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { apiTokenFormat, apiTokens, apiTokenUses } from '../../schemas/resources/service-account.ts';
import { eventually } from '../waiting.ts';
import { type Answer, type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
let nowMs = Date.now();
test.before(async () => {
  harness = await startHarness({ now: () => nowMs, environment: { OIQ_API_TOKEN_MAX_DAYS: '100' } });
});
test.after.always(() => harness?.close());

const dayMs = 86_400_000;
let created = 0;

const account = async (role = 'admin', fields: object = {}): Promise<string> => {
  const { status, body } = await harness.request('POST', '/api/service-accounts', {
    body: { name: `Account ${created++}`, role, ...fields },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.id;
};

const newToken = (id: string, scopes: readonly string[], rest: object = {}, as?: `token ${string}`): Promise<Answer> =>
  harness.request('POST', `/api/service-accounts/${id}/tokens`, {
    ...(as && { as }),
    body: { name: 'Token', scopes, ...rest },
  });

const tokenOf = async (role: string, scopes: readonly string[]) => {
  const id = await account(role);
  const { body } = await newToken(id, scopes);
  return { id, tokenId: body.id as string, as: `token ${body.token}` as const };
};

test('a token is shown once, and only its hash is stored', async (t) => {
  const id = await account();
  const { status, body } = await newToken(id, ['logs:read']);
  t.is(status, 200);
  t.true(apiTokenFormat.isWellFormed(body.token));
  t.true(body.token.startsWith(body.prefix));
  t.deepEqual(body.createdBy.name, 'owner@a.example');
  const stored = await harness.documents.forTenant('a').collection(apiTokens).find(body.id);
  const listed = await harness.request('GET', `/api/service-accounts/${id}/tokens`);
  t.is(listed.body.items[0].id, body.id);
  const records: unknown[] = [];
  for await (const record of harness.documents.findInAllTenants(auditRecords)) records.push(record);
  for (const shown of [stored, listed.body, records]) t.false(JSON.stringify(shown).includes(body.token));
  for (const shown of [listed.body, records]) t.false(JSON.stringify(shown).includes(stored?.hash ?? ''));
});

const rights: readonly [role: string, scopes: readonly string[], method: string, path: string, status: number][] = [
  ['viewer', ['logs:read'], 'GET', '/api/logs', 200],
  ['viewer', ['metrics:read'], 'GET', '/api/logs', 403],
  ['viewer', ['projects:write'], 'GET', '/api/projects', 200],
  ['viewer', ['projects:write'], 'POST', '/api/projects', 403],
  ['editor', ['projects:read'], 'POST', '/api/projects', 403],
  ['editor', ['projects:write'], 'POST', '/api/projects', 400],
  ['admin', ['dead-letter:read'], 'GET', '/api/dead-letter', 200],
  ['admin', ['dead-letter:write'], 'GET', '/api/dead-letter', 200],
  ['admin', ['dead-letter:read'], 'POST', '/api/dead-letter/replay', 403],
  ['editor', ['dead-letter:read'], 'GET', '/api/dead-letter', 403],
  ['admin', ['users:write'], 'GET', '/auth/session', 403],
  ['admin', ['users:write'], 'POST', '/auth/change-password', 403],
  ['admin', ['users:write'], 'POST', '/auth/switch-tenant', 403],
];

for (const [role, scopes, method, path, status] of rights) {
  test(`a token of ${role} with ${scopes} gets ${status} from ${method} ${path}`, async (t) => {
    const { as } = await tokenOf(role, scopes);
    const response = await harness.request(method, path, { as, ...(method === 'GET' ? {} : { body: {} }) });
    t.is(response.status, status, JSON.stringify(response.body));
  });
}

test('actions of a token are recorded under its account', async (t) => {
  const { id, as } = await tokenOf('editor', ['projects:write']);
  const { headers, status } = await harness.request('POST', '/api/projects', { as, body: { name: 'By a program' } });
  t.is(status, 200);
  const requestId = headers.get('x-request-id');
  const found: unknown[] = [];
  for await (const { actor } of harness.documents.findInAllTenants(auditRecords, { requestId })) found.push(actor);
  t.deepEqual(found, [{ type: 'service-account', id }]);
});

test('revoking, disabling and deleting end a token at once', async (t) => {
  const status = async (as: `token ${string}`): Promise<number> =>
    (await harness.request('GET', '/api/logs', { as })).status;
  const revoked = await tokenOf('viewer', ['logs:read']);
  t.is(await status(revoked.as), 200);
  t.is((await harness.request('DELETE', `/api/service-accounts/${revoked.id}/tokens/${revoked.tokenId}`)).status, 200);
  t.is(await status(revoked.as), 401);

  const disabled = await tokenOf('viewer', ['logs:read']);
  const set = (fields: object) => harness.request('PATCH', `/api/service-accounts/${disabled.id}`, { body: fields });
  t.is((await set({ disabled: true })).status, 200);
  t.is(await status(disabled.as), 401);
  t.is((await set({ disabled: false })).status, 200);
  t.is(await status(disabled.as), 200);

  const deleted = await tokenOf('viewer', ['logs:read']);
  t.is((await harness.request('DELETE', `/api/service-accounts/${deleted.id}`)).status, 200);
  t.is(await status(deleted.as), 401);
  t.is(await harness.documents.forTenant('a').collection(apiTokens).find(deleted.tokenId), undefined);
});

test.serial('a token ends when it expires, and its lifetime cannot exceed the maximum', async (t) => {
  const id = await account('viewer');
  const at = (days: number): string => new Date(nowMs + days * dayMs).toISOString();
  for (const expiresAt of [at(-1), at(101)]) {
    const refused = await newToken(id, ['logs:read'], { expiresAt });
    t.is(refused.status, 400);
    t.is(refused.body.details[0].path, 'expiresAt');
  }
  const { body } = await newToken(id, ['logs:read'], { expiresAt: at(2) });
  const status = async () => (await harness.request('GET', '/api/logs', { as: `token ${body.token}` })).status;
  t.is(await status(), 200);
  nowMs += 2 * dayMs;
  t.is(await status(), 401);
  await deleteExpiredApiTokens(harness.documents, nowMs + 29 * dayMs);
  const listTokens = async () => (await harness.request('GET', `/api/service-accounts/${id}/tokens`)).body.items.length;
  nowMs -= 2 * dayMs;
  t.is(await listTokens(), 1, 'expired tokens are listed for a while');
  await deleteExpiredApiTokens(harness.documents, nowMs + 33 * dayMs);
  t.is(await listTokens(), 0);
});

test('a token that is not an OIQ token is refused', async (t) => {
  const { as } = await tokenOf('viewer', ['logs:read']);
  const token = as.slice('token '.length);
  const last = token.endsWith('0') ? '1' : '0';
  const wrong = [
    apiTokenFormat.generate(),
    token.slice(0, -1) + last,
    token.slice(0, -1),
    `${token}0`,
    token.toUpperCase(),
    'oiq_sa_',
    `oiq_lk_${token.slice(7)}`,
  ];
  for (const one of wrong) t.is((await harness.request('GET', '/api/logs', { as: `token ${one}` })).status, 401, one);
  const headers = { cookie: `oiq_token=${token}` };
  t.is((await harness.request('GET', '/api/logs', { as: 'nobody', headers })).status, 401, 'as a cookie');
});

test('an unknown scope is named', async (t) => {
  const id = await account();
  for (const scope of ['nothing:read', 'authentication:read', 'logs:delete', '*']) {
    const { status, body } = await newToken(id, ['logs:read', scope]);
    t.is(status, 400, scope);
    t.is(body.details[0].path, 'scopes.1');
  }
  const { body } = await harness.request('GET', '/api/scopes');
  const logs = body.items.find((each: { scope: string }) => each.scope === 'logs:read');
  t.true(logs.operations.includes('GET /api/logs'));
});

test('nobody can escalate privileges: no account is Owner, and a token creates nothing with more rights than its own', async (t) => {
  const owner = await harness.request('POST', '/api/service-accounts', { body: { name: 'Too high', role: 'owner' } });
  t.is(owner.status, 400);
  const { as, id } = await tokenOf('admin', ['service-accounts:write', 'logs:read']);
  t.is(
    (await newToken(id, ['logs:read', 'service-accounts:read'], {}, as)).status,
    200,
    'no more permissions than its own',
  );
  for (const scope of ['users:write', 'projects:read']) t.is((await newToken(id, [scope], {}, as)).status, 403, scope);

  const strong = await account('viewer');
  await newToken(strong, ['users:write']);
  const patch = (body: object) => harness.request('PATCH', `/api/service-accounts/${strong}`, { as, body });
  t.is((await patch({ role: 'admin' })).status, 403, 'a higher role for an account whose tokens have more scopes');
  t.is((await patch({ description: 'Renamed' })).status, 200);
  t.is((await harness.request('PATCH', `/api/service-accounts/${strong}`, { body: { disabled: true } })).status, 200);
  t.is((await patch({ disabled: false })).status, 403, 'enabling such an account');
});

test('another organization’s accounts and tokens are not found', async (t) => {
  const { id, tokenId } = await tokenOf('viewer', ['logs:read']);
  const as = `token ${await harness.signIn('owner@b.example')}` as const;
  const requests: readonly [string, string, object?][] = [
    ['GET', `/api/service-accounts/${id}`],
    ['PATCH', `/api/service-accounts/${id}`, { disabled: true }],
    ['DELETE', `/api/service-accounts/${id}`],
    ['GET', `/api/service-accounts/${id}/tokens`],
    ['POST', `/api/service-accounts/${id}/tokens`, { name: 'Mine', scopes: ['logs:read'] }],
    ['DELETE', `/api/service-accounts/${id}/tokens/${tokenId}`],
  ];
  for (const [method, path, body] of requests)
    t.is((await harness.request(method, path, { as, ...(body && { body }) })).status, 404, `${method} ${path}`);
  const other = await account('viewer');
  const crossed = await harness.request('DELETE', `/api/service-accounts/${other}/tokens/${tokenId}`);
  t.is(crossed.status, 404, 'a token of another account');
});

test('the last use of a token is stored, at most once a minute', async (t) => {
  const { id, tokenId, as } = await tokenOf('viewer', ['logs:read']);
  const shown = async () => (await harness.request('GET', `/api/service-accounts/${id}/tokens`)).body.items[0];
  t.is((await shown()).lastUsedAt, null);
  for (let times = 0; times < 5; times++) await harness.request('GET', '/api/logs', { as });
  await eventually('the last use is stored', async () => (await shown()).lastUsedAt !== null);
  t.is((await shown()).lastUsedFrom, '127.0.0.1');
  t.is((await harness.documents.forTenant('a').collection(apiTokenUses).find(tokenId))?.version, 1);
});
