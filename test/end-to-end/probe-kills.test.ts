/** Probes killed at any moment: sent results count once, only in-flight runs are lost, uptime matches the target. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { scheduleTopics, startProcessors } from '../../processors/index.ts';
import { startSinks } from '../../sinks/index.ts';
import { killRounds } from '../budget.ts';
import { seeded } from '../cases/random.ts';
import { runSeed } from '../parts.ts';
import { eventually, stretched } from '../waiting.ts';
import { startHarness } from './api-harness.ts';
import { portsOf } from './harness-ports.ts';
import { nodeFlags } from './oiq-process.ts';

/** Half of the rounds, because each start of a probe takes a second or two of CPU. */
const kills = Math.ceil(killRounds / 2);
const everyMs = 10_000;
const checkCount = 6;
const main = fileURLToPath(new URL('../../main.ts', import.meta.url));

const environment = { OIQ_SECRET_KEY: 'k'.repeat(40) };
const harness = await startHarness({ environment });
const ports = portsOf(harness, environment);
await harness.bus.ensureTopics(scheduleTopics);
const processors = await startProcessors({ ...ports, only: ['check-states'] });
const sinks = await startSinks({ ...ports, embedded: true, selectedNames: ['synthetic-runs', 'synthetic-states'] });

/** A request that the target answered: its run, location and process. */
interface Answered {
  readonly traceId: string;
  readonly location: string;
  readonly generation: number;
  readonly atMs: number;
}
const apiResponse: Answered[] = [];
/** The number of earlier processes of each location. */
const generations = new Map<string, number>();
let isUp = true;
const target = createServer((request, response) => {
  const location = String(request.headers['x-oiq-location']);
  const generation = generations.get(location) ?? 0;
  const traceId = String(request.headers['traceparent']).split('-')[1] ?? '';
  const status = isUp ? 200 : 500;
  setTimeout(() => {
    response.writeHead(status).end(() => apiResponse.push({ traceId, location, generation, atMs: Date.now() }));
  }, 100);
});
await new Promise<void>((ready) => target.listen(0, '127.0.0.1', ready));
const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;

const probes = new Map<string, ChildProcess>();
const kill = async (probe: ChildProcess): Promise<void> => {
  const ended = once(probe, 'exit');
  probe.kill('SIGKILL');
  await ended;
};
test.after.always(async () => {
  await Promise.all([...probes.values()].map(kill));
  target.close();
  await processors.stop();
  await sinks.stop();
  await harness.close();
});

const create = async (path: string, body: object) => {
  const response = await harness.request('POST', path, { body });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body;
};
const read = async (path: string) => (await harness.request('GET', path, { as: 'viewer' })).body;

const start = ({ id, token }: { readonly id: string; readonly token: string }): void => {
  const own = { OIQ_URL: harness.url, OIQ_PROBE_TOKEN: token, OIQ_PROBE_NETWORKS: '127.0.0.0/8' };
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('OIQ_'));
  const env = { ...Object.fromEntries(others), ...own };
  probes.set(id, spawn(process.execPath, [...nodeFlags, main, 'probe'], { env, stdio: 'ignore' }));
};

interface Landed {
  readonly traceId: string;
  readonly checkId: string;
  readonly location: string;
  readonly dueMs: number;
  readonly rows: number;
}

/** Counts distinct rows instead of merging them, so duplicates are visible. */
const landed = async (): Promise<readonly Landed[]> => {
  const rows = await harness.columns.query<Record<'trace' | 'check' | 'place' | 'due_ms' | 'rows', string>>(
    `SELECT check_id AS check, location AS place, toString(toUnixTimestamp64Milli(due)) AS due_ms,
      any(trace_id) AS trace, toString(uniqExact(trace_id)) AS rows
    FROM synthetic_runs WHERE tenant_id = 'a' AND is_manual = 0 GROUP BY check, place, due_ms`,
  );
  return rows.map(({ trace, check, place, due_ms, rows: count }) => ({
    traceId: trace,
    checkId: check,
    location: place,
    dueMs: Number(due_ms),
    rows: Number(count),
  }));
};

