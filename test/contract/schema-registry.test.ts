/** Schemas of derived topics in a real registry. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import test from 'ava';
import { z } from 'zod';
import { registerSchemas, toJsonSchema, toSubject } from '../../adapters/schema-registry.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { defineTopic, type Topic } from '../../schemas/topic.ts';
import { allTopics } from '../../schemas/topics.ts';
import { freePorts } from '../services/ports.ts';
import { startServices } from '../services/services.ts';

let url = '';

test.before(async () => {
  url = (await startServices(['schema-registry'])).url('schema-registry');
});

const topicOf = (name: string, value: z.ZodType | undefined): Topic =>
  defineTopic({ name, summary: 'of this test', key: 'any', value });

test('a topic with a value schema is registered under its name, and a topic of raw bytes is not', async (t) => {
  const name = `registry.${randomUUID()}`;
  const value = z.strictObject({ id: z.string(), count: z.number().int().optional() });
  const ids = await registerSchemas(url, [topicOf(name, value), topicOf(`${name}.raw`, undefined)]);
  t.deepEqual([...ids.keys()], [`${name}-value`]);
  const response = await fetch(`${url}/subjects/${toSubject(name)}/versions/latest`);
  const found = (await response.json()) as { schema: string; schemaType: string; id: number };
  t.is(found.schemaType, 'JSON');
  t.deepEqual(JSON.parse(found.schema), JSON.parse(toJsonSchema(name, value)));
  t.deepEqual([...ids.values()], [found.id]);
});

test('a second registration changes nothing', async (t) => {
  const topics = [topicOf(`registry.${randomUUID()}`, z.strictObject({ id: z.string() }))];
  const first = await registerSchemas(url, topics);
  t.deepEqual(await registerSchemas(url, topics), first);
});

test('a schema extended by an optional field becomes the next version', async (t) => {
  const name = `registry.${randomUUID()}`;
  await registerSchemas(url, [topicOf(name, z.strictObject({ id: z.string() }))]);
  await registerSchemas(url, [topicOf(name, z.strictObject({ id: z.string(), note: z.string().optional() }))]);
  const versions = await (await fetch(`${url}/subjects/${toSubject(name)}/versions`)).json();
  t.deepEqual(versions, [1, 2]);
});

test('a schema that old values do not satisfy is refused with the subject named', async (t) => {
  const name = `registry.${randomUUID()}`;
  await registerSchemas(url, [topicOf(name, z.strictObject({ id: z.string() }))]);
  await t.throwsAsync(() => registerSchemas(url, [topicOf(name, z.strictObject({ id: z.number() }))]), {
    message: new RegExp(`${name}-value`),
    name: 'Error',
  });
});

test('every declared topic has a schema that the registry accepts', async (t) => {
  const prefix = randomUUID();
  const renamed = allTopics.map((topic) => ({ ...topic, name: `${prefix}.${topic.name}` }));
  const ids = await registerSchemas(url, renamed);
  t.is(ids.size, allTopics.filter(({ value }) => value !== undefined).length);
});

test('an unreachable registry is named, and the registration may be retried', async (t) => {
  const [port] = await freePorts(1);
  const away = `http://127.0.0.1:${port}`;
  const topics = [topicOf('any', z.strictObject({ id: z.string() }))];
  await t.throwsAsync(() => registerSchemas(away, topics), {
    instanceOf: UnavailableError,
    message: new RegExp(`127\\.0\\.0\\.1:${port}`),
  });
});

test('a registry that hangs is named, and its connection is closed', async (t) => {
  const registry = createServer().listen(0, '127.0.0.1');
  t.teardown(() => registry.close());
  await once(registry, 'listening');
  const connected = once(registry, 'connection');
  const { port } = registry.address() as AddressInfo;
  const refused = t.throwsAsync(
    registerSchemas(`http://127.0.0.1:${port}`, [topicOf('any', z.strictObject({ id: z.string() }))], 100),
    { instanceOf: UnavailableError, message: /did not accept any-value: no response within 100 ms$/ },
  );
  const [socket] = await connected;
  const closed = once(socket.resume(), 'close');
  await refused;
  await t.notThrowsAsync(closed);
});
