/**
 * PromQL over HTTP compared with Prometheus with the same samples: `vector(1)`, one series, and users who concurrently
 * open a dashboard of 20 panels over many series. CPU-ms of the whole process and p50 for each query; results are
 * compared.
 *
 *     node bin/node.mjs test/bench/promql-users.ts PROMETHEUS
 *
 * PROMETHEUS is the path of its program. `BENCH_SERIES` (10,000) of all panels, an hour with a sample every 15 seconds;
 * `BENCH_USERS` (5), `BENCH_ROUNDS` of the dashboard (5), `BENCH_ASKED` small queries of each kind (100).
 */
import { loadavg } from 'node:os';
import { snappy, startSubject, write, writeRequestOf } from '../end-to-end/conformance.ts';
import { fetchStoredRows } from '../end-to-end/reliability.ts';
import { eventually } from '../waiting.ts';
import { cpuSeconds } from './process-cost.ts';
import { type Json, startPeer } from './prometheus-peer.ts';
import { type Row, table } from './report.ts';

const [program = ''] = process.argv.slice(2);
const seriesCount = Number(process.env['BENCH_SERIES'] ?? 10_000);
const users = Number(process.env['BENCH_USERS'] ?? 5);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const requestCount = Number(process.env['BENCH_ASKED'] ?? 100);
const panels = 20;
const zones = 4;
const intervalMs = 15_000;
const hourMs = 3_600_000;
const seriesOfOneRequest = 100;
const endMs = Math.floor(Date.now() / 60_000) * 60_000;
const startMs = endMs - hourMs - 600_000;

const seriesOf = (index: number) => ({
  labels: Object.entries({
    __name__: `requests_${index % panels}_total`,
    instance: `i${Math.floor(index / panels)}`,
    job: 'shop',
    zone: `z${Math.floor(index / panels) % zones}`,
  }),
  samples: Array.from({ length: (endMs - startMs) / intervalMs }, (_, step) => ({
    value: step * (1 + (index % 7)) + ((index * 31 + step * 17) % 5),
    timestamp: startMs + step * intervalMs,
  })),
});

const peer = await startPeer(program);
const subject = await startSubject({ OIQ_API_REQUESTS_PER_SECOND: '1000000' });
let sent = 0;
for (let from = 0; from < seriesCount; from += seriesOfOneRequest) {
  const length = Math.min(seriesOfOneRequest, seriesCount - from);
  const some = Array.from({ length }, (_, index) => seriesOf(from + index));
  sent += some.reduce((sum, { samples }) => sum + samples.length, 0);
  const body = writeRequestOf(2, some);
  await peer.write(body);
  const response = await write(subject, 2, snappy(body));
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
}
await eventually('all samples are stored', async () => (await fetchStoredRows(subject.oiq.http, 'samples')) >= sent);
// Waits until inserted data is merged, because merges are not a cost of queries.
await new Promise((resolve) => setTimeout(resolve, 20_000));

interface Side {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}
const sides: readonly Side[] = [
  {
    name: 'oiq',
    pid: subject.oiq.pid,
    url: `${subject.oiq.http}/api/prom/api/v1`,
    headers: { authorization: `Bearer ${subject.token}`, 'cache-control': 'no-cache' },
  },
  { name: 'Prometheus', pid: peer.pid, url: peer.url, headers: {} },
];

const sendQuery = async ({ url, headers }: Side, path: string, parameters: Readonly<Record<string, string>>) => {
  const started = performance.now();
  const response = await fetch(`${url}/${path}?${new URLSearchParams(parameters)}`, { headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}/${path}: ${response.status} ${text.slice(0, 300)}`);
  return { ms: performance.now() - started, text };
};

/** Points of a response in the order of their labels. */
const pointsOf = (text: string): readonly string[] =>
  JSON.parse(text)
    .data.result.map(({ metric: { zone }, values }: Json) => JSON.stringify([zone, values]))
    .toSorted();

interface Question {
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
}
const instant = (query: string, at: number): Question => ({ path: 'query', parameters: { query, time: String(at) } });
const panel = (index: number, shiftMs: number): Question => ({
  path: 'query_range',
  parameters: {
    query: `sum by (zone) (rate(requests_${index}_total[5m]))`,
    start: String((endMs - hourMs - shiftMs) / 1000),
    end: String((endMs - shiftMs) / 1000),
    step: '15',
  },
});

const measured = async (side: Side, work: () => Promise<number[]>): Promise<{ cpuMs: number; p50: number }> => {
  const before = cpuSeconds(side.pid);
  const times = await work();
  const cpuMs = ((cpuSeconds(side.pid) - before) * 1_000) / times.length;
  return { cpuMs, p50: times.toSorted((one, other) => one - other)[times.length >> 1] ?? 0 };
};

const figures: Row[] = [];
const compare = async (what: string, works: (side: Side) => Promise<number[]>): Promise<void> => {
  const seen: { cpuMs: number; p50: number }[] = [];
  for (const side of sides) seen.push(await measured(side, () => works(side)));
  const [oiq = { cpuMs: 0, p50: 0 }, prometheus = { cpuMs: 0, p50: 0 }] = seen;
  figures.push({
    what,
    'oiq CPU-ms': oiq.cpuMs,
    'Prometheus CPU-ms': prometheus.cpuMs,
    'by CPU': oiq.cpuMs / prometheus.cpuMs,
    'oiq p50': oiq.p50,
    'Prometheus p50': prometheus.p50,
    'by p50': oiq.p50 / prometheus.p50,
    'load average': loadavg()[0] ?? 0,
  });
  console.error(JSON.stringify(figures.at(-1)));
};

const small =
  (question: Question) =>
  async (side: Side): Promise<number[]> => {
    const times: number[] = [];
    for (let index = 0; index < requestCount; index++)
      times.push((await sendQuery(side, question.path, question.parameters)).ms);
    return times;
  };

/** Each user requests all panels at once, over a different range. */
const dashboards =
  (round: number) =>
  async (side: Side): Promise<number[]> => {
    const questions = Array.from({ length: users }, (_, user) =>
      Array.from({ length: panels }, (_panel, index) => panel(index, (round * users + user) * intervalMs)),
    ).flat();
    return Promise.all(questions.map(async ({ path, parameters }) => (await sendQuery(side, path, parameters)).ms));
  };

const [first, second] = await Promise.all(
  sides.map(async (side) => {
    const { path, parameters } = panel(3, 0);
    return pointsOf((await sendQuery(side, path, parameters)).text);
  }),
);
console.log(`the answers are ${String(first) === String(second) ? 'the same' : 'not the same'}`);
const oneSeries = 'requests_3_total{instance="i7"}';
for (const [what, question] of [
  ['vector(1)', instant('vector(1)', endMs / 1000)],
  ['one series', instant(oneSeries, endMs / 1000)],
] as const) {
  for (const side of sides) await small(question)(side);
  await compare(what, small(question));
}
for (let round = 0; round <= rounds; round++)
  await compare(`${panels} panels over ${seriesCount} series, ${users} users, round ${round}`, dashboards(round));
console.log(table(figures));
peer.stop();
await subject.close();
process.exit(0);
