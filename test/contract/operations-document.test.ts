/** The published document matches the registry. */
import '../../subjects/query-kinds.ts';
import { Validator } from '@seriousme/openapi-schema-validator';
import test from 'ava';
import { groups, operations } from '../../api/groups/index.ts';
import { createOpenApiDocument } from '../../api/kernel/openapi.ts';

// biome-ignore lint/suspicious/noExplicitAny: the document is JSON of every shape
const document = JSON.parse(JSON.stringify(await createOpenApiDocument(operations, groups))) as any;

test('the document is valid OpenAPI 3.1.0 of version 1.0.0', async (t) => {
  const validator = new Validator();
  const result = await validator.validate(document);
  t.true(result.valid, JSON.stringify(result.errors));
  t.is(validator.version, '3.1');
  t.is(document.openapi, '3.1.0');
  t.is(document.info.version, '1.0.0');
});

test('the document lists every operation except the five of single sign-on', (t) => {
  const listed = Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const hidden = operations.filter(({ path }) => path.startsWith('/auth/sso/'));
  t.is(hidden.length, 5);
  const shown = operations.filter((operation) => !hidden.includes(operation));
  t.deepEqual(listed.sort(), shown.map(({ method, path }) => `${method} ${path}`).sort());
});

test('each group is a tag with a description, and each operation has the tag of its group', (t) => {
  t.deepEqual(
    document.tags,
    groups.map(({ name, summary }) => ({ name, description: summary })),
  );
  for (const { name, summary } of groups) t.regex(summary, /^[A-Z][^\n]+\.$/, name);
  for (const { path, method, group, hidden } of operations)
    if (!hidden) t.deepEqual(document.paths[path][method.toLowerCase()].tags, [group], path);
});

test('every published operation has 200, and 401 and 403 with the error object; an operation that is not built says so', (t) => {
  for (const { path, method, built, hidden, failure } of operations) {
    if (hidden) continue;
    const published = document.paths[path][method.toLowerCase()];
    t.truthy(published.responses['200'], path);
    for (const status of ['401', '403'])
      if (failure === undefined)
        t.deepEqual(published.responses[status], { $ref: `#/components/responses/Error${status}` }, path);
      else t.regex(published.responses[status].description, /in the format of Prometheus/, path);
    t.is(published['x-oiq-built'], built ? undefined : false, path);
  }
  t.deepEqual(document.components.schemas.Error.required, ['error', 'message', 'requestId']);
});

test('an operation without a role does not compile', (t) => {
  // Enforced by the type checker: `Definition` requires `role`, and this line fails if it does not.
  const declare = (): void => {
    // @ts-expect-error: the role is missing
    const definition: Parameters<typeof import('../../api/kernel/operation.ts').defineOperation>[0] = {
      method: 'GET',
      path: '/api/x',
      operationId: 'x',
      summary: '',
      response: operations[0]?.response as never,
      handler: () => ({}),
    };
    t.log(definition);
  };
  t.is(typeof declare, 'function');
});
