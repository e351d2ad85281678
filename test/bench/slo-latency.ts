/**
 * The time from the end of a slice in which an SLO failed to the request of the webhook: a whole standalone process
 * with the clock of the machine. One SLO fails after the other, a minute each.
 *
 *     node bin/node.mjs test/bench/slo-latency.ts [objectives]
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { embeddedDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { startOiq } from '../end-to-end/oiq-process.ts';
import { scratch } from './scratch.ts';
import { openWebhook } from './webhook.ts';

const minuteMs = 60_000;
/** Minutes of good records, so that the longest window of a paging alert has data. */
const minutesBefore = 90;
const [count = 5] = process.argv.slice(2).map(Number);
const dataDirectory = join(scratch(), 'data');
const licenseKey = await embeddedDeployment(dataDirectory);
const oiq = await startOiq({
  dataDirectory,
  environment: { ...withoutLimits, OIQ_OUTBOUND_NETWORKS: '127.0.0.0/8' },
});
const { receiver, request } = await openWebhook(oiq.http, 'slo_id');

interface Records {
  readonly service: string;
  readonly fromMs: number;
  readonly count: number;
  readonly severityNumber: number;
}

const send = async (all: readonly Records[]): Promise<void> => {
  const resourceLogs = all.map(({ service, fromMs, count: records, severityNumber }) => ({
    resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
    scopeLogs: [
      {
        logRecords: Array.from({ length: records }, (_, at) => ({
          timeUnixNano: `${fromMs + at}000000`,
          severityNumber,
          body: { stringValue: 'a line' },
        })),
      },
    ],
  }));
  const response = await fetch(`${oiq.otlp}/v1/logs`, {
    method: 'POST',
    headers: { 'x-license-key': licenseKey, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceLogs }),
  });
  if (!response.ok) throw new Error(await response.text());
};

const services = Array.from({ length: count }, (_, at) => `service-${at}`);
const minuteOf = (ms: number): number => Math.floor(ms / minuteMs) * minuteMs;
const good = (fromMs: number): Records[] =>
  services.map((service) => ({ service, fromMs, count: 100, severityNumber: 9 }));
const beganMs = minuteOf(Date.now());
for (let minute = 1; minute <= minutesBefore; minute++) await send(good(beganMs - minute * minuteMs));

const counted = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
const ids: string[] = [];
for (const service of services) {
  const sli = { bad: counted(`service:${service} severity:error`), total: counted(`service:${service}`) };
  const created = await request('POST', '/api/slos', {
    name: service,
    type: 'ratio',
    targetPct: 99.9,
    windowDays: 30,
    query: { sli },
  });
  ids.push(created.id);
}

const waited = 4;
const latencies: number[] = [];
const isNotified = (id: string): boolean => receiver.received.some(({ text }) => text.includes(id));
const endsMs: number[] = [];
for (let minute = 0; minute < waited + count + 3; minute++) {
  const fromMs = beganMs + (minute + 1) * minuteMs;
  await sleep(Math.max(0, fromMs + 5_000 - Date.now()));
  await send(good(fromMs));
  const failing = services[minute - waited];
  if (failing === undefined) continue;
  await send([{ service: failing, fromMs, count: 500, severityNumber: 17 }]);
  const id = ids[minute - waited] as string;
  const endMs = fromMs + minuteMs;
  endsMs.push(endMs);
  void (async () => {
    while (!isNotified(id)) await sleep(100);
    latencies.push((Date.now() - endMs) / 1000);
    console.error(`${failing}: ${latencies.at(-1)?.toFixed(1)} s`);
  })();
}
const inOrder = latencies.toSorted((one, other) => one - other);
console.log(
  JSON.stringify({
    failed: endsMs.length,
    told: latencies.length,
    secondsFromTheEndOfTheSlice: { median: inOrder[Math.floor(inOrder.length / 2)], most: inOrder.at(-1) },
  }),
);
await oiq.stop();
await receiver.close();
process.exit();
