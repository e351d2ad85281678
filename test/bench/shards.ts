/**
 * Two shards of ClickHouse compared with one server in one run: storing the same log records, reading them through the
 * management API from both shards, and growing from one server to two shards while reads and writes continue.
 * CPU-seconds of OIQ and of the servers, including merges.
 *
 *     node bin/node.mjs test/bench/shards.ts
 *
 * `BENCH_ROWS` log records on each side (20,000,000), `BENCH_ROUNDS` of alternating reads (9).
 */
import { mkdirSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { embeddedDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { type OiqProcess, signedIn, startOiq } from '../end-to-end/oiq-process.ts';
import { firstShards, startShards } from '../services/clickhouse-shards.ts';
import type { Instance } from '../services/services.ts';
import { cpuSeconds } from './process-cost.ts';
import { recordsPerRequest } from './reading-bodies.ts';
import { fill } from './reading-fill.ts';
import { questionsOf } from './reading-questions.ts';
import { type Row, table } from './report.ts';
import { scratch } from './scratch.ts';

const rows = Number(process.env['BENCH_ROWS'] ?? 20_000_000);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 9);
/** Both sides are filled alternately in pieces, so that other load on the machine affects both. */
const pieces = 4;
const dayMs = 24 * 3_600_000;
const toMs = Math.floor(Date.now() / 60_000) * 60_000;
const directory = scratch();
const cluster = firstShards(2);

/** One server or two, with an installation whose rows are stored there. */
interface Side {
  readonly name: string;
  readonly servers: readonly Instance[];
  readonly environment: Readonly<Record<string, string>>;
  readonly dataDirectory: string;
  readonly tenantId: string;
  readonly columns: Columns;
  cpu: number;
}

const serversCpu = (servers: readonly Instance[]): number => servers.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
const ownCpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const count = async (columns: Columns): Promise<number> =>
  Number((await columns.query<{ n: string }>('SELECT count() AS n FROM logs'))[0]?.n);

const sideOf = async (name: string, shards: readonly Instance[], isCluster: boolean): Promise<Side> => {
  const servers = isCluster ? shards : shards.slice(0, 1);
  const urls = servers.map(({ url }) => `${url}/oiq`);
  const dataDirectory = join(directory, name.replaceAll(' ', '-'));
  mkdirSync(dataDirectory);
  const environment = {
    ...withoutLimits,
    OIQ_API_REQUESTS_PER_SECOND: '1000000',
    OIQ_CLICKHOUSE_URL: urls.join(','),
    ...(isCluster && { OIQ_CLICKHOUSE_CLUSTER: cluster }),
  };
  await embeddedDeployment(dataDirectory);
  const first = await startOiq({ dataDirectory, environment });
  const { tenantId } = await signedIn(first.http);
  await first.stop();
  const columns = await openClickhouseColumns({ urls, cluster: isCluster ? cluster : undefined });
  return { name, servers, environment, dataDirectory, tenantId, columns, cpu: 0 };
};

/** Inserts alternate between shards, as for an organization with several partitions. */
const landPiece = async (side: Side, piece: number): Promise<void> => {
  const before = ownCpu() + serversCpu(side.servers);
  const fromMs = toMs - dayMs + (piece * dayMs) / pieces;
  await fill(side.columns, 'logs', {
    tenantId: side.tenantId,
    day: { records: rows / pieces, fromMs, toMs: fromMs + dayMs / pieces },
    partitionOf: (insert) => insert,
    name: `piece ${piece}`,
  });
  // Merges that start at once are part of the cost of storing.
  await delay(5_000);
  side.cpu += ownCpu() + serversCpu(side.servers) - before;
};

/** Waits for merges, which would count as a cost of concurrent queries, and produce parts that are not cached. */
const merged = async (...sides: readonly Side[]): Promise<void> => {
  for (let quiet = 0; quiet < 5; ) {
    await delay(1_000);
    const servers = sides.flatMap(({ columns }) => columns.listServers());
    const merging = await Promise.all(
      servers.map(({ columns }) => columns.query<{ n: string }>('SELECT count() AS n FROM system.merges')),
    );
    quiet = merging.every(([row]) => Number(row?.n) === 0) ? quiet + 1 : 0;
  }
};

const compared = (what: string, one: number, two: number, limit: number): Row => ({
  what,
  'one server': one,
  'two shards': two,
  share: two / one,
  'at most': limit,
});

const landing = async (one: Side, two: Side): Promise<Row> => {
  for (let piece = 0; piece < pieces; piece++) for (const side of [one, two]) await landPiece(side, piece);
  for (const { name, columns } of [one, two]) {
    const landed = await count(columns);
    if (landed !== rows) throw new Error(`${name} has ${landed} of ${rows} rows`);
  }
  return compared('landing, CPU-s per million', (one.cpu / rows) * 1e6, (two.cpu / rows) * 1e6, 1.1);
};

const measureQueries = async (one: Side, two: Side): Promise<Row[]> => {
  const processes = new Map<Side, { oiq: OiqProcess; token: string }>();
  for (const side of [one, two]) {
    const oiq = await startOiq({ dataDirectory: side.dataDirectory, environment: side.environment });
    processes.set(side, { oiq, token: (await signedIn(oiq.http)).token });
  }
  const query = async (side: Side, path: string): Promise<{ cpu: number; text: string }> => {
    const { oiq, token } = processes.get(side) ?? {};
    if (oiq === undefined) throw new Error('not started');
    const cpu = (): number => serversCpu(side.servers) + cpuSeconds(oiq.pid);
    const before = cpu();
    const headers = { authorization: `Bearer ${token}`, 'cache-control': 'no-cache' };
    const response = await fetch(`${oiq.http}${path}`, { headers });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
    return { cpu: cpu() - before, text };
  };
  await merged(one, two);
  const questions = questionsOf({ fromMs: toMs - dayMs, toMs, requests: Math.ceil(rows / recordsPerRequest) });
  const found: Row[] = [];
  for (const { name, path } of questions.filter((question) => question.path.startsWith('/api/logs'))) {
    const spent = new Map([one, two].map((side) => [side, 0]));
    for (let round = 0; round <= rounds; round++)
      for (const side of [one, two]) {
        const { cpu } = await query(side, path);
        // The first round warms up caches.
        if (round > 0) spent.set(side, (spent.get(side) ?? 0) + cpu);
      }
    const [ofOne = 0, ofTwo = 0] = spent.values();
    found.push(compared(`${name}, CPU-ms`, (ofOne / rounds) * 1_000, (ofTwo / rounds) * 1_000, 1.3));
    console.error(JSON.stringify(found.at(-1)));
  }
  for (const { oiq } of processes.values()) await oiq.stop();
  return found;
};

/** Adds a shard to the first server. Rows are counted before and after; meanwhile rows are inserted and counted. */
const growing = async (one: Side, shards: readonly Instance[]): Promise<Row> => {
  const before = await count(one.columns);
  const cpu = ownCpu() + serversCpu(shards);
  const grown = await openClickhouseColumns({ urls: shards.map(({ url }) => `${url}/oiq`), cluster });
  let target = one.columns;
  let ends = false;
  let [reads, fewer] = [0, 0];
  const reader = (async () => {
    for (let lowest = before; !ends; reads++) {
      const found = await count(target);
      if (found < lowest) fewer++;
      lowest = Math.max(lowest, found);
      await delay(50);
    }
  })();
  const day = { records: Math.min(rows, 200_000), fromMs: toMs - 3_600_000, toMs };
  const still = fill(one.columns, 'logs', { tenantId: one.tenantId, day, name: 'while it grows' });
  await migrate(grown, silentLog);
  target = grown;
  await still;
  await fill(grown, 'logs', {
    tenantId: one.tenantId,
    day,
    partitionOf: (insert) => insert,
    name: 'when it has grown',
  });
  ends = true;
  await reader;
  const after = await count(grown);
  const moved = ownCpu() + serversCpu(shards) - cpu;
  const landed = 2 * Math.ceil(day.records / recordsPerRequest) * recordsPerRequest;
  await grown.close();
  return {
    rows: before,
    'landed meanwhile': landed,
    'rows after': after,
    missing: before + landed - after,
    'reads meanwhile': reads,
    'of them with fewer rows than before': fewer,
    'CPU-s': moved,
  };
};

console.log(
  `${cpus().length} cores, ${cpus()[0]?.model}, load average ${loadavg()[0]?.toFixed(0)}, Node ${process.version}, ${new Date().toISOString().slice(0, 16)}, ${rows} log records`,
);
const [alone, pair] = [await startShards(2, join(directory, 'alone')), await startShards(2, join(directory, 'pair'))];
const one = await sideOf('one server', alone, false);
const two = await sideOf('two shards', pair, true);
console.log(`\n${table([await landing(one, two)])}`);
console.log(`\n${table(await measureQueries(one, two))}`);
console.log(`\n${table([await growing(one, alone)])}`);
for (const { columns } of [one, two]) await columns.close();
for (const server of [...alone, ...pair]) await server.stop();
process.exit(0);
