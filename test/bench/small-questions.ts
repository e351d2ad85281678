/**
 * The CPU time of a whole standalone process for small queries: PromQL with no series and with one, the list of log
 * records without a match in a minute, and a dashboard of 20 panels, while many records were received recently.
 *
 *     node bin/node.mjs test/bench/small-questions.ts
 *
 * `BENCH_SAMPLES` of the last 20 minutes (1,000,000), `BENCH_ROWS` log records of them (200,000), `BENCH_ASKED` queries
 * of each kind (200), `BENCH_NODE_OPTIONS` for the measured process (such as `--cpu-prof`).
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { embeddedDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { signedIn, startOiq } from '../end-to-end/oiq-process.ts';
import { cpuSeconds } from './process-cost.ts';
import { fill } from './reading-fill.ts';
import { type Row, table } from './report.ts';
import { scratch } from './scratch.ts';

const samples = Number(process.env['BENCH_SAMPLES'] ?? 1_000_000);
const rows = Number(process.env['BENCH_ROWS'] ?? 200_000);
const requestCount = Number(process.env['BENCH_ASKED'] ?? 200);
const nodeOptions = process.env['BENCH_NODE_OPTIONS'];
const inserts = 20;
const series = 2_000;
const minutes = 18;

const dataDirectory = scratch();
const licenseKey = await embeddedDeployment(dataDirectory);
const first = await startOiq({ dataDirectory });
const { tenantId } = await signedIn(first.http);
await first.stop();

const columns = await openChdbColumns({ directory: join(dataDirectory, 'columns') });
await migrate(columns, silentLog);
const nowMs = Date.now();
const fromMs = nowMs - minutes * 60_000;
await columns.execute(`INSERT INTO series (tenant_id, project_id, metric, series_id, kind, source, attributes, attribute_types, first_seen, last_seen)
  SELECT '${tenantId}', 'default', 'requests_total', number + 1, 'counter', 'prometheus', map('instance', concat('i', toString(number)), 'job', 'shop'), 'ss', fromUnixTimestamp64Milli(${fromMs}, 'UTC'), fromUnixTimestamp64Milli(${nowMs}, 'UTC') FROM numbers(${series})`);
for (let insert = 0; insert < inserts; insert++) {
  const at = `(${fromMs} + intDiv((number + ${(insert * samples) / inserts}) * ${nowMs - fromMs}, ${samples}))`;
  await columns.execute(`INSERT INTO samples (tenant_id, project_id, received_at, metric, series_id, timestamp, value)
    SELECT '${tenantId}', 'default', fromUnixTimestamp64Milli(toInt64${at}, 'UTC'), 'requests_total', 1 + number % ${series}, fromUnixTimestamp64Milli(toInt64${at}, 'UTC'), number
    FROM numbers(${samples / inserts})`);
}
const nodeMetrics = 20;
const nodeSeries = 5;
await columns.execute(`INSERT INTO series (tenant_id, project_id, metric, series_id, kind, source, attributes, attribute_types, first_seen, last_seen)
  SELECT '${tenantId}', 'default', concat('node_', toString(intDiv(number, ${nodeSeries}))), number + 1000000, 'counter', 'prometheus', map('device', concat('d', toString(number % ${nodeSeries})), 'job', 'node'), 'ss', fromUnixTimestamp64Milli(${fromMs}, 'UTC'), fromUnixTimestamp64Milli(${nowMs}, 'UTC') FROM numbers(${nodeMetrics * nodeSeries})`);
const every15s = `fromUnixTimestamp64Milli(toInt64(${fromMs} + intDiv(number, ${nodeMetrics * nodeSeries}) * 15000), 'UTC')`;
await columns.execute(`INSERT INTO samples (tenant_id, project_id, received_at, metric, series_id, timestamp, value)
  SELECT '${tenantId}', 'default', ${every15s}, concat('node_', toString(intDiv(number % ${nodeMetrics * nodeSeries}, ${nodeSeries}))), number % ${nodeMetrics * nodeSeries} + 1000000, ${every15s}, number
  FROM numbers(${nodeMetrics * nodeSeries * minutes * 4})`);
await fill(columns, 'logs', { tenantId, day: { records: rows, fromMs, toMs: nowMs } });
await columns.close();

const environment = {
  ...withoutLimits,
  OIQ_API_REQUESTS_PER_SECOND: '1000000',
  ...(nodeOptions === undefined ? {} : { NODE_OPTIONS: nodeOptions }),
};
const oiq = await startOiq({ dataDirectory, environment });
const { token } = await signedIn(oiq.http);
const headers = { authorization: `Bearer ${token}`, 'cache-control': 'no-cache' };

const promql = (expression: string) => (): string =>
  `/api/prom/api/v1/query?query=${encodeURIComponent(expression)}&time=${nowMs / 1000}`;
const panel = (expression: string) => (): [string, object] => [
  '/api/metrics/query',
  { queries: { query: { kind: 'promql', expression } }, from: String(fromMs), to: String(nowMs) },
];
/** All panels of a dashboard in one request. The changing number prevents cached selectors. */
const panels = (matcher: string): [string, object] => [
  '/api/metrics/query',
  {
    queries: Object.fromEntries(
      Array.from({ length: nodeMetrics }, (_, index) => [
        `panel${index}`,
        { kind: 'promql', expression: `sum by (device) (rate(node_${index}{job="node"${matcher}}[5m]))` },
      ]),
    ),
    from: String(fromMs),
    to: String(nowMs),
    step: '15s',
  },
];
const questions: Readonly<Record<string, (index: number) => string | [string, object]>> = {
  'PromQL over HTTP, vector(1)': promql('vector(1)'),
  'PromQL over HTTP, one series': promql('requests_total{instance="i7"}'),
  'PromQL over HTTP, one series over the range': () =>
    `/api/prom/api/v1/query_range?query=${encodeURIComponent('rate(requests_total{instance="i7"}[5m])')}&start=${fromMs / 1000}&end=${nowMs / 1000}&step=15`,
  'a panel, vector(1)': panel('vector(1)'),
  'a panel, one series': panel('requests_total{instance="i7"}'),
  '20 panels in a request': () => panels(''),
  '20 panels in a request, asked for the first time': (index) => panels(`,device!="${index}"`),
  'a list that finds nothing in a minute': (index) => {
    const to = nowMs - (index % 15) * 60_000;
    return `/api/logs?from=${to - 60_000}&to=${to}&limit=100&search=zzqqyx${index}`;
  },
  'a session': () => '/auth/session',
};

