/** What API tokens may do, asked of every operation: its own scope opens it, and nothing else does. */
import test from 'ava';
import { operations } from '../../api/groups/index.ts';
import { scopesOf } from '../../api/identity/scopes.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import { type Answer, type Harness, startHarness } from '../end-to-end/api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const everyScope = scopesOf(operations).map(({ scope }) => scope);
const withSession = operations.filter(({ role }) => role !== 'none');
const named = ({ method, path }: Operation): string => `${method} ${path}`;
const concrete = (path: string): string => path.replace(/\{\w+\}/g, 'no-such-thing');

let made = 0;
const tokenWith = async (scopes: readonly string[]): Promise<`token ${string}`> => {
  const account = await harness.ask('POST', '/api/service-accounts', { body: { name: `${made++}`, role: 'admin' } });
  const path = `/api/service-accounts/${account.body.id}/tokens`;
  const { status, body } = await harness.ask('POST', path, { body: { name: 'Token', scopes } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return `token ${body.token}`;
};

/** Asks with a body that nothing accepts, so that nothing is done. */
const probe = ({ method, path }: Operation, as: `token ${string}`): Promise<Answer> =>
  harness.ask(method, concrete(path), { as, ...(method === 'GET' ? {} : { body: { surprise: 1 } }) });

test('every operation that needs more than a session has one scope, and what only people do has none', (t) => {
  for (const operation of withSession) {
    const { scope, role, group, method } = operation;
    if (role === 'session') t.is(scope, undefined, named(operation));
    else t.true(scope === `${group}:read` || scope === `${group}:write`, named(operation));
    if (method === 'GET' && scope !== undefined) t.true(scope.endsWith(':read'), named(operation));
    if (operation.audit.length > 0 && method !== 'GET' && scope !== undefined)
      t.true(scope.endsWith(':write'), named(operation));
  }
});

test('a token with every scope but an operation’s own is refused by it', async (t) => {
  const failures: string[] = [];
  const tokens = new Map<string, `token ${string}`>();
  for (const operation of withSession) {
    const { scope } = operation;
    const covering = scope?.endsWith(':read') ? [scope, scope.replace(':read', ':write')] : [scope];
    const key = String(scope);
    const as = tokens.get(key) ?? (await tokenWith(everyScope.filter((each) => !covering.includes(each))));
    tokens.set(key, as);
    const { status, body } = await probe(operation, as);
    if (status !== 403 || body.error !== 'FORBIDDEN') failures.push(`${named(operation)} ${status}`);
  }
  t.deepEqual(failures, []);
});

test('a token with an operation’s scope alone is let in, where the role of its account is enough', async (t) => {
  const failures: string[] = [];
  const tokens = new Map<string, `token ${string}`>();
  for (const operation of withSession.filter(({ role }) => role !== 'session' && role !== 'owner')) {
    const scope = operation.scope ?? '';
    const as = tokens.get(scope) ?? (await tokenWith([scope]));
    tokens.set(scope, as);
    const { status, body } = await probe(operation, as);
    if (status === 401 || (status === 403 && body.message.includes('scope')))
      failures.push(`${named(operation)} ${status} ${body.message}`);
  }
  t.deepEqual(failures, []);
});
