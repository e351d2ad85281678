/**
 * PromQL compared with Prometheus: the same samples and the same results, then time and CPU in alternating rounds. The
 * column store runs in this process, so its share is included.
 *
 *     node bin/node.mjs test/bench/promql.ts PROMETHEUS [series] [words of questions…]
 *
 * PROMETHEUS is the path of its program. BENCH_DIRECTORY is a directory in which the data remains for the next run.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openPromql } from '../../queries/promql/evaluation/threads.ts';
import { readLabelValues } from '../../queries/promql/fetch/label-reads.ts';
import type { Scope } from '../../queries/promql/fetch/scope.ts';
import { toResultJson } from '../../queries/promql/result-json.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { snappy, writeRequestOf } from '../end-to-end/conformance.ts';
import { freePorts } from '../services/ports.ts';

const [program = '', seriesText = '10000', ...only] = process.argv.slice(2);
const seriesCount = Number(seriesText);
const intervalMs = 15_000;
const samplesEach = (6 * 3_600_000) / intervalMs;
const { BENCH_DIRECTORY: savedDirectory, BENCH_ROUNDS: roundsText = '5' } = process.env;
const rounds = Number(roundsText);
if (savedDirectory !== undefined) mkdirSync(savedDirectory, { recursive: true });
const directory = savedDirectory ?? mkdtempSync(join(tmpdir(), 'oiq-bench-promql-'));
const filledFile = join(directory, `filled-${seriesText}`);
const isFilled = existsSync(filledFile);
const endMs = isFilled ? Number(readFileSync(filledFile, 'utf8')) : Math.floor(Date.now() / 60_000) * 60_000 - 60_000;
const startMs = endMs - samplesEach * intervalMs;
const manySeries = 200_000;

/** A counter with integer increments, the same in SQL and here. */
const counterAt = (series: number, step: number): number => step * (1 + (series % 7)) + ((series * 31 + step * 17) % 5);
const valueSql = 'step * (1 + series % 7) + (series * 31 + step * 17) % 5';
const les = ['0.1', '0.5', '1', '5', '+Inf'];

const columns = await openChdbColumns({ directory: join(directory, 'columns'), maxMemoryBytes: 2 * 1024 ** 3 });
await migrate(columns, silentLog);

/** A set of series: the metric, the number of series, and the labels of one as SQL and as text. */
interface Load {
  readonly metric: string;
  readonly count: number;
  readonly steps: number;
  readonly firstId: number;
  readonly stepMs: number;
  readonly sql: string;
  labels(series: number): Readonly<Record<string, string>>;
}
const loads: readonly Load[] = [
  {
    metric: 'requests_total',
    count: seriesCount,
    steps: samplesEach,
    firstId: 1,
    stepMs: intervalMs,
    sql: "map('instance', concat('i', toString(series)), 'job', concat('job', toString(series % 20)))",
    labels: (series) => ({ instance: `i${series}`, job: `job${series % 20}` }),
  },
  {
    metric: 'took_seconds_bucket',
    count: 1000,
    steps: samplesEach,
    firstId: 1_000_001,
    stepMs: intervalMs,
    sql: `map('instance', concat('i', toString(intDiv(series, 5))), 'job', 'shop', 'le', [${les.map((le) => `'${le}'`).join(', ')}][series % 5 + 1])`,
    labels: (series) => ({ instance: `i${Math.floor(series / 5)}`, job: 'shop', le: les[series % 5] as string }),
  },
  {
    metric: 'week_total',
    count: 1,
    steps: 40_320,
    firstId: 2_000_001,
    stepMs: intervalMs,
    sql: "map('instance', 'one')",
    labels: () => ({ instance: 'one' }),
  },
  {
    metric: 'many',
    count: manySeries,
    steps: 1,
    firstId: 3_000_001,
    stepMs: intervalMs,
    sql: "map('pod', concat('pod-', toString(series)))",
    labels: (series) => ({ pod: `pod-${series}` }),
  },
];