const sendQuery = async (question: string | [string, object]): Promise<number> => {
  const [path, body] = typeof question === 'string' ? [question, undefined] : question;
  const response = await fetch(`${oiq.http}${path}`, {
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
  return text.length;
};

// Sends a record, because sinks then report the watermark, as during ingest. Before that the first minutes are counted.
const now = `${Date.now()}000000`;
const landed = {
  logs: { resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: now, body: { stringValue: 'landed' } }] }] }] },
  metrics: {
    resourceMetrics: [
      {
        scopeMetrics: [{ metrics: [{ name: 'landed', gauge: { dataPoints: [{ timeUnixNano: now, asDouble: 1 }] } }] }],
      },
    ],
  },
};
for (const [signal, body] of Object.entries(landed)) {
  const answer = await fetch(`${oiq.otlp}/v1/${signal}`, {
    method: 'POST',
    headers: { 'x-license-key': licenseKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

const figures: Row[] = [];
// Work that remains from the start is not a cost of queries.
await new Promise((resolve) => setTimeout(resolve, 15_000));
const idleFrom = cpuSeconds(oiq.pid);
const idleSince = performance.now();
await new Promise((resolve) => setTimeout(resolve, 5_000));
const idle = (cpuSeconds(oiq.pid) - idleFrom) / (performance.now() - idleSince);
for (const [question, of] of Object.entries(questions)) {
  for (let index = 0; index < requestCount / 4; index++) await sendQuery(of(index));
  const before = cpuSeconds(oiq.pid);
  const started = performance.now();
  for (let index = 0; index < requestCount; index++) await sendQuery(of(index + requestCount));
  const ms = performance.now() - started;
  const cpu = (cpuSeconds(oiq.pid) - before - idle * ms) * 1_000;
  figures.push({ question, 'CPU-ms': cpu / requestCount, ms: ms / requestCount, 'load average': loadavg()[0] ?? 0 });
  console.error(JSON.stringify(figures.at(-1)));
}
console.log(table(figures));
await oiq.stop();
