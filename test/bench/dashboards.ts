/**
 * What the panels of a dashboard cost, by the CPU time of the process: 20 expressions in one question, as one answer and in lines, beside
 * one question for each, and the same question ten seconds later, as a screen on a wall asks all day.
 *
 *     node bin/node.mjs test/bench/dashboards.ts [series of each] [hours]
 *
 * 4 series over 1 hour where nothing is said; a sample every 15 seconds. `BENCH_ROUNDS` (5). The statements run in the process, so that its
 * CPU time has all of it. Each round asks other expressions than the one before, so that nothing of them is kept when it begins.
 */
import { deepStrictEqual } from 'node:assert';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type Harness, startHarness } from '../end-to-end/api-harness.ts';

const [seriesOfEach = 4, hours = 1] = process.argv.slice(2).map(Number);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const laterTimes = 5;
/** Series of each answer. */
const zones = 4;
const count = 20;
const rangeMs = hours * 3_600_000;
const intervalMs = 15_000;
const timesAtOnce = 20;
const startMs = Math.floor(Date.now() / 60_000) * 60_000 - rangeMs - 600_000;
const series = count * seriesOfEach;

/** Samples of all series from one time on and before another. */
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
  // As sinks do: other tables are not changed by it.
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
// Landing tells it; here rows are written by hand.
const recordWatermark = (atMs: number): void => harness.columns.recordWatermark('samples', new Map([['a', atMs]]));
await fill(harness);

interface Made {
  readonly id: string;
  readonly panels: readonly string[];
}

/** A dashboard whose expressions are those of no other. */
const create = async (mark: string): Promise<Made> => {
  const panels = Array.from({ length: count }, (_, at) => ({
    id: `p${at}`,
    visual: { kind: 'time-series' },
    queries: [{ name: 'A', query: { kind: 'promql', expression: `sum by (zone) (rate(m${at}[5m])) # ${mark}` } }],
  }));
  const { body } = await harness.request('POST', '/api/dashboards', { as: 'editor', body: { name: mark, panels } });
  return { id: body.id, panels: panels.map(({ id }) => id) };
};

/** Asks from another process, whose time does not count. */
const runPanels = async ({ id }: Made, endMs: number, only?: readonly string[]): Promise<unknown> => {
  const body = { from: String(endMs - rangeMs), to: String(endMs), maxPoints: 250, ...(only && { panels: only }) };
  client.send({ url: `${harness.url}/api/dashboards/${id}/query`, token, body: JSON.stringify(body), zones });
  const [{ error, digest }] = await once(client, 'message');
  if (error !== undefined) throw new Error(`a panel has no answer: ${error}`);
  return digest;
};

/** When the first panel came in lines, as a share of when the last did. */
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
  // What was kept changes nothing.
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
