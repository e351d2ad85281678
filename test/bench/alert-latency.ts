/**
 * A whole standalone process with many rules, during ingest: how late rules are evaluated, and the time from the
 * acknowledgement of a record that breaches a threshold to the request of the webhook.
 *
 *     node bin/node.mjs test/bench/alert-latency.ts [rules at one a minute] [records a second] [breaches]
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { ruleOf } from '../cases/alert-evaluation.ts';
import { embeddedDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { startOiq } from '../end-to-end/oiq-process.ts';
import { runLoad } from './load.ts';
import { bodies, logsPayload } from './payloads.ts';
import { cpuSeconds, memory } from './process-cost.ts';
import { scratch } from './scratch.ts';
import { openWebhook } from './webhook.ts';

const [rules = 0, rate = 0, breaches = 10] = process.argv.slice(2).map(Number);
const recordsPerRequest = 500;
const directory = scratch();
const dataDirectory = join(directory, 'data');
const licenseKey = await embeddedDeployment(dataDirectory);

const conditionOf = (index: number): object =>
  index % 2 === 0
    ? { query: { kind: 'promql', expression: `sum by (service) (rate(requests_${index % 50}[5m])) > ${index}` } }
    : {
        query: { kind: 'aggregate', signal: 'logs', search: `service:s-${index}`, measures: [{ function: 'count' }] },
        window: '1m',
      };
const documents = await openSqliteDocuments({ path: join(dataDirectory, 'documents.sqlite') });
const tenantId = (await documents.forTenant(organizationsTenant).collection(organizations).list()).items[0]?.id ?? '';
await documents.transaction(async (transaction) => {
  for (let index = 0; index < rules; index++) {
    const {
      id: _,
      version: __,
      ...rule
    } = ruleOf({ name: `rule ${index}`, interval: '1m', condition: conditionOf(index) });
    await transaction
      .forTenant(tenantId)
      .collection(alertRules)
      .insert({ ...rule, queryVersion: 1 });
  }
});
await documents.close();

const oiq = await startOiq({
  dataDirectory,
  environment: { ...withoutLimits, OIQ_OUTBOUND_NETWORKS: '127.0.0.0/8' },
});
const { receiver, request } = await openWebhook(oiq.http, 'service');
const search = 'service:breach*';
const query = { kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }], groupBy: ['service'] };
const thresholds = [{ severity: 'critical', operator: 'above', value: 0 }];
const condition = { kind: 'threshold', query, window: '1m', thresholds };
await request('POST', '/api/alerts/rules', { name: 'Breach', interval: '10s', condition });
await sleep(15_000);

const files = bodies(20, (seed) => logsPayload({ seed, records: recordsPerRequest, nowMs: Date.now() })).map(
  (body, index) => {
    const file = join(directory, `${index}.pb`);
    writeFileSync(file, body);
    return file;
  },
);
const headers = { 'x-license-key': licenseKey };
const cpuBefore = cpuSeconds(oiq.pid);
const began = performance.now();
const load =
  rate === 0
    ? undefined
    : runLoad({
        url: `${oiq.otlp}/v1/logs`,
        headers: { ...headers, 'content-type': 'application/x-protobuf' },
        files,
        recordsPerRequest,
        connections: 8,
        seconds: 16 * breaches,
        rate: rate / recordsPerRequest,
      });
const latencies: number[] = [];
for (let index = 0; index < breaches; index++) {
  // A random time within the interval.
  await sleep(2000 + 8000 * Math.random());
  const service = `breach-${index}`;
  const attributes = [{ key: 'service.name', value: { stringValue: service } }];
  const logRecords = [{ timeUnixNano: `${Date.now()}000000`, severityNumber: 17, body: { stringValue: 'failed' } }];
  const body = { resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }] };
  const landed = await fetch(`${oiq.otlp}/v1/logs`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!landed.ok) throw new Error(await landed.text());
  const from = performance.now();
  while (!receiver.received.some(({ text }) => text.includes(`"${service}"`)) && performance.now() - from < 120_000)
    await sleep(20);
  latencies.push((performance.now() - from) / 1000);
}
const sent = await load;
const cpu = cpuSeconds(oiq.pid) - cpuBefore;
const elapsed = (performance.now() - began) / 1000;
const metrics = await (await fetch(`${oiq.http}/metrics`)).text();
/** The smallest bucket bound that contains the given share of a histogram. */
const quantile = (name: string, q: number): string => {
  const lines = [...metrics.matchAll(new RegExp(`^${name}_bucket\\{(.*)le="([^"]+)"(.*)\\} (\\S+)$`, 'gm'))].filter(
    ([line]) => line.includes('schedule="alert-evaluation"'),
  );
  const all = Number(lines.at(-1)?.[4] ?? 0);
  return lines.find(([, , , , count]) => Number(count) >= q * all)?.[2] ?? '?';
};
const inOrder = latencies.toSorted((one, other) => one - other);
console.log(
  JSON.stringify({
    rules,
    records: sent?.records ?? 0,
    failed: sent?.failed ?? 0,
    cores: (cpu / elapsed).toFixed(2),
    fromAcknowledgementToWebhook: {
      median: inOrder[Math.floor(inOrder.length / 2)]?.toFixed(1),
      most: inOrder.at(-1)?.toFixed(1),
    },
    beganLateP99AtMost: quantile('oiq_schedule_delay_seconds', 0.99),
    tookP99AtMost: quantile('oiq_schedule_run_duration_seconds', 0.99),
    peakRssMiB: memory(oiq.pid).peak,
  }),
);
await oiq.stop();
await receiver.close();
process.exit();