test('killed probes lose only in-flight runs, and uptime matches the state of the target', async (t) => {
  t.timeout(900_000);
  t.log(`TEST_SEED=${runSeed}`);
  const random = seeded(runSeed);
  const locations: { readonly id: string; readonly token: string }[] = [];
  for (const name of ['one', 'two', 'three']) locations.push(await create('/api/synthetics/locations', { name }));
  const fields = { type: 'http', every: '10s', timeout: '10s', retries: { count: 0 }, http: { steps: [{ url }] } };
  const ids: string[] = [];
  for (let index = 0; index < checkCount; index++) {
    const check = { name: `check ${index}`, locations: locations.map(({ id }) => id), ...fields };
    ids.push((await create('/api/synthetics/checks', check)).id);
  }
  for (const location of locations) start(location);
  const states = async (): Promise<string[]> =>
    (await read('/api/synthetics/checks')).items.map(({ state }: { state: string }) => state);
  const all = (state: string) =>
    eventually(`all are ${state}`, async () => (await states()).every((one) => one === state));
  await all('up');

  const killOne = async (round: number): Promise<void> => {
    const location = locations[round % locations.length];
    const probe = probes.get(location?.id ?? '');
    if (location === undefined || probe === undefined) throw new Error('there is no probe');
    const { id } = location;
    const before = apiResponse.filter((one) => one.location === id).length;
    const more = random(checkCount);
    await eventually('further runs', () => apiResponse.filter((one) => one.location === id).length >= before + more);
    await pause(random(150));
    await kill(probe);
    generations.set(id, (generations.get(id) ?? 0) + 1);
    start(location);
  };
  for (let round = 0; round < kills / 2; round++) await killOne(round);
  const downMs = Date.now();
  isUp = false;
  await all('down');
  for (let round = Math.ceil(kills / 2); round < kills; round++) await killOne(round);
  const upMs = Date.now();
  isUp = true;
  await all('up');

  // Everything answered until now by processes that still run gets stored.
  const untilMs = Date.now();
  const living = ({ location, generation, atMs }: Answered): boolean =>
    generation === (generations.get(location) ?? 0) && atMs <= untilMs;
  let rows: readonly Landed[] = [];
  await eventually('all results of running processes are stored', async () => {
    rows = await landed();
    const traces = new Set(rows.map(({ traceId }) => traceId));
    return apiResponse.filter(living).every(({ traceId }) => traces.has(traceId));
  });
  const byTrace = new Map(apiResponse.map((one) => [one.traceId, one]));
  for (const { traceId, rows: count } of rows) {
    t.is(count, 1, 'a due time has one run');
    t.true(byTrace.has(traceId), 'each counted run reached the target');
  }
  const traces = new Set(rows.map(({ traceId }) => traceId));
  const processes = Map.groupBy(apiResponse, ({ location, generation }) => `${location} ${generation}`);
  let lost = 0;
  for (const own of processes.values()) {
    const last = own.findLast(({ traceId }) => traces.has(traceId))?.atMs ?? 0;
    for (const { traceId, atMs } of own.filter((one) => !traces.has(one.traceId))) {
      lost++;
      // Results are sent in order: lost ones came after those that were sent.
      t.true(atMs > last - stretched(1000), `${traceId} was answered ${last - atMs} ms before another that was stored`);
    }
  }
  t.true(lost <= kills * checkCount, `${kills} kills lost ${lost} runs`);
  t.log(`${rows.length} runs, ${lost} lost in flight, by ${kills} kills`);

  for (const id of ids) {
    const { items } = await read(`/api/synthetics/checks/${id}/uptime?from=now-1h`);
    const whole = items.find(({ location }: { location: string | null }) => location === null);
    const off = Math.abs(whole.downMs - (upMs - downMs));
    t.true(off <= everyMs + stretched(2000), `it was down for ${upMs - downMs} ms, uptime has ${whole.downMs}`);
  }
});
