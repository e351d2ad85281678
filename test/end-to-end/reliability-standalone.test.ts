/** One process with all roles: killed repeatedly under load, and stopped under load. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import test from 'ava';
import { openOffsetStore } from '../../adapters/bus-segments/offset-store.ts';
import { sinkGroups } from '../../sinks/index.ts';
import { killRounds } from '../budget.ts';
import { freePorts } from '../services/ports.ts';
import { embeddedDeployment, withoutLimits } from './deployment.ts';
import { type OiqProcess, type Ports, spawnOiq, startOiq } from './oiq-process.ts';
import { logsRequest, Oracle } from './oracle.ts';
import { readBackEmbedded } from './read-back.ts';
import { assertReadBack, between, pace, roundHangMs, temporaryDirectory, waitUntilDrained } from './reliability.ts';

test.serial('kill -9 at any moment, even during the start, loses and duplicates nothing', async (t) => {
  t.timeout(killRounds * roundHangMs);
  const dataDirectory = await temporaryDirectory(t, 'kills');
  const licenseKey = await embeddedDeployment(dataDirectory);
  const ports = (await freePorts(3)) as unknown as Ports;
  const options = { dataDirectory, ports, environment: withoutLimits };
  const oracle = new Oracle({ otlp: () => `http://127.0.0.1:${ports[2]}`, licenseKey, ...pace });
  let oiq: OiqProcess | undefined;
  t.teardown(async () => {
    await oiq?.kill();
    await oracle.close();
  });
  oracle.start();
  for (let round = 0; round < killRounds; round++) {
    if (round % 4 === 3) {
      oiq = spawnOiq(options);
      await delay(between(50, 1500));
    } else {
      oiq = await startOiq(options);
      await delay(between(100, 2000));
    }
    await oiq.kill();
  }
  oiq = await startOiq(options);
  await delay(1000);
  await oracle.stop();
  await waitUntilDrained(oiq.http);
  t.is(await oiq.stop(), 0, oiq.output());
  assertReadBack(t, oracle, await readBackEmbedded(dataDirectory, oracle.service));
});

/** Sends the head and half of the body of a request. `finish` sends the rest and returns the status. */
const halfSent = async (url: string, licenseKey: string, body: Buffer): Promise<() => Promise<number>> => {
  const request = httpRequest(`${url}/v1/logs`, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/x-protobuf',
      'content-length': body.length,
      'x-license-key': licenseKey,
      expect: '100-continue',
    },
  });
  const apiResponse = new Promise<number>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    });
  });
  // Awaited later; until then a rejection must not count as unhandled.
  apiResponse.catch(() => undefined);
  request.flushHeaders();
  await once(request, 'continue');
  const half = body.length >> 1;
  await new Promise((resolve) => request.write(body.subarray(0, half), resolve));
  return () => {
    request.end(body.subarray(half));
    return apiResponse;
  };
};

const inFlight = 20;

test.serial(
  'SIGTERM under load: in-flight requests get responses, acknowledged records are stored, and the exit code is 0',
  async (t) => {
    const dataDirectory = await temporaryDirectory(t, 'stop');
    const licenseKey = await embeddedDeployment(dataDirectory);
    const ports = (await freePorts(3)) as unknown as Ports;
    const options = { dataDirectory, ports, environment: withoutLimits };
    const oracle = new Oracle({ otlp: () => `http://127.0.0.1:${ports[2]}`, licenseKey, ...pace });
    let oiq: OiqProcess | undefined;
    t.teardown(async () => {
      await oiq?.kill();
      await oracle.close();
    });
    const expected = new Map<string, number>();
    oracle.start();
    for (let round = 0; round < 3; round++) {
      oiq = await startOiq(options);
      await delay(1500);
      const held = Array.from({ length: inFlight }, (_, index) => `held ${round} ${index}`);
      for (const body of held) expected.set(body, 1);
      const { http, otlp } = oiq;
      const finishes = await Promise.all(
        held.map((body, index) =>
          halfSent(index % 2 === 0 ? otlp : `${http}/otlp`, licenseKey, logsRequest('held', [body])),
        ),
      );
      // A drain that exceeds OIQ_SHUTDOWN_SECONDS would exit with 1.
      const code = oiq.stop();
      await delay(500);
      const statuses = await Promise.all(finishes.map((finish) => finish()));
      t.deepEqual([...new Set(statuses)], [200]);
      t.is(await code, 0, oiq.output());
      const store = openOffsetStore(join(dataDirectory, 'bus'));
      const claims = sinkGroups.flatMap(({ group, topics }) => topics.map((topic) => store.position(group, topic, 0)));
      store.close();
      t.deepEqual(
        claims.filter((position) => position?.claimed !== undefined),
        [],
        'a range was left unfinished',
      );
    }
    await oracle.stop();
    oiq = await startOiq(options);
    await waitUntilDrained(oiq.http);
    t.is(await oiq.stop(), 0, oiq.output());
    const landed = await readBackEmbedded(dataDirectory, 'held');
    t.deepEqual(new Map([...landed].sort()), new Map([...expected].sort()));
    assertReadBack(t, oracle, await readBackEmbedded(dataDirectory, oracle.service));
  },
);
