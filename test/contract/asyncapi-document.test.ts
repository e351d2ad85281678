/** The WebSocket document is AsyncAPI 3.0, and describes the messages that live tail accepts and sends. */
import specs from '@asyncapi/specs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import test from 'ava';
import { operations } from '../../api/groups/index.ts';
import { createAsyncApiDocument } from '../../api/kernel/asyncapi.ts';
import { liveTail } from '../../api/streams/live-tail.ts';
import { startHarness } from '../end-to-end/api-harness.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
const document = createAsyncApiDocument([liveTail], operations) as any;

const problems = (value: unknown): unknown => {
  // The schema contains its own copy of the JSON Schema meta-schema.
  const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false });
  addFormats.default(ajv);
  const valid = ajv.compile(specs.schemas['3.0.0'] as object);
  return valid(value) ? [] : valid.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`);
};

test('the document satisfies the schema of AsyncAPI 3.0', (t) => {
  t.deepEqual(problems(document), []);
  t.notDeepEqual(
    problems({ ...document, operations: { liveTail: { action: 'shout' } } }),
    [],
    'the schema refuses others',
  );
});

test('the document names the path, every parameter, every message and the permissions', (t) => {
  const { address, messages, bindings } = document.channels.liveTail;
  t.is(address, '/ws/live-tail');
  t.deepEqual(Object.keys(messages), ['logs', 'spans', 'heartbeat']);
  t.deepEqual(Object.keys(bindings.ws.query.properties).toSorted(), [
    ...['attribute', 'last', 'projectId', 'resume', 'scope', 'search', 'service', 'severity', 'signal', 'tenantId'],
  ]);
  const { required, properties } = messages.logs.payload;
  t.deepEqual(required, ['type', 'records', 'dropped', 'skipped', 'gap', 'live', 'position']);
  t.true('traceId' in properties.records.items.properties);
  t.regex(document.operations.liveTail.description, /GET \/api\/traces.*traces:read/);
});

test('the document is served to everybody', async (t) => {
  const harness = await startHarness();
  t.teardown(() => harness.close());
  const { status, body } = await harness.request('GET', '/api/asyncapi.json', { as: 'nobody' });
  t.is(status, 200);
  t.deepEqual(body, JSON.parse(JSON.stringify(document)));
});
