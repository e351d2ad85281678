/**
 * How fast the management API reads telemetry, embedded and from a ClickHouse server, compared with VictoriaLogs with
 * the same log records: a day of logs and spans of 200 services, stored like in the sinks. p50 and p95 of interleaved
 * rounds, and CPU time of the process (and of the ClickHouse server).
 *
 *     BENCH_VICTORIALOGS=… node bin/node.mjs test/bench/reading.ts [embedded] [served]
 *
 * `BENCH_ROWS` log records (2,000,000) and half as many spans, `BENCH_ROUNDS` (15), `BENCH_SECONDS` for many readers
 * (10). `BENCH_KEEP` is a directory in which the data remains for the next run; its day is that of the first run.
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
import { type OiqProcess, signedIn, startOiq } from '../end-to-end/oiq-process.ts';
import { freePorts } from '../services/ports.ts';
import { startService } from '../services/services.ts';
import { runLoad } from './load.ts';
import { type Peer, startPinned, victoriaLogsPath } from './peers.ts';
import { cpuSeconds } from './process-cost.ts';
import { recordsPerRequest } from './reading-bodies.ts';
import { type Day, fill } from './reading-fill.ts';
import { type Question, questionsOf } from './reading-questions.ts';
import { type Row, table } from './report.ts';
import { scratch } from './scratch.ts';

const rows = Number(process.env['BENCH_ROWS'] ?? 2_000_000);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 15);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 10);
const readers = 16;
const dayMs = 24 * 3_600_000;
const savedDirectory = process.env['BENCH_KEEP'];

/** Reads `file` of the directory of saved data, or stores the result of `make` there. */
const loadOrMake = async <Value>(file: string, make: () => Value | Promise<Value>): Promise<Value> => {
  if (savedDirectory === undefined) return make();
  const path = join(savedDirectory, file);
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as Value;
  const value = await make();
  writeFileSync(path, JSON.stringify(value));
  return value;
};
if (savedDirectory !== undefined) mkdirSync(savedDirectory, { recursive: true });
const toMs = await loadOrMake(`day-${rows}.json`, () => Math.floor(Date.now() / 60_000) * 60_000);
const day = (records: number): Day => ({ records, fromMs: toMs - dayMs, toMs });

/** A target of requests. */
interface Target {
  readonly name: string;
  readonly pids: readonly number[];
  readonly headers: Readonly<Record<string, string>>;
  url(question: Question): string | undefined;
}

const unlimited = { ...withoutLimits, OIQ_API_REQUESTS_PER_SECOND: '1000000' };

/** Sets up an installation and fills its tables. Its process is not running when this resolves. */
const filled = async (
  dataDirectory: string,
  environment: Readonly<Record<string, string>>,
  openColumns: () => Promise<Columns>,
  also?: (body: Buffer) => Promise<void>,
): Promise<Row> => {
  await embeddedDeployment(dataDirectory);
  const first = await startOiq({ dataDirectory, environment });
  const { tenantId } = await signedIn(first.http);
  await first.stop();
  const columns = await openColumns();
  await migrate(columns, silentLog);
  await fill(columns, 'logs', { tenantId, day: day(rows), ...(also === undefined ? {} : { also }) });
  await fill(columns, 'traces', { tenantId, day: day(rows / 2) });
  const parts = await columns.query<{ table: string; rows: string; bytes: string; parts: string; fresh: string }>(
    `SELECT table, sum(p.rows) AS rows, sum(p.bytes_on_disk) AS bytes, count() AS parts, sumIf(p.rows, p.level = 0) AS fresh
    FROM system.parts AS p WHERE active AND database = currentDatabase() AND table IN ('logs', 'spans') GROUP BY table ORDER BY table`,
  );
  await columns.close();
  const [logs, spans] = parts;
  return {
    'bytes a log record': Number(logs?.bytes) / Number(logs?.rows),
    'bytes a span': Number(spans?.bytes) / Number(spans?.rows),
    'parts of logs': Number(logs?.parts),
    'rows that no merge has seen': Number(logs?.fresh),
  };
};

