/**
 * The time from the failure of a target to the request of the webhook, with three locations, and from its recovery to
 * the next request. A whole standalone process with probes in this process, and a check every ten seconds.
 *
 *     node bin/node.mjs test/bench/check-latency.ts [failures]
 */
import { lookup } from 'node:dns';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpSource } from '../../probes/http-source.ts';
import { RateLimiter } from '../../probes/pace.ts';
import { startProbe } from '../../probes/probe.ts';
import { createEgressPolicy } from '../../runtime/egress-policy.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { embeddedDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { startOiq } from '../end-to-end/oiq-process.ts';
import { table } from './report.ts';
import { scratch } from './scratch.ts';
import { openWebhook } from './webhook.ts';

const [failures = 6] = process.argv.slice(2).map(Number);
const everyMs = 10_000;
const timeoutMs = 120_000;
const dataDirectory = join(scratch(), 'data');
await embeddedDeployment(dataDirectory);
const environment = { ...withoutLimits, OIQ_OUTBOUND_NETWORKS: '127.0.0.0/8' };
const oiq = await startOiq({ dataDirectory, environment });

const { receiver, request } = await openWebhook(oiq.http, 'check');

let isUp = true;
const target = createServer((_, response) => response.writeHead(isUp ? 200 : 500).end());
await new Promise<void>((ready) => target.listen(0, '127.0.0.1', ready));
const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
const egressPolicy = createEgressPolicy({
  allowedNetworks: ['127.0.0.0/8'],
  setting: 'OIQ_PROBE_NETWORKS',
  resolve: lookup,
});
const locations: string[] = [];
const probes = [];
for (const name of ['one', 'two', 'three']) {
  const location = await request('POST', '/api/synthetics/locations', { name });
  locations.push(location.id);
  const source = createHttpSource({ url: oiq.http, token: location.token, probe: name, onRejected: console.error });
  probes.push(
    startProbe({
      source,
      egressPolicy,
      pace: new RateLimiter(),
      log: silentLog,
      chromium: { program: undefined, hasSandbox: true },
    }),
  );
}
const check = { name: 'shop', type: 'http', every: '10s', timeout: '5s', locations, http: { steps: [{ url }] } };
const { id } = await request('POST', '/api/synthetics/checks', check);
while ((await request('GET', `/api/synthetics/checks/${id}`)).state !== 'up') await sleep(500);

/** Seconds until the next request of the webhook. */
const waitForNotification = async (): Promise<number> => {
  const [before, began] = [receiver.received.length, performance.now()];
  while (receiver.received.length === before) {
    if (performance.now() - began > timeoutMs) throw new Error('nothing was told');
    await sleep(20);
  }
  return (performance.now() - began) / 1000;
};
const latencies: { readonly failed: number; readonly recovered: number }[] = [];
for (let index = 0; index < failures; index++) {
  // A random time within the interval.
  await sleep(2000 + everyMs * Math.random());
  isUp = false;
  const failed = await waitForNotification();
  await sleep(2000 + everyMs * Math.random());
  isUp = true;
  latencies.push({ failed, recovered: await waitForNotification() });
}
const rowOf = (what: 'failed' | 'recovered') => {
  const inOrder = latencies.map((one) => one[what]).toSorted((one, other) => one - other);
  const median = inOrder[Math.floor(inOrder.length / 2)] ?? 0;
  return { what, 'median s': median, 'most s': inOrder.at(-1) ?? 0, 'load of the machine': loadavg()[0] ?? 0 };
};
console.log(table([rowOf('failed'), rowOf('recovered')]));
await Promise.all(probes.map((probe) => probe.stop()));
target.close();
await receiver.close();
await oiq.stop();
