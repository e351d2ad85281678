/**
 * The cost of a dashboard in CPU time of the process: 20 expressions in one request, with one response or in lines,
 * compared with one request each, and the same request ten seconds later, as from a wall screen.
 *
 *     node bin/node.mjs test/bench/dashboards.ts [series of each] [hours]
 *
 * By default 4 series over 1 hour, with a sample every 15 seconds. `BENCH_ROUNDS` (5). Statements run in the process,
 * so its CPU time includes them. Each round uses new expressions, so that nothing is cached when it begins.
 */
import { deepStrictEqual } from 'node:assert';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type Harness, startHarness } from '../end-to-end/api-harness.ts';

const [seriesOfEach = 4, hours = 1] = process.argv.slice(2).map(Number);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const laterTimes = 5;
/** Series of each result. */
const zones = 4;
const count = 20;
const rangeMs = hours * 3_600_000;
const intervalMs = 15_000;
const timesAtOnce = 20;
const startMs = Math.floor(Date.now() / 60_000) * 60_000 - rangeMs - 600_000;
const series = count * seriesOfEach;

/** Inserts samples of all series of a time range. The end is exclusive. */
const land = async ({ columns }: Harness, fromMs: number, toMs: number): Promise<void> => {
  const times = Math.ceil((toMs - fromMs) / intervalMs);
  const at = `fromUnixTimestamp64Milli(toInt64(${fromMs} + ${intervalMs} * intDiv(number, ${series})), 'UTC')`;
  const rows = series * times;
  const bytes = await columns
    .forTenant('a')
    .queryNative(`SELECT {tenant:String} AS tenant_id, 'p1' AS project_id, ${at} AS received_at,
    concat('m', toString(number % ${count})) AS metric, toUInt64(number % ${series} + 1) AS series_id, ${at} AS timestamp,
    toFloat64((${fromMs} - ${startMs} + ${intervalMs} * intDiv(number, ${series})) / 1000 * (1 + number % ${series} / 7)) AS value FROM numbers(${rows})`);
  const time = "DateTime64(3, 'UTC')";
  const types = {
    tenant_id: 'String',
    project_id: 'String',
    received_at: time,
    metric: 'String',
    series_id: 'UInt64',
    timestamp: time,
    value: 'Float64',
  };
  const named = Object.entries(types).map(([name, type]) => ({ name, type }));
  // Inserts like a sink: other tables stay unchanged.
  await columns.insert({ table: 'samples', columns: named, rows, chunks: [bytes] }, `bench:0:${fromMs}-${toMs}`);
};

const fill = async (harness: Harness): Promise<void> => {
  const at = `fromUnixTimestamp64Milli(toInt64(${startMs + rangeMs + 600_000}), 'UTC')`;
  await harness.columns.execute(`INSERT INTO series (tenant_id, project_id, metric, series_id, kind, source, attributes, attribute_types, first_seen, last_seen)
    SELECT 'a', 'p1', concat('m', toString(number % ${count})), number + 1, 'counter', 'prometheus',
      map('instance', toString(intDiv(number, ${count})), 'zone', toString(intDiv(number, ${count}) % ${zones})), 'ss', ${at}, ${at} FROM numbers(${series})`);
  for (let fromMs = startMs - 600_000; fromMs < startMs + rangeMs; fromMs += intervalMs * timesAtOnce)
    await land(harness, fromMs, Math.min(startMs + rangeMs, fromMs + intervalMs * timesAtOnce));
};

interface Spent {
  readonly cpuMs: number;
  readonly ms: number;
}

const spent = async (work: () => Promise<unknown>): Promise<Spent> => {
  const started = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, ms: performance.now() - started };
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;

const harness = await startHarness({ checkResponses: false });
const client = fork(new URL('./dashboard-client.ts', import.meta.url));
const token = await harness.signIn('viewer@a.example');
// Sinks report the watermark. Here rows are inserted directly.
const recordWatermark = (atMs: number): void => harness.columns.recordWatermark('samples', new Map([['a', atMs]]));
await fill(harness);