const asOiq = async (name: string, oiq: OiqProcess, more: readonly number[]): Promise<Target> => {
  const { token } = await signedIn(oiq.http);
  return {
    name,
    pids: [oiq.pid, ...more],
    headers: { authorization: `Bearer ${token}`, 'cache-control': 'no-cache' },
    url: ({ path }) => `${oiq.http}${path}`,
  };
};

const runQuestion = async (target: Target, question: Question): Promise<{ ms: number; found: number } | string> => {
  const url = target.url(question);
  if (url === undefined) return 'not asked';
  const started = performance.now();
  const response = await fetch(url, { headers: target.headers });
  const text = await response.text();
  const ms = performance.now() - started;
  if (response.status !== 200) return `${response.status}`;
  return { ms, found: text.startsWith('{"items"') ? (JSON.parse(text) as { items: [] }).items.length : text.length };
};

const at = (values: readonly number[], share: number): number =>
  values.toSorted((one, two) => one - two)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

interface Seen {
  readonly ms: number[];
  cpu: number;
  /** The reason for missing figures. */
  note: string;
}

const cpuOf = ({ pids }: Target): number => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);

const runOnce = async (target: Target, question: Question, seen: Seen, counts: boolean): Promise<void> => {
  const before = cpuOf(target);
  const result = await runQuestion(target, question);
  if (typeof result === 'string') seen.note = result;
  else if (counts) {
    seen.ms.push(result.ms);
    seen.cpu += cpuOf(target) - before;
  }
};

const figures = (name: string, { ms, cpu, note }: Seen): Row => ({
  [`${name} p50`]: note === '' ? at(ms, 0.5) : note,
  [`${name} p95`]: note === '' ? at(ms, 0.95) : note,
  [`${name} CPU-ms`]: note === '' ? (cpu / ms.length) * 1_000 : note,
});

const ratios = (own: Seen | undefined, peer: Seen | undefined): Row => {
  if (own === undefined || peer === undefined || own.ms.length === 0 || peer.ms.length === 0)
    return { 'ratio of p50': '', 'ratio of CPU': '' };
  return {
    'ratio of p50': at(own.ms, 0.5) / at(peer.ms, 0.5),
    'ratio of CPU': peer.cpu > 0 ? own.cpu / peer.cpu : '',
  };
};

const compared = async (question: Question, all: readonly Target[]): Promise<Row> => {
  const seen = new Map<string, Seen>(all.map(({ name }) => [name, { ms: [], cpu: 0, note: '' }]));
  // The first round warms up caches.
  for (let round = 0; round <= rounds; round++)
    for (const target of all) {
      const its = seen.get(target.name);
      if (its?.note === '') await runOnce(target, question, its, round > 0);
    }
  const row: Row = {
    question: question.name,
    'at most ms': question.maxMs,
    ...Object.assign({}, ...[...seen].map(([name, its]) => figures(name, its))),
    ...ratios(seen.get('oiq'), seen.get('VictoriaLogs')),
  };
  console.error(JSON.stringify(row));
  return row;
};

const many = async (question: Question, all: readonly Target[]): Promise<Row> => {
  const row: Record<string, string | number> = { [`${readers} readers`]: question.name };
  for (const target of all) {
    const url = target.url(question);
    if (url === undefined) continue;
    const before = cpuOf(target);
    const load = await runLoad({
      url,
      headers: target.headers,
      files: [],
      recordsPerRequest: 1,
      connections: readers,
      seconds,
    });
    const cpu = cpuOf(target) - before;
    row[`${target.name} queries/s`] = load.acknowledged / load.seconds;
    row[`${target.name} p50 ms`] = load.p50;
    row[`${target.name} CPU-ms a query`] = (cpu * 1_000) / load.acknowledged;
  }
  return row;
};

const victoriaLogs = async (directory: string): Promise<{ peer: Peer; url: string }> => {
  if (victoriaLogsPath === undefined) throw new Error('BENCH_VICTORIALOGS is not set');
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const peer = await startPinned(
    undefined,
    [
      ...[victoriaLogsPath, `-httpListenAddr=127.0.0.1:${port}`, `-storageDataPath=${directory}`],
      ...['-retentionPeriod=30d', '-search.maxConcurrentRequests=16'],
    ],
    async () => (await fetch(`${url}/health`)).ok,
  );
  return { peer, url };
};

