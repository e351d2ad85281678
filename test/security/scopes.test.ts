/** What API tokens can do, tested for every operation: only its own scope permits it. */
import test from 'ava';
import { satisfiesAccess } from '../../api/callers/rights.ts';
import { listScopes } from '../../api/callers/scopes.ts';
import { operations } from '../../api/groups/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import { memberships, type Role, users, usersTenant } from '../../schemas/resources/user.ts';
import { type Answer, type Harness, startHarness } from '../end-to-end/api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const everyScope = listScopes(operations).map(({ scope }) => scope);
const withSession = operations.filter(({ role }) => role !== 'none');
const named = ({ method, path }: Operation): string => `${method} ${path}`;
const concrete = (path: string): string => path.replace(/\{\w+\}/g, 'no-such-thing');

let created = 0;
const tokenWith = async (scopes: readonly string[]): Promise<`token ${string}`> => {
  const account = await harness.request('POST', '/api/service-accounts', {
    body: { name: `${created++}`, role: 'admin' },
  });
  const path = `/api/service-accounts/${account.body.id}/tokens`;
  const { status, body } = await harness.request('POST', path, { body: { name: 'Token', scopes } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return `token ${body.token}`;
};

/** Sends a body that no operation accepts, so that nothing is executed. */
const probe = ({ method, path }: Operation, as: `token ${string}`): Promise<Answer> =>
  harness.request(method, concrete(path), { as, ...(method === 'GET' ? {} : { body: { surprise: 1 } }) });

test('every operation that needs more than a session has one scope, and operations only for people have none', (t) => {
  for (const operation of withSession) {
    const { scope, role, group, method } = operation;
    if (role === 'session' || operation.people) t.is(scope, undefined, named(operation));
    else t.true(scope === `${group}:read` || scope === `${group}:write`, named(operation));
    if (method === 'GET' && scope !== undefined) t.true(scope.endsWith(':read'), named(operation));
    if (operation.audit.length > 0 && method !== 'GET' && scope !== undefined)
      t.true(scope.endsWith(':write'), named(operation));
  }
});

test('an operation refuses a token with every scope except its own', async (t) => {
  const failures: string[] = [];
  const tokens = new Map<string, `token ${string}`>();
  for (const operation of withSession) {
    const { scope } = operation;
    const covering = scope?.endsWith(':read') ? [scope, scope.replace(':read', ':write')] : [scope];
    const key = String(scope);
    const as = tokens.get(key) ?? (await tokenWith(everyScope.filter((each) => !covering.includes(each))));
    tokens.set(key, as);
    const { status, body } = await probe(operation, as);
    // Errors of the Prometheus API have their message in `error`.
    const expected = operation.failure === undefined ? 'FORBIDDEN' : body.message;
    if (status !== 403 || body.error !== expected) failures.push(`${named(operation)} ${status}`);
  }
  t.deepEqual(failures, []);
});

test('an operation accepts a token with only its own scope, if the role of the account is sufficient', async (t) => {
  const failures: string[] = [];
  const tokens = new Map<string, `token ${string}`>();
  for (const operation of withSession.filter(({ scope, role }) => scope !== undefined && role !== 'owner')) {
    const scope = operation.scope ?? '';
    const as = tokens.get(scope) ?? (await tokenWith([scope]));
    tokens.set(scope, as);
    const { status, body } = await probe(operation, as);
    if (status === 401 || (status === 403 && body.message.includes('scope')))
      failures.push(`${named(operation)} ${status} ${body.message}`);
  }
  t.deepEqual(failures, []);
});

/** Creates a new user in the organization. */
const member = async (role: Role, disabled = false): Promise<string> => {
  const email = `${crypto.randomUUID()}@people.example`;
  const people = harness.documents.forTenant(usersTenant).collection(users);
  const { id } = await people.insert({ email, name: 'Somebody', passwordHash: null, disabled: false });
  await harness.documents.forTenant('a').collection(memberships).insert({ id, role, disabled });
  return id;
};
const invite = (as: `token ${string}`, role: Role): Promise<Answer> =>
  harness.request('POST', '/api/users/invitations', { as, body: { email: `${crypto.randomUUID()}@a.example`, role } });

test('no API token can configure the identity provider, whatever its scopes', async (t) => {
  const body = { enabled: false, issuer: 'https://idp.example', clientId: 'x', defaultRole: 'admin' };
  const identityRequest = { as: await tokenWith(everyScope), body };
  const { status, body: answer } = await harness.request('PUT', '/api/account/identity-provider', identityRequest);
  t.is(status, 403);
  t.regex(answer.message, /a user who signed in/);
  t.is((await harness.request('PUT', '/api/account/identity-provider', { body })).status, 200);
});

test('an API token cannot make anybody an Editor or Auditor whose rights exceed its scopes', async (t) => {
  const as = await tokenWith(['users:write']);
  for (const role of ['viewer', 'editor', 'auditor'] as const) {
    const { status, body } = await invite(as, role);
    t.is(status, 403, role);
    t.regex(body.message, new RegExp(`the role ${role} may do more than this API token, which lacks the scopes? `));
  }
  const auditor = operations.filter((operation) => satisfiesAccess('auditor', operation.role));
  const covering = [...new Set(auditor.flatMap(({ scope }) => scope ?? [])), 'users:write'];
  t.is((await invite(await tokenWith(covering), 'auditor')).status, 200);
  t.is((await invite(await tokenWith(covering), 'viewer')).status, 200);
  t.is((await invite(await tokenWith(covering), 'editor')).status, 403);
  t.is((await invite(await tokenWith(everyScope), 'editor')).status, 200);
  t.is((await invite(await tokenWith(everyScope), 'admin')).status, 403, 'a token makes nobody an Admin');
});

test('an API token cannot assign a role beyond its scopes or readmit a user, but can block users', async (t) => {
  const as = await tokenWith(['users:write']);
  const patch = async (id: string, body: object): Promise<number> =>
    (await harness.request('PATCH', `/api/users/${id}`, { as, body })).status;
  const editor = await member('editor');
  t.is(await patch(editor, { role: 'viewer' }), 403);
  t.is(await patch(editor, { role: 'auditor' }), 403);
  t.is(await patch(editor, { disabled: true }), 200);
  t.is(await patch(editor, { disabled: false }), 403);
  t.is((await harness.request('DELETE', `/api/users/${editor}`, { as })).status, 200);
});

test('roles state which of them an API token can assign', async (t) => {
  const grantable = async (scopes: readonly string[]): Promise<string[]> => {
    const { body } = await harness.request('GET', '/api/roles', { as: await tokenWith(scopes) });
    return body.items.flatMap(({ id, grantable }: { id: string; grantable: boolean }) => (grantable ? [id] : []));
  };
  t.deepEqual(await grantable(['users:write']), []);
  t.deepEqual(await grantable(everyScope), ['viewer', 'editor', 'auditor']);
});
