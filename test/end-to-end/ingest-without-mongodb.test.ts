/** Receivers while MongoDB hangs or is down: they keep applying the keys, plans and limits that they know. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { openMongoDocuments } from '../../adapters/documents-mongodb/documents-mongodb.ts';
import { licenseKeys } from '../../schemas/resources/license-key.ts';
import { freePorts } from '../services/ports.ts';
import { type Instance, startService, unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { mongoDeployment, withoutLimits } from './deployment.ts';
import { type OiqProcess, runOiq, startOiq } from './oiq-process.ts';

const missing = unavailable('mongodb');
const serial = missing === undefined ? test.serial : test.serial.skip;
/** The length of each outage: longer than the tolerated lag of a change feed. */
const outageMs = Number(process.env['TEST_OUTAGE_SECONDS'] ?? 8) * 1000;

const directory = mkdtempSync(join(tmpdir(), 'oiq-no-mongodb-'));
const dataDirectory = join(directory, 'data');
/** The bus is in the data directory, because the test is only about MongoDB. */
const mixed = { OIQ_CLUSTER: 'false' };
let mongodb: Instance;
let licenseKey: string;

test.before(async () => {
  if (missing !== undefined) return;
  const [port = 0] = await freePorts(1);
  mongodb = await startService('mongodb', { port, directory: join(directory, 'mongodb') });
  licenseKey = await mongoDeployment(mongodb.url);
  const migrated = await runOiq(['migrate'], { ...mixed, OIQ_MONGODB_URL: mongodb.url, OIQ_DATA_DIR: dataDirectory });
  if (migrated.code !== 0) throw new Error(migrated.errors);
});
test.after.always(async () => {
  await mongodb?.kill();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

const startReceivers = async (t: ExecutionContext, environment: Record<string, string> = {}): Promise<OiqProcess> => {
  const oiq = await startOiq({
    args: ['receivers'],
    dataDirectory,
    environment: { ...mixed, OIQ_MONGODB_URL: mongodb.url, ...withoutLimits, ...environment },
  });
  t.teardown(() => oiq.kill());
  return oiq;
};

const send = async ({ otlp }: OiqProcess): Promise<number> => {
  const response = await fetch(`${otlp}/v1/logs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-license-key': licenseKey },
    body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'hello' } }] }] }] }),
  });
  await response.arrayBuffer();
  return response.status;
};

/** Sends continuously on several connections until stopped. Returns the count of each status, 0 for no response. */
const startLoad = (oiq: OiqProcess): (() => Promise<Record<number, number>>) => {
  const statuses: Record<number, number> = {};
  let stopped = false;
  const running = Array.from({ length: 4 }, async () => {
    while (!stopped) {
      const status = await send(oiq).catch(() => 0);
      statuses[status] = (statuses[status] ?? 0) + 1;
      await delay(5);
    }
  });
  return async () => {
    stopped = true;
    await Promise.all(running);
    return statuses;
  };
};

const readiness = async ({ http }: OiqProcess): Promise<{ status: number; body: Record<string, unknown> }> => {
  const response = await fetch(`${http}/readyz`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const isDegraded = async (oiq: OiqProcess): Promise<boolean> => 'degraded' in (await readiness(oiq)).body;
const occurrences = (text: string, part: string): number => text.split(part).length - 1;
/** How often the process has logged that MongoDB does not respond. */
const outagesOf = (oiq: OiqProcess): number => occurrences(oiq.output(), 'requests are admitted by the license keys');
const staleSeconds = async ({ http }: OiqProcess): Promise<number> => {
  const text = await (await fetch(`${http}/metrics`)).text();
  return Number(/^oiq_license_keys_stale_seconds(?:\{[^}]*\})? (\S+)/m.exec(text)?.[1]);
};

for (const how of ['hang', 'kill'] as const)
  serial(`MongoDB is down (${how}) under load: no request is refused, and the state is reported`, async (t) => {
    const oiq = await startReceivers(t);
    const load = startLoad(oiq);
    await (how === 'hang' ? mongodb.hang() : mongodb.kill());
    // The server is named within seconds. After that the report says that keys are no longer read.
    const reportsStore = async (): Promise<boolean> =>
      /the configuration store does not answer/.test(JSON.stringify((await readiness(oiq)).body['degraded'] ?? ''));
    await eventually('the receivers report it', reportsStore);
    const { status, body } = await readiness(oiq);
    t.is(status, 200);
    t.is(body['status'], 'ready');
    t.regex(JSON.stringify(body['degraded']), /the configuration store does not answer/);
    await eventually('the metric reports it', async () => (await staleSeconds(oiq)) > 5);
    await delay(outageMs);
    await (how === 'hang' ? mongodb.resume() : mongodb.start());
    await eventually('the receivers recovered', async () => !(await isDegraded(oiq)));
    t.deepEqual(Object.keys(await load()), ['200']);
    // On a busy machine a further short outage is possible, which is logged in the same way.
    const ends = (): number => occurrences(oiq.output(), 'answers again');
    await eventually('the end is logged', () => ends() > 0);
    t.is(outagesOf(oiq), ends(), oiq.output());
    t.is(await oiq.stop(), 0);
  });

serial('after the grace period requests are refused with 503, and accepted again once MongoDB responds', async (t) => {
  const oiq = await startReceivers(t, { OIQ_KEY_GRACE_SECONDS: '6' });
  t.is(await send(oiq), 200);
  await mongodb.hang();
  await eventually('refused', async () => (await send(oiq)) === 503);
  const { status, body } = await readiness(oiq);
  t.is(status, 503);
  t.regex(JSON.stringify(body['reasons']), /license keys cannot be checked/);
  await mongodb.resume();
  await eventually('accepted again', async () => (await send(oiq)) === 200);
});

serial('a key revoked as soon as MongoDB is back is refused, and so is a key revoked without an outage', async (t) => {
  const oiq = await startReceivers(t);
  await mongodb.kill();
  await eventually('degraded', () => isDegraded(oiq));
  t.is(await send(oiq), 200);
  await mongodb.start();
  const documents = await openMongoDocuments({ url: mongodb.url });
  t.teardown(() => documents.close());
  const keys = documents.forTenant('default').collection(licenseKeys);
  const [key] = (await keys.list()).items;
  if (key === undefined) throw new Error('there is a license key');
  const revoke = (revokedAt: string | null): Promise<unknown> => keys.update(key.id, { revokedAt });
  await revoke(new Date().toISOString());
  await eventually('refused', async () => (await send(oiq)) === 401);
  // On a busy machine the feed may lag for a moment. Then this was no revocation without an outage, so repeat it.
  await eventually('refused with no outage', async () => {
    await revoke(null);
    await eventually('the feeds recovered', async () => !(await isDegraded(oiq)));
    await eventually('accepted', async () => (await send(oiq)) === 200);
    const outages = outagesOf(oiq);
    await revoke(new Date().toISOString());
    await eventually('refused', async () => (await send(oiq)) === 401);
    return !(await isDegraded(oiq)) && outagesOf(oiq) === outages;
  });
});