interface Made {
  readonly id: string;
  readonly panels: readonly string[];
}

/** Creates a dashboard with expressions that no other dashboard has. */
const create = async (mark: string): Promise<Made> => {
  const panels = Array.from({ length: count }, (_, at) => ({
    id: `p${at}`,
    visual: { kind: 'time-series' },
    queries: [{ name: 'A', query: { kind: 'promql', expression: `sum by (zone) (rate(m${at}[5m])) # ${mark}` } }],
  }));
  const { body } = await harness.request('POST', '/api/dashboards', { as: 'editor', body: { name: mark, panels } });
  return { id: body.id, panels: panels.map(({ id }) => id) };
};

/** Sends requests from another process, whose time does not count. */
const runPanels = async ({ id }: Made, endMs: number, only?: readonly string[]): Promise<unknown> => {
  const body = { from: String(endMs - rangeMs), to: String(endMs), maxPoints: 250, ...(only && { panels: only }) };
  client.send({ url: `${harness.url}/api/dashboards/${id}/query`, token, body: JSON.stringify(body), zones });
  const [{ error, digest }] = await once(client, 'message');
  if (error !== undefined) throw new Error(`a panel has no answer: ${error}`);
  return digest;
};

/** The time of the first panel in a response in lines, as a share of the time of the last. */
const firstLine = async ({ id }: Made, endMs: number): Promise<number> => {
  const body = { from: String(endMs - rangeMs), to: String(endMs), maxPoints: 250 };
  client.send({
    url: `${harness.url}/api/dashboards/${id}/query`,
    token,
    body: JSON.stringify(body),
    zones,
    inLines: true,
  });
  const [{ error, lines }] = await once(client, 'message');
  if (error !== undefined) throw new Error(error);
  return lines[0] / lines[1];
};

const runSeparately = async (dashboard: Made, endMs: number): Promise<void> => {
  for (const panel of dashboard.panels) await runPanels(dashboard, endMs, [panel]);
};

let endMs = startMs + rangeMs;
recordWatermark(endMs);
await runPanels(await create('first'), endMs);
await runSeparately(await create('first, apart'), endMs);
const results: Record<'together' | 'lines' | 'apart' | 'later', Spent[]> = {
  together: [],
  lines: [],
  apart: [],
  later: [],
};
const shares: number[] = [];
const ways = {
  lines: async (dashboard: Made) => shares.push(await firstLine(dashboard, endMs)),
  apart: (dashboard: Made) => runSeparately(dashboard, endMs),
};
for (let round = 0; round < rounds; round++) {
  for (const name of round % 2 === 0 ? (['lines', 'apart'] as const) : (['apart', 'lines'] as const)) {
    const own = await create(`${name} ${round}`);
    results[name].push(await spent(() => ways[name](own)));
  }
  const dashboard = await create(`round ${round}`);
  results.together.push(await spent(() => runPanels(dashboard, endMs)));
  let response: unknown;
  for (let time = 0; time < laterTimes; time++) {
    const before = Math.floor(endMs / intervalMs);
    endMs += 10_000;
    if (Math.floor(endMs / intervalMs) > before)
      await land(harness, Math.floor(endMs / intervalMs) * intervalMs, endMs + 1);
    recordWatermark(endMs);
    results.later.push(
      await spent(async () => {
        response = await runPanels(dashboard, endMs);
      }),
    );
  }
  // Cached results equal computed ones.
  deepStrictEqual(response, await runPanels(await create(`again ${round}`), endMs));
}
const line = (name: string, all: readonly Spent[]): void =>
  console.log(
    `${name}: ${(median(all.map(({ cpuMs }) => cpuMs)) / count).toFixed(1)} CPU-ms of each expression, ${median(all.map(({ ms }) => ms)).toFixed(0)} ms for all`,
  );
line('one question for each', results.apart);
line('one question for all', results.together);
line('the same in lines', results.lines);
line('the same ten seconds later', results.later);
console.log(`the first panel in lines: after ${(100 * median(shares)).toFixed(0)} % of the time`);
client.kill();
await harness.close();
process.exit(0);
