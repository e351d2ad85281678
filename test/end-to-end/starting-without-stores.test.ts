/** Processes that start while their stores are down wait for them and are not ready, like running processes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { freePorts } from '../services/ports.ts';
import { type Instance, startService, unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { mongoDeployment } from './deployment.ts';
import { type OiqProcess, type Ports, runOiq, spawnOiq } from './oiq-process.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-no-stores-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));

type Environment = Readonly<Record<string, string>>;

const storesAt = (kafka: number, clickhouse: number, mongodb: string, registry: number): Environment => ({
  OIQ_KAFKA_BROKERS: `127.0.0.1:${kafka}`,
  OIQ_CLICKHOUSE_URL: `http://127.0.0.1:${clickhouse}/oiq`,
  OIQ_MONGODB_URL: mongodb,
  OIQ_SCHEMA_REGISTRY_URL: `http://127.0.0.1:${registry}/apis/ccompat/v7`,
  OIQ_REDIS_URL: `redis://127.0.0.1:${registry}`,
  OIQ_SECRET_KEY: 'a key of the test, long enough for it',
});

/** Addresses of all stores where nothing listens. */
const nowhere = async (): Promise<Environment> => {
  const [nobody = 0] = await freePorts(1);
  return storesAt(nobody, nobody, `mongodb://127.0.0.1:${nobody}/oiq?replicaSet=rs0`, nobody);
};

const spawned = async (t: ExecutionContext, role: string, environment: Environment): Promise<OiqProcess> => {
  const ports = (await freePorts(3)) as unknown as Ports;
  const oiq = spawnOiq({ args: [role], dataDirectory: join(directory, role), ports, environment });
  t.teardown(() => oiq.kill());
  return oiq;
};

const readyz = async ({ http }: OiqProcess): Promise<string> => {
  const response = await fetch(`${http}/readyz`).catch(() => undefined);
  return `${response?.status} ${await response?.text()}`;
};

const untilReady = async (t: ExecutionContext, oiq: OiqProcess, expected: RegExp): Promise<void> => {
  let readiness = '';
  await eventually(`${expected} in /readyz`, async () => {
    readiness = await readyz(oiq);
    return expected.test(readiness);
  }).catch(() => t.fail(`${readiness}\n${oiq.output()}`));
};

/** Waits until `/readyz` names the store. Asserts that the process keeps running and rejects requests. */
const waitsFor = async (t: ExecutionContext, oiq: OiqProcess, store: RegExp): Promise<void> => {
  await untilReady(t, oiq, new RegExp(`^503 .*"process":"${store.source}`));
  t.is((await fetch(`${oiq.http}/healthz`)).status, 200);
  const refused = await fetch(`${oiq.http}/v1/logs`, { method: 'POST', body: '{}' });
  t.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5']);
};

const countWaitLogs = (oiq: OiqProcess): number =>
  oiq.output().match(/waiting for a store before the start/g)?.length ?? 0;

for (const role of ['start', 'receivers', 'processors', 'api']) {
  test.serial(`${role} waits for MongoDB, not ready, and ends when it is stopped`, async (t) => {
    const oiq = await spawned(t, role, await nowhere());
    await waitsFor(t, oiq, /MongoDB cannot be reached/);
    await eventually('the wait is logged', () => countWaitLogs(oiq) > 0);
    t.is(await oiq.stop(), 0, oiq.output());
    t.true(countWaitLogs(oiq) < 10, oiq.output());
  });
}

test.serial('sinks start without MongoDB, and are not ready while Kafka and ClickHouse are down', async (t) => {
  const oiq = await spawned(t, 'sinks', await nowhere());
  await untilReady(t, oiq, /^503 .*"sinks":"Kafka cannot be reached[^"]*ClickHouse cannot be reached/);
  t.is(await oiq.stop(), 0, oiq.output());
});

test.serial('an invalid MongoDB address ends the start', async (t) => {
  const { code, errors } = await runOiq(['api'], { ...(await nowhere()), OIQ_MONGODB_URL: 'http://127.0.0.1:1/' });
  t.not(code, 0);
  t.regex(errors, /OIQ_MONGODB_URL/);
});

/** Servers that a test starts one after the other. */
const servers = (['kafka', 'clickhouse', 'mongodb', 'schema-registry'] as const).map(unavailable);
const withServers = servers.every((reason) => reason === undefined) ? test.serial : test.skip;

const serverAt = async (
  t: ExecutionContext,
  name: Parameters<typeof startService>[0],
  port: number,
): Promise<Instance> => {
  const server = await startService(name, { port, directory: join(directory, `${name}-${port}`) });
  t.teardown(() => server.kill());
  return server;
};

withServers('everything in one process waits for each of its stores, and then makes the installation', async (t) => {
  const [kafka = 0, clickhouse = 0, mongodb = 0, registry = 0] = await freePorts(4);
  const url = `mongodb://127.0.0.1:${mongodb}/oiq?replicaSet=rs0`;
  const oiq = await spawned(t, 'start', storesAt(kafka, clickhouse, url, registry));
  await waitsFor(t, oiq, /MongoDB cannot be reached/);
  await serverAt(t, 'mongodb', mongodb);
  await waitsFor(t, oiq, /Kafka cannot be reached/);
  await serverAt(t, 'kafka', kafka);
  await waitsFor(t, oiq, /ClickHouse cannot be reached|the schema registry at/);
  await serverAt(t, 'clickhouse', clickhouse);
  await waitsFor(t, oiq, /the schema registry at/);
  await serverAt(t, 'schema-registry', registry);
  await untilReady(t, oiq, /^200 /);
  t.regex(oiq.output(), /This is the first start[\s\S]*OIQ is running/);
  t.is(await oiq.stop(), 0, oiq.output());
});

withServers('processors go on when MongoDB is there, and then are not ready until Kafka is', async (t) => {
  const [kafka = 0, nobody = 0, mongodb = 0] = await freePorts(3);
  const server = await serverAt(t, 'mongodb', mongodb);
  await mongoDeployment(server.url);
  await server.kill();
  const environment = storesAt(kafka, nobody, server.url, nobody);
  const oiq = await spawned(t, 'processors', environment);
  await waitsFor(t, oiq, /MongoDB cannot be reached/);
  await server.start();
  await untilReady(t, oiq, /^503 .*"processors":"Kafka cannot be reached/);
  await eventually('groups have failed to join', () => /cannot join the group/.test(oiq.output()));
  await untilReady(t, oiq, /^503 .*"processors":"Kafka cannot be reached/);
  t.is(await oiq.stop(), 0, oiq.output());
});

withServers('a wrong password of MongoDB ends the start, and the setting is named', async (t) => {
  const [mongodb = 0] = await freePorts(1);
  await serverAt(t, 'mongodb', mongodb);
  const url = `mongodb://oiq:wrong@127.0.0.1:${mongodb}/oiq?authSource=admin&replicaSet=rs0`;
  const [http = 0] = await freePorts(1);
  const environment = { ...(await nowhere()), OIQ_MONGODB_URL: url, OIQ_HTTP_ADDRESS: `127.0.0.1:${http}` };
  const { code, errors } = await runOiq(['api'], environment);
  t.is(code, 1);
  t.regex(errors, /oiq api: MongoDB refuses the login: .*OIQ_MONGODB_URL/);
});