const fill = async (): Promise<void> => {
  for (const { metric, count, steps, firstId, stepMs, sql } of loads) {
    await columns.execute(`INSERT INTO series (tenant_id, project_id, metric, series_id, kind, source, attributes, attribute_types, first_seen, last_seen)
      SELECT 'bench', 'bench', '${metric}', ${firstId} + series, 'counter', 'prometheus', ${sql}, 'sss', now64(3), now64(3) FROM (SELECT number AS series FROM numbers(${count}))`);
    const part = Math.max(1, Math.floor(2_000_000 / steps));
    for (let from = 0; from < count; from += part)
      await columns.execute(`INSERT INTO samples (tenant_id, project_id, received_at, metric, series_id, timestamp, value)
        SELECT 'bench', 'bench', fromUnixTimestamp64Milli(${endMs}, 'UTC'), '${metric}', ${firstId} + series, fromUnixTimestamp64Milli(toInt64(${endMs} - (${steps} - 1 - step) * ${stepMs}), 'UTC'), ${valueSql}
        FROM (SELECT ${from} + intDiv(number, ${steps}) AS series, number % ${steps} AS step FROM numbers(${Math.min(part, count - from) * steps}))`);
  }
};

const [port = 0] = await freePorts(1);
const url = `http://127.0.0.1:${port}/api/v1`;
writeFileSync(join(directory, 'prometheus.yml'), 'global: {}\nstorage:\n  tsdb:\n    out_of_order_time_window: 240h\n');
const peer = spawn(
  program,
  [
    ...[`--config.file=${join(directory, 'prometheus.yml')}`, `--storage.tsdb.path=${join(directory, 'peer')}`],
    ...[`--web.listen-address=127.0.0.1:${port}`, '--web.enable-remote-write-receiver'],
  ],
  { stdio: 'ignore' },
);

const send = async (series: Parameters<typeof writeRequestOf>[1]): Promise<void> => {
  const headers = {
    'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
    'content-encoding': 'snappy',
    'x-prometheus-remote-write-version': '2.0.0',
  };
  const response = await fetch(`${url}/write`, {
    method: 'POST',
    headers,
    body: new Uint8Array(snappy(writeRequestOf(2, series))),
  });
  if (!response.ok) throw new Error(`Prometheus answered ${response.status}: ${await response.text()}`);
};

const fillPeer = async (): Promise<void> => {
  for (const { metric, count, steps, stepMs, labels } of loads) {
    const part = Math.max(1, Math.floor(50_000 / steps));
    for (let from = 0; from < count; from += part)
      await send(
        Array.from({ length: Math.min(part, count - from) }, (_, index) => ({
          labels: Object.entries({ __name__: metric, ...labels(from + index) }),
          samples: Array.from({ length: steps }, (_sample, step) => ({
            value: counterAt(from + index, step),
            timestamp: endMs - (steps - 1 - step) * stepMs,
          })),
        })),
      );
  }
};