const sendTo = async (url: string, body: Buffer): Promise<void> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body,
  });
  if (!response.ok) throw new Error(`VictoriaLogs answered ${response.status}: ${await response.text()}`);
};

/** Bytes of VictoriaLogs on disk. */
const storedBytes = async (url: string): Promise<number> => {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const sizes = [...metrics.matchAll(/^vl_data_size_bytes\{type="(?:storage|indexdb)"[^}]*\} (\S+)/gm)];
  return sizes.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
};

const run = async (form: 'embedded' | 'served'): Promise<void> => {
  const directory = savedDirectory === undefined ? scratch() : join(savedDirectory, form);
  mkdirSync(directory, { recursive: true });
  const dataDirectory = join(directory, 'data');
  // Both deployment forms are compared with the same records of VictoriaLogs.
  const peerDirectory = join(savedDirectory ?? directory, 'victoria');
  const isPeerFilled = existsSync(peerDirectory);
  const victoria = victoriaLogsPath === undefined ? undefined : await victoriaLogs(peerDirectory);
  const [port = 0] = await freePorts(1);
  const server =
    form === 'served'
      ? await startService('clickhouse', { port, directory: join(directory, 'clickhouse') })
      : undefined;
  const environment = { ...unlimited, ...(server === undefined ? {} : { OIQ_CLICKHOUSE_URL: server.url }) };
  const sent = new Set<Promise<void>>();
  const send = async (body: Buffer): Promise<void> => {
    if (sent.size >= 4) await Promise.race(sent);
    const one = sendTo(`${victoria?.url}/insert/opentelemetry/v1/logs`, body).finally(() => sent.delete(one));
    sent.add(one);
  };
  const about = await loadOrMake(`${form}-${rows}.json`, () =>
    filled(
      dataDirectory,
      environment,
      () =>
        server === undefined
          ? openChdbColumns({ directory: join(dataDirectory, 'columns') })
          : openClickhouseColumns({ urls: [server.url] }),
      victoria === undefined || isPeerFilled ? undefined : send,
    ),
  );
  await Promise.all(sent);
  const stored =
    victoria === undefined ? {} : { 'VictoriaLogs: bytes a log record': (await storedBytes(victoria.url)) / rows };
  console.log(`\n## ${form}\n\n${table([{ ...about, ...stored }])}`);
  const oiq = await startOiq({ dataDirectory, environment });
  await delay(5_000);
  const all: Target[] = [await asOiq('oiq', oiq, server === undefined ? [] : [server.pid])];
  if (victoria !== undefined)
    all.push({
      name: 'VictoriaLogs',
      pids: [victoria.peer.pid],
      headers: {},
      url: ({ logsql }) => logsql && `${victoria.url}/select/logsql/query?${logsql}`,
    });
  const questions = questionsOf({ fromMs: toMs - dayMs, toMs, requests: Math.ceil(rows / recordsPerRequest) });
  const found: Row[] = [];
  for (const question of questions) found.push(await compared(question, all));
  console.log(`\n${table(found)}`);
  const concurrent: Row[] = [];
  for (const question of questions.filter(({ isForMany }) => isForMany)) concurrent.push(await many(question, all));
  console.log(`\n${table(concurrent)}`);
  await oiq.stop();
  await server?.stop();
  await victoria?.peer.stop();
  if (savedDirectory === undefined) rmSync(directory, { recursive: true, force: true });
};

console.log(
  `${cpus().length} cores, ${cpus()[0]?.model}, load average ${loadavg()[0]?.toFixed(0)}, Node ${process.version}, ${new Date().toISOString().slice(0, 16)}, ${rows} log records, ${rows / 2} spans`,
);
const forms = process.argv.slice(2).length === 0 ? ['embedded', 'served'] : process.argv.slice(2);
for (const form of forms) await run(form as 'embedded' | 'served');
process.exit(0);
