/** Query operators, prototype properties and server-owned fields, in every part of a request that can contain them. */
import test from 'ava';
import { operations } from '../../api/groups/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import type { World } from '../contract/example.ts';
import { unshown } from '../contract/examples.ts';
import { isStrict, parsesJson, schemaOf } from '../contract/schema-values.ts';
import { pathOf, startWorlds } from '../contract/world.ts';
import type { Answer } from '../end-to-end/api-harness.ts';
import { runSeed, selectPartAt } from '../parts.ts';

let a: World;
let close: () => Promise<void>;
test.before(async () => {
  const worlds = await startWorlds();
  ({ a, close } = worlds);
});
test.after.always(() => close?.());

const built = operations.filter((operation) => operation.built);
const named = ({ method, path }: Operation): string => `${method} ${path}`;
const describeFailure = (operation: Operation, what: string, { status, body }: Answer): string =>
  `${named(operation)} with ${what}: ${status} ${JSON.stringify(body).slice(0, 300)}`;

test.serial('names of prototype properties are not valid parameters', async (t) => {
  const failures: string[] = [];
  for (const operation of built.filter(({ query }) => query !== undefined && isStrict(query)))
    for (const query of [
      '__proto__=x',
      '__proto__=x&__proto__=y',
      'constructor=x',
      '__proto__[limit]=1',
      'toString=x',
    ]) {
      const response = await a.harness.request(operation.method, `${pathOf(operation, {})}?${query}`);
      const details: { path: string }[] = response.body.details ?? [];
      const [name] = query.split('=');
      if (response.status !== 400 || !details.some(({ path }) => path === name))
        failures.push(describeFailure(operation, query, response));
    }
  t.deepEqual(failures, []);
});

/** Each operation gets a part of the texts in a run, and the next operation the next part. */
const parts = 4;

const hostileIds = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '$ne',
  '{"$ne":null}',
  '[object Object]',
  '.',
  '..%2f..%2fetc',
  '%00',
  '%0d%0aX-Injected:%201',
  "' OR 1=1 --",
  '*',
  '{tenant:String}',
  'x'.repeat(129),
  'x'.repeat(5000),
  '%F0%9F%92%A5',
  '%ff',
  '-1',
  '0',
  'null',
];

/**
 * Clients do not treat a single dot as a path segment, so the path changes. Attribute and label names can be any text.
 */
const expectedOf = ({ operationId }: Operation, id: string): readonly number[] => {
  if (id === '.') return [400, 404, 405, 200];
  return ['listLogFieldValues', 'listPrometheusLabelValues'].includes(operationId) ? [200, 400, 404] : [400, 404];
};

test.serial('hostile IDs in a path get the status 400 or 404', async (t) => {
  const failures: string[] = [];
  t.log(`each operation is asked one id of ${parts} (TEST_SEED=${runSeed})`);
  for (const [at, operation] of built.filter(({ path }) => path.includes('{')).entries())
    for (const id of selectPartAt(at, hostileIds, parts)) {
      const path = operation.path.replace(/\{\w+\}/g, id);
      const body = operation.body === undefined ? {} : { body: {} };
      const response = await a.harness.request(operation.method, path.replaceAll(' ', '%20'), body);
      const expected = expectedOf(operation, id);
      if (!expected.includes(response.status)) failures.push(describeFailure(operation, id.slice(0, 50), response));
      if (response.headers.has('x-injected')) failures.push(describeFailure(operation, 'an injected header', response));
    }
  t.deepEqual(failures, []);
});

const poisoned: Readonly<Record<string, string>> = {
  '__proto__ at the top': '{"__proto__":{"polluted":true}}',
  '__proto__ within': '{"x":{"y":[{"__proto__":{"polluted":true}}]}}',
  'an escaped __proto__': '{"\\u005f_proto__":{"polluted":true}}',
  constructor: '{"constructor":{"prototype":{"polluted":true}}}',
  $where: '{"$where":"sleep(1000)"}',
  'an operator as a whole': '{"$ne":null}',
  'an array of 20,000 elements': `{"x":[${'1,'.repeat(19_999)}1]}`,
  'no object': '[]',
  null: 'null',
};

