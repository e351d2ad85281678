/** Contract of every operation, generated from the registry. */
import test from 'ava';
import type { z } from 'zod';
import { satisfiesAccess } from '../../api/callers/rights.ts';
import { operations } from '../../api/groups/index.ts';
import { formatOperationsReport } from '../../api/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import { roles } from '../../schemas/resources/user.ts';
import { type Answer, type Harness, startHarness } from '../end-to-end/api-harness.ts';
import { runSeed, selectPartAt } from '../parts.ts';
import { examples, recordsElsewhere, unshown } from './examples.ts';
import { isStrict, parsesJson, sampleOf, schemaOf } from './schema-values.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const named = ({ method, path }: Operation): string => `${method} ${path}`;
const concrete = (path: string): string => path.replace(/\{\w+\}/g, 'no-such-thing');
const withSession = operations.filter(({ role }) => role !== 'none');

/** An error of the Prometheus API has the message in `error`, which its clients display. */
const isError = (response: Answer, status: number, code: string): boolean =>
  response.status === status &&
  response.body.error === (response.body.errorType === undefined ? code : response.body.message) &&
  typeof response.body.message === 'string' &&
  response.body.message !== '' &&
  response.body.requestId === response.headers.get('x-request-id');

/** Names of the operations for which a check fails, with their responses. */
const failing = async (
  checked: readonly Operation[],
  callOperation: (operation: Operation) => Promise<Answer>,
  holds: (response: Answer, operation: Operation) => boolean,
): Promise<string[]> => {
  const failures: string[] = [];
  for (const operation of checked) {
    const apiResponse = await callOperation(operation);
    if (!holds(apiResponse, operation))
      failures.push(`${named(operation)}: ${apiResponse.status} ${JSON.stringify(apiResponse.body).slice(0, 200)}`);
  }
  return failures;
};