/** CPU time of all threads from the scheduler, because a clock tick is longer than a short query. */
const peerCpuMs = (): number =>
  readdirSync(`/proc/${peer.pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${peer.pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6)
    .reduce((sum, cpu) => sum + cpu, 0);
const residentMb = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);

const threads = openPromql();
let fetchedMs = 0;
const own = columns.forTenant('bench');
const scope: Scope = {
  columns: {
    ...own,
    async queryNative(...question) {
      const started = performance.now();
      const bytes = await own.queryNative(...question);
      fetchedMs += performance.now() - started;
      return bytes;
    },
  },
  translation: { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: true },
};

interface Case {
  readonly name: string;
  query(): Promise<unknown>;
  peer(): Promise<unknown>;
}

const data = async (path: string): Promise<unknown> => {
  const response = (await (await fetch(`${url}/${path}`)).json()) as { readonly data: unknown };
  return response.data;
};

const range = (name: string, expression: string, fromMs: number, stepMs: number): Case => ({
  name,
  async query() {
    const window = { startMs: fromMs, endMs, stepMs, lookbackMs: 300_000 };
    const { value } = await threads.evaluate({ expression, window, scope, retainedFromMs: 0 });
    return JSON.parse(JSON.stringify(toResultJson(value, Number.POSITIVE_INFINITY).data));
  },
  peer: () =>
    data(
      `query_range?${new URLSearchParams({ query: expression, start: String(fromMs / 1000), end: String(endMs / 1000), step: String(stepMs / 1000) })}`,
    ),
});

const cases: readonly Case[] = [
  range('sum by (job) (rate(x[5m])), 6 h at 1 min', 'sum by (job) (rate(requests_total[5m]))', startMs, 60_000),
  range(
    'histogram_quantile over 1,000 buckets',
    'histogram_quantile(0.9, sum by (le, instance) (rate(took_seconds_bucket[5m])))',
    startMs,
    60_000,
  ),
  range('topk(10, x)', 'topk(10, rate(requests_total[5m]))', endMs - 3_600_000, 60_000),
  range('one series over 7 days', 'week_total', endMs - 7 * 86_400_000 + 300_000, 600_000),
  {
    name: `label values at ${manySeries} series`,
    query: () => readLabelValues({ scope, window: { fromMs: startMs, toMs: endMs }, matcherSets: [] }, 'pod'),
    peer: () => data(`label/pod/values?start=${startMs / 1000}&end=${endMs / 1000}`),
  },
];

const ownCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const minOf = (values: readonly number[]): number => Math.min(...values);
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

const timed = async (work: () => Promise<unknown>, cpuMs: () => number) => {
  const [started, before] = [performance.now(), cpuMs()];
  const response = await work();
  return { answer: response, ms: performance.now() - started, cpu: cpuMs() - before };
};

try {
  for (let attempt = 0; attempt < 100; attempt++) {
    const isReady = await fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  if (!isFilled) {
    await fill();
    process.stderr.write('filled\n');
    await fillPeer();
    process.stderr.write('filled the peer\n');
    writeFileSync(filledFile, String(endMs));
  }
  process.stdout.write(
    '| question | OIQ ms | CPU | fetch ms | Prometheus ms | CPU | CPU ratio | same |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n',
  );
  for (const { name, query, peer: queryPeer } of cases) {
    if (only.length > 0 && !only.some((word) => name.includes(word))) continue;
    // The first round starts threads and compiles code. It checks that the results are equal.
    const same = JSON.stringify(await query()) === JSON.stringify(await queryPeer());
    const oiqTimes: Awaited<ReturnType<typeof timed>>[] = [];
    const peerTimes: Awaited<ReturnType<typeof timed>>[] = [];
    fetchedMs = 0;
    for (let round = 0; round < rounds; round++) {
      oiqTimes.push(await timed(query, ownCpuMs));
      peerTimes.push(await timed(queryPeer, peerCpuMs));
    }
    const [cpu, peerCpu] = [median(oiqTimes.map((one) => one.cpu)), median(peerTimes.map((one) => one.cpu))];
    process.stdout.write(
      `| ${[name, minOf(oiqTimes.map(({ ms }) => ms)).toFixed(0), cpu.toFixed(0), (fetchedMs / rounds).toFixed(0), minOf(peerTimes.map(({ ms }) => ms)).toFixed(0), peerCpu.toFixed(1), (cpu / peerCpu).toFixed(1), same].join(' | ')} |\n`,
    );
  }
  process.stdout.write(
    `\nResident: ${residentMb(process.pid)} MB with the engine of columns, Prometheus ${residentMb(peer.pid ?? 0)} MB\n`,
  );
} finally {
  peer.kill('SIGKILL');
  await threads.close();
  await columns.close();
  if (savedDirectory === undefined) rmSync(directory, { recursive: true, force: true });
}
