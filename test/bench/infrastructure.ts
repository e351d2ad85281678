/**
 * How fast the management API returns hosts, clusters, databases and networks, over a day of metrics with a point per
 * minute: 200 hosts, a cluster of 1,500 pods, 10 databases, flows of 500 pairs. Measures wall-clock time, CPU time of
 * the process (and of the ClickHouse server), and rows that statements read.
 *
 *     node bin/node.mjs test/bench/infrastructure.ts [embedded|served] [words of questions…]
 *
 * `BENCH_ROUNDS` (5; the first does not count), `BENCH_SCALE` (1) scales all resources. `BENCH_KEEP` is a directory in
 * which the data remains for the next run; its day is that of the first run.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { embeddedDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { signedIn, startOiq } from '../end-to-end/oiq-process.ts';
import { freePorts } from '../services/ports.ts';
import { startService } from '../services/services.ts';
import { fillCalls, fillLogs, fillMetrics } from './infrastructure-fill.ts';
import { questionsOf } from './infrastructure-questions.ts';
import type { Size } from './infrastructure-senders.ts';
import { cpuSeconds } from './process-cost.ts';
import { type Row, table } from './report.ts';
import { scratch } from './scratch.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const scale = Number(process.env['BENCH_SCALE'] ?? 1);
const [form = 'embedded', ...words] = process.argv.slice(2);
const savedDirectory = process.env['BENCH_KEEP'];
const of = (count: number): number => Math.max(1, Math.round(count * scale));
const size: Size = {
  hosts: of(200),
  processesPerHost: 3,
  nodes: of(50),
  pods: of(1500),
  databases: of(10),
  flows: of(500),
};
const directory = savedDirectory === undefined ? scratch() : join(savedDirectory, form);
mkdirSync(directory, { recursive: true });
const dataDirectory = join(directory, 'data');
const filledFile = join(directory, 'filled.json');

interface Filled {
  readonly toMs: number;
  readonly samples: number;
  readonly series: number;
}

const environment: Record<string, string> = { ...withoutLimits, OIQ_API_REQUESTS_PER_SECOND: '1000000' };

const fill = async (open: () => Promise<Columns>): Promise<Filled> => {
  await embeddedDeployment(dataDirectory);
  const first = await startOiq({ dataDirectory, environment });
  const { tenantId } = await signedIn(first.http);
  await first.stop();
  const columns = await open();
  await migrate(columns, silentLog);
  const toMs = Math.floor(Date.now() / 60_000) * 60_000;
  await fillMetrics(columns, tenantId, size, toMs);
  await fillCalls(columns, tenantId, size, { toMs, spans: of(1_000_000) });
  await fillLogs(columns, tenantId, { toMs, logs: of(500_000) });
  const [counts] = await columns.query<{ samples: string; series: string }>(
    'SELECT (SELECT count() FROM samples) AS samples, (SELECT uniqExact(series_id) FROM series) AS series',
  );
  await columns.close();
  return { toMs, samples: Number(counts?.samples), series: Number(counts?.series) };
};

const [port = 0] = await freePorts(1);
const server =
  form === 'served' ? await startService('clickhouse', { port, directory: join(directory, 'clickhouse') }) : undefined;
if (server !== undefined) environment['OIQ_CLICKHOUSE_URL'] = server.url;
const isFilled = existsSync(filledFile);
const filled = isFilled
  ? (JSON.parse(readFileSync(filledFile, 'utf8')) as Filled)
  : await fill(() =>
      server === undefined
        ? openChdbColumns({ directory: join(dataDirectory, 'columns') })
        : openClickhouseColumns({ urls: [server.url] }),
    );
if (!isFilled) writeFileSync(filledFile, JSON.stringify(filled));

const oiq = await startOiq({ dataDirectory, environment });
const { token } = await signedIn(oiq.http);
const pids = [oiq.pid, ...(server === undefined ? [] : [server.pid])];
const cpuMs = (): number => 1000 * pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
const headers = { authorization: `Bearer ${token}`, 'cache-control': 'no-cache' };
await delay(5000);

const get = async (path: string): Promise<string> => {
  const response = await fetch(`${oiq.http}${path}`, { headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
  return text;
};

/** Rows that statements have read so far, from the counter of the process. */
const rowsRead = async (): Promise<number> => {
  const metrics = await (await fetch(`${oiq.http}/metrics`)).text();
  return [...metrics.matchAll(/^oiq_quer\w*rows_read\w*(?:\{[^}]*\})? (\S+)/gm)].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  );
};

const median = (values: readonly number[]): number => values.toSorted((one, two) => one - two)[values.length >> 1] ?? 0;

const measured = async (path: string): Promise<readonly [ms: number, cpu: number, rows: number, note: string]> => {
  const times: number[] = [];
  const cpu: number[] = [];
  let rows = 0;
  for (let round = 0; round < rounds; round++) {
    const before = { rows: await rowsRead(), cpu: cpuMs(), ms: performance.now() };
    try {
      await get(path);
    } catch (error) {
      return [0, 0, 0, String(error).slice(0, 200)];
    }
    const ms = performance.now() - before.ms;
    const cpuUsedMs = cpuMs() - before.cpu;
    if (round > 0 || rounds === 1) {
      times.push(ms);
      cpu.push(cpuUsedMs);
    }
    rows = (await rowsRead()) - before.rows;
  }
  return [median(times), median(cpu), rows, ''];
};

console.log(
  `${cpus().length} cores, ${cpus()[0]?.model}, load average ${loadavg()[0]?.toFixed(1)}, Node ${process.version}, ${new Date().toISOString().slice(0, 16)}, ${form}, ${filled.samples} samples of ${filled.series} series`,
);
const found: Row[] = [];
const ranges = [
  ['an hour', filled.toMs - 3_600_000],
  ['a day', filled.toMs - 24 * 3_600_000 + 60_000],
] as const;
for (const { name, path } of await questionsOf(get, filled.toMs)) {
  if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
  const row: Record<string, string | number> = { question: name };
  for (const [range, fromMs] of ranges) {
    const [ms, cpu, rows, note] = await measured(
      `${path}${path.includes('?') ? '&' : '?'}from=${fromMs}&to=${filled.toMs}`,
    );
    row[`${range}: ms`] = note === '' ? ms : note;
    row[`${range}: CPU-ms`] = cpu;
    row[`${range}: thousand rows read`] = rows / 1000;
  }
  row['load'] = loadavg()[0] ?? 0;
  console.error(JSON.stringify(row));
  found.push(row);
}
console.log(`\n${table(found)}`);
await oiq.stop();
await server?.stop();
if (savedDirectory === undefined) rmSync(directory, { recursive: true, force: true });
process.exit(0);