test('the 390 planned operations exist, and no two have the same name, method and path', (t) => {
  t.true(operations.length >= 390, `${operations.length}`);
  t.is(new Set(operations.map(named)).size, operations.length);
  t.is(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
});

const builtOperations = operations.filter(({ built }) => built);

test('every built operation other than a GET declares its audit record, or why it leaves none', (t) => {
  const silent = builtOperations.filter(
    ({ method, audit, auditExemption }) => method !== 'GET' && audit.length === 0 && !auditExemption,
  );
  t.deepEqual(silent.map(named), []);
  t.deepEqual(
    builtOperations.filter(({ audit, auditExemption }) => audit.length > 0 && auditExemption !== undefined).map(named),
    [],
  );
  for (const { audit } of builtOperations)
    for (const action of audit) t.regex(action, /^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+$/, 'actions are <type>.<verb>');
});

test('examples belong to built operations', (t) => {
  const ids = new Set(builtOperations.map(({ operationId }) => operationId));
  t.deepEqual(
    Object.keys({ ...examples, ...unshown, ...recordsElsewhere }).filter((id) => !ids.has(id)),
    [],
  );
});

test('every operation without a session returns 401', async (t) => {
  t.deepEqual(
    await failing(
      withSession,
      ({ method, path }) => harness.request(method, concrete(path), { as: 'nobody' }),
      (response) => isError(response, 401, 'UNAUTHENTICATED'),
    ),
    [],
  );
});

for (const role of roles) {
  test(`every operation that ${role} may not call returns 403`, async (t) => {
    t.deepEqual(
      await failing(
        withSession.filter((operation) => !satisfiesAccess(role, operation.role)),
        ({ method, path }) => harness.request(method, concrete(path), { as: role }),
        (response) => isError(response, 403, 'FORBIDDEN'),
      ),
      [],
    );
  });
}

test('every GET that a role may call is allowed for that role', async (t) => {
  // A run selects some of the roles for each operation.
  const callers = new Map(
    withSession
      .filter(({ method }) => method === 'GET')
      .map((operation, at) => [
        operation,
        selectPartAt(
          at,
          roles.filter((role) => satisfiesAccess(role, operation.role)),
          2,
        ),
      ]),
  );
  t.log(`TEST_SEED=${runSeed}`);
  const failures: string[] = [];
  for (const role of roles)
    failures.push(
      ...(await failing(
        [...callers].filter(([, selectPart]) => selectPart.includes(role)).map(([operation]) => operation),
        ({ method, path }) => harness.request(method, concrete(path), { as: role }),
        ({ status }) => ![401, 403, 500].includes(status),
      )),
    );
  t.deepEqual(failures, []);
});

test('every operation returns 403 under another organization’s prefix, and the same response under its own prefix as without', async (t) => {
  const prefixed = withSession.filter(({ path }) => path.startsWith('/api/'));
  const under = (tenant: string, path: string): string => concrete(path).replace('/api/', `/api/tenants/${tenant}/`);
  t.deepEqual(
    await failing(
      prefixed,
      ({ method, path }) => harness.request(method, under('b', path)),
      (response) => isError(response, 403, 'TENANT_MISMATCH'),
    ),
    [],
  );
  t.deepEqual(
    await failing(
      prefixed.filter(({ built }) => !built),
      ({ method, path }) => harness.request(method, under('a', path)),
      (response) => isError(response, 501, 'NOT_IMPLEMENTED'),
    ),
    [],
  );
});

test('every operation refuses a query and a body that name another organization', async (t) => {
  const refused = (response: Answer): boolean => isError(response, 403, 'TENANT_MISMATCH');
  t.deepEqual(
    await failing(withSession, ({ method, path }) => harness.request(method, `${concrete(path)}?tenantId=b`), refused),
    [],
  );
  t.deepEqual(
    await failing(
      withSession.filter((operation) => operation.method !== 'GET' && !parsesJson(operation)),
      ({ method, path, form }) =>
        harness.request(
          method,
          concrete(path),
          form
            ? {
                body: 'tenantId=b&anything=1',
                headers: { 'content-type': 'application/x-www-form-urlencoded' },
              }
            : { body: { tenantId: 'b', anything: 1 } },
        ),
      refused,
    ),
    [],
  );
});

test('every operation whose entitlement the plan lacks returns 403 UPGRADE_REQUIRED', async (t) => {
  const token = await harness.signIn('owner@b.example');
  t.deepEqual(
    await failing(
      withSession.filter(({ entitlement }) => entitlement !== undefined && !['logs', 'metrics'].includes(entitlement)),
      ({ method, path }) => harness.request(method, concrete(path), { as: `token ${token}` }),
      (response) => isError(response, 403, 'UPGRADE_REQUIRED'),
    ),
    [],
  );
});

test('every operation that is not built returns 501', async (t) => {
  t.deepEqual(
    await failing(
      operations.filter(({ built }) => !built),
      ({ method, path }) => harness.request(method, concrete(path)),
      (response) => isError(response, 501, 'NOT_IMPLEMENTED'),
    ),
    [],
  );
});

/** A field or a label is not a resource: an unknown one is a filter without matches. */
const isOfFields = ({ path }: Operation): boolean =>
  ['/api/logs/fields/{name}/values', '/api/prom/api/v1/label/{name}/values'].includes(path);
/** A missing resource is created under the name in the path. */
const makes = ({ method, path }: Operation): boolean =>
  method === 'PUT' && ['/api/synthetics/variables/{name}', '/api/llm/prices/{model}'].includes(path);
/** A valid body, so that only the ID is invalid. */
const fineBody = (body: z.ZodType): unknown => schemaOf(body).examples?.[0] ?? sampleOf(schemaOf(body));
const scoped = ({ query }: Operation): string =>
  query !== undefined && 'scope' in (schemaOf(query).properties ?? {}) ? '?scope=account' : '';

test('every built operation on one resource returns 404 for an ID that does not exist', async (t) => {
  t.deepEqual(
    await failing(
      operations.filter(
        (operation) => operation.built && operation.path.includes('{') && !isOfFields(operation) && !makes(operation),
      ),
      (operation) =>
        harness.request(
          operation.method,
          concrete(operation.path) + scoped(operation),
          operation.body === undefined ? {} : { body: fineBody(operation.body) },
        ),
      (response) => isError(response, 404, 'NOT_FOUND'),
    ),
    [],
  );
});

const bad = (response: Answer, path: string): boolean =>
  isError(response, 400, 'VALIDATION_FAILED') &&
  response.body.details.some(
    (detail: { path: string; message: string }) => detail.path === path && detail.message !== '',
  );

test('every built operation names an unknown field', async (t) => {
  const built = operations.filter((operation) => operation.built);
  t.deepEqual(
    await failing(
      built.filter(({ query, method }) => query !== undefined && method === 'GET' && isStrict(query)),
      ({ method, path }) => harness.request(method, `${concrete(path)}?surprise=1`),
      (response) => bad(response, 'surprise'),
    ),
    [],
  );
  t.deepEqual(
    await failing(
      built.filter((operation) => operation.body !== undefined && !parsesJson(operation)),
      ({ method, path }) => harness.request(method, concrete(path), { body: { surprise: 1 } }),
      (response) => bad(response, 'surprise'),
    ),
    [],
  );
});

test('every built operation with a body refuses invalid JSON, another content type, another encoding, and a body that is too large', async (t) => {
  const withBody = operations.filter(({ built, body }) => built && body !== undefined);
  const sending = (headers: Record<string, string>, body: string) => (operation: Operation) =>
    harness.request(operation.method, concrete(operation.path), { body, headers });
  const type = { 'content-type': 'application/json' };
  const withParsedBody = withBody.filter((operation) => !parsesJson(operation));
  t.deepEqual(await failing(withParsedBody, sending(type, '{"a":'), (response) => bad(response, '')), []);
  const tooDeep = Array(64).fill(0).join('.');
  t.deepEqual(
    await failing(withParsedBody, sending(type, `${'['.repeat(1000)}`), (response) => bad(response, tooDeep)),
    [],
  );
  t.deepEqual(
    await failing(withBody, sending(type, `[${'1,'.repeat(7000)}1]`), (response) => response.status === 400),
    [],
  );
  t.deepEqual(
    await failing(withBody, sending({ 'content-type': 'text/plain' }, 'x'), (response) =>
      isError(response, 415, 'UNSUPPORTED_MEDIA_TYPE'),
    ),
    [],
  );
  t.deepEqual(
    await failing(withBody, sending({ ...type, 'content-encoding': 'gzip' }, 'x'), (response) =>
      isError(response, 415, 'UNSUPPORTED_MEDIA_TYPE'),
    ),
    [],
  );
  t.deepEqual(
    await failing(
      withBody,
      (operation) =>
        harness.request(operation.method, concrete(operation.path), {
          headers: type,
          body: JSON.stringify('x'.repeat(operation.maxBodyBytes)),
        }),
      (response) => isError(response, 413, 'PAYLOAD_TOO_LARGE'),
    ),
    [],
  );
});

test('every path returns 405 with Allow for an unsupported method', async (t) => {
  const response = await harness.request('PUT', '/api/logs');
  t.true(isError(response, 405, 'METHOD_NOT_ALLOWED'));
  t.is(response.headers.get('allow'), 'GET');
  t.is((await harness.request('PURGE', '/api/projects/x')).headers.get('allow'), 'DELETE, GET, PATCH');
});

test('the report lists the missing operations, and all operations', async (t) => {
  const missing = operations.filter(({ built }) => !built);
  t.is((await formatOperationsReport(true)).trim().split('\n').length, missing.length + 1);
  t.is((await formatOperationsReport(false)).trim().split('\n').length, operations.length + 1);
  t.false((await formatOperationsReport(true)).includes('/auth/login'));
});