for (const [title, body] of Object.entries(poisoned))
  test.serial(`a body with ${title} is refused and pollutes nothing`, async (t) => {
    const before = Object.getOwnPropertyNames(Object.prototype).length;
    const failures: string[] = [];
    for (const [at, operation] of built.filter((one) => one.body !== undefined).entries()) {
      if (!selectPartAt(at, Object.keys(poisoned), parts).includes(title)) continue;
      const response = await a.harness.request(operation.method, pathOf(operation, {}), { body });
      // An operation with a small body limit rejects many bodies before it parses them.
      const tooLarge = response.status === 413 && body.length > operation.maxBodyBytes;
      if (response.status !== 400 && !tooLarge) failures.push(describeFailure(operation, title, response));
    }
    t.deepEqual(failures, []);
    t.is(Object.getOwnPropertyNames(Object.prototype).length, before);
    t.false('polluted' in {});
  });

/** Server-owned fields: accepted, so that clients can send back what they read, but without effect. */
const ignored = {
  id: 'chosen-id',
  version: 99,
  createdAt: '2000-01-01T00:00:00.000Z',
  updatedAt: '2000-01-01T00:00:00.000Z',
};
/** Fields that no client may send unless the operation declares them. */
const refused = [
  '_id',
  'hash',
  'passwordHash',
  'tenant_id',
  'isAdmin',
  'disabled',
  'role',
  'sequence',
  'keyHash',
  'userId',
];

const declared = (operation: Operation): ReadonlySet<string> =>
  new Set(Object.keys(operation.body === undefined ? {} : (schemaOf(operation.body).properties ?? {})));

const withBody = built.filter(
  (operation) => operation.body !== undefined && !(operation.operationId in unshown) && !parsesJson(operation),
);

test.serial('server-owned fields in a body have no effect', async (t) => {
  const failures: string[] = [];
  for (const operation of withBody) {
    const own = declared(operation);
    const sent = Object.fromEntries(Object.entries(ignored).filter(([name]) => !own.has(name)));
    const { body, ...request } = await a.example(operation);
    const response = await a.call(operation, {
      ...request,
      body: { ...(body as object), ...sent, tenantId: request.tenant ?? 'a' },
    });
    if (response.status !== 200) failures.push(describeFailure(operation, 'fields of the server', response));
    const answerText = JSON.stringify(response.body);
    for (const value of Object.values(sent))
      if (typeof value === 'string' && answerText.includes(value))
        failures.push(describeFailure(operation, value, response));
    if ((response.body as { version?: unknown }).version === 99)
      failures.push(describeFailure(operation, 'version 99', response));
  }
  t.deepEqual(failures, []);
});

/** Documents in external formats can have any field name; these do not become our fields. */
const acceptsAnyFields = ({ body }: Operation): boolean => body !== undefined && !isStrict(body);

test('only a few operations accept fields of any name', (t) => {
  t.deepEqual(
    withBody.filter(acceptsAnyFields).map(({ operationId }) => operationId),
    ['importDashboard'],
  );
});

test.serial('fields that would escalate privileges or forge stored data are refused by name', async (t) => {
  const failures: string[] = [];
  for (const operation of withBody.filter((one) => !acceptsAnyFields(one))) {
    const own = declared(operation);
    const { body, ...request } = await a.example(operation);
    const names = refused.filter((one) => !own.has(one));
    const surprising = Object.fromEntries(names.map((name) => [name, 'x']));
    const response = await a.call(operation, { ...request, body: { ...(body as object), ...surprising } });
    const details: { path: string }[] = response.body.details ?? [];
    for (const name of names)
      if (response.status !== 400 || !details.some(({ path }) => path === name))
        failures.push(describeFailure(operation, name, response));
  }
  t.deepEqual(failures, []);
});
