/**
 * Fields of every built operation, one at a time: invalid values are refused with 400, and `details` names the field.
 * A run selects some of the invalid values of each operation.
 */
import test from 'ava';
import { operations } from '../../api/groups/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import { type Answer, type Harness, startHarness } from '../end-to-end/api-harness.ts';
import { runSeed, selectPartAt } from '../parts.ts';
import { type BadValue, badValuesOf, isStrict, sampleOf, schemaOf } from './schema-values.ts';
import { pathOf } from './world.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

/** Operations that return errors in the form of another product ignore unknown fields, and have separate tests. */
const built = operations.filter((operation) => operation.built && operation.failure === undefined);
const named = ({ method, path }: Operation): string => `${method} ${path}`;
const parts = 4;

/** Whether the error names the field, or an object that contains it. */
const names = ({ status, body }: Answer, path: string): boolean =>
  status === 400 &&
  body.error === 'VALIDATION_FAILED' &&
  body.details.some((detail: { path: string; message: string }) => {
    const within = detail.path === path || (detail.path !== '' && path.startsWith(`${detail.path}.`));
    return within && detail.message !== '';
  });

const describeFailure = (operation: Operation, what: string, { status, body }: Answer): string =>
  `${named(operation)} with ${what}: ${status} ${JSON.stringify(body).slice(0, 300)}`;

const badBodiesOf = ({ body }: Operation): BadValue[] => {
  if (body === undefined) return [];
  const schema = schemaOf(body);
  return badValuesOf(schema, sampleOf(schema));
};

test('every field of every body is validated', async (t) => {
  const failures: string[] = [];
  let callCount = 0;
  for (const [at, operation] of built.entries())
    for (const { path, what, value } of selectPartAt(at, badBodiesOf(operation), parts)) {
      const response = await harness.request(operation.method, pathOf(operation, {}), { body: value });
      callCount++;
      if (!names(response, path)) failures.push(describeFailure(operation, `${path} ${what}`, response));
    }
  t.log(`${callCount} bodies are selected (TEST_SEED=${runSeed})`);
  t.true(callCount > built.length);
  t.deepEqual(failures, []);
});

const queriesOf = ({ query }: Operation): [name: string, what: string, text: string][] => {
  if (query === undefined) return [];
  const { properties = {} } = schemaOf(query);
  return Object.entries(properties).flatMap(([name, schema]) => {
    const bad: [string, string, string][] = [[name, 'given twice', `${name}=x&${name}=y`]];
    const operator = `${name}[$ne]`;
    if (isStrict(query)) bad.push([operator, 'an operator', `${encodeURIComponent(operator)}=x`]);
    if (schema.maxLength !== undefined) bad.push([name, 'too long', `${name}=${'x'.repeat(schema.maxLength + 1)}`]);
    if (schema.enum !== undefined) bad.push([name, 'no member', `${name}=no-such-member`]);
    if (schema.maximum !== undefined && schema.maximum < Number.MAX_SAFE_INTEGER)
      bad.push([name, 'too much', `${name}=${schema.maximum + 1}`]);
    if (schema.minimum !== undefined) bad.push([name, 'no number', `${name}=seventeen`]);
    return bad;
  });
};

test('every parameter of every query is validated', async (t) => {
  const failures: string[] = [];
  let callCount = 0;
  for (const [at, operation] of built.entries())
    for (const [path, what, text] of selectPartAt(at, queriesOf(operation), parts)) {
      const response = await harness.request(operation.method, `${pathOf(operation, {})}?${text}`);
      callCount++;
      if (!names(response, path)) failures.push(describeFailure(operation, `${path} ${what}`, response));
    }
  t.log(`${callCount} queries are selected (TEST_SEED=${runSeed})`);
  t.true(callCount > built.length);
  t.deepEqual(failures, []);
});

test('an undeclared parameter is refused, even if the operation declares none', async (t) => {
  const failures: string[] = [];
  for (const operation of built.filter(({ query }) => query === undefined || isStrict(query)))
    for (const [path, text] of [
      ['unheard-of', 'unheard-of=1'],
      ['tenantId[]', 'tenantId[]=b'],
      ['__proto__', '__proto__=x'],
    ] as const) {
      const response = await harness.request(operation.method, `${pathOf(operation, {})}?${text}`);
      if (!names(response, path)) failures.push(describeFailure(operation, text, response));
    }
  t.deepEqual(failures, []);
});
