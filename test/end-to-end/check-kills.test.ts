/**
 * Roles are killed at every stage of processing checks, one after the other, while probes and jobs continue. Each
 * reported result and heartbeat is stored once, and states and uptime are those of the target.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { lookup } from 'node:dns';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { createHttpSource } from '../../probes/http-source.ts';
import { RateLimiter } from '../../probes/pace.ts';
import { startProbe } from '../../probes/probe.ts';
import { scheduleTopics } from '../../processors/index.ts';
import { createEgressPolicy } from '../../runtime/egress-policy.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { seeded } from '../cases/random.ts';
import { describePart, runSeed, selectPart } from '../parts.ts';
import { freePorts } from '../services/ports.ts';
import { eventually, stretched } from '../waiting.ts';
import { password, startHarness } from './api-harness.ts';
import type { Stage } from './dying-ports.ts';
import { nodeFlags } from './oiq-process.ts';

/** Each kill: role, stage, and the largest number of passes before it. Neighbours are of different roles. */
const deaths: readonly (readonly [role: string, stage: Stage, most: number])[] = [
  ['receivers', 'before it publishes', 8],
  ['api', 'after it published', 8],
  ['sinks', 'after an insert', 4],
  ['evaluators', 'between a save and what it publishes', 3],
  ['sinks', 'before an insert', 4],
  ['processors', 'before a save', 4],
  ['processors', 'between a save and what it publishes', 4],
  ['api', 'before it publishes', 8],
  ['processors', 'after it published', 4],
  ['receivers', 'after it published', 8],
  ['evaluators', 'before a save', 3],
  ['evaluators', 'after an answer', 3],
];
/** Coprime to five, because the suite itself runs in one of five runs. */
const parts = 4;
const everyMs = 10_000;
const checkCount = 3;
const environment = { OIQ_SECRET_KEY: 'k'.repeat(40) };
const program = fileURLToPath(new URL('dying-checks.ts', import.meta.url));

const directory = mkdtempSync(join(tmpdir(), 'oiq-check-kills-'));
const [port = 0, ingest = 0] = await freePorts(2);
const url = `http://127.0.0.1:${port}`;
let platform: ChildProcess | undefined;

/** The requests that the target answered, by run. */
const apiResponse = new Map<string, number>();
let isUp = true;
const target = createServer((request, response) => {
  const traceId = String(request.headers['traceparent']).split('-')[1] ?? '';
  response.writeHead(isUp ? 200 : 500).end(() => apiResponse.set(traceId, Date.now()));
});
await new Promise<void>((ready) => target.listen(0, '127.0.0.1', ready));
test.after.always(() => {
  platform?.kill('SIGKILL');
  target.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Creates locations, checks and a heartbeat job. */
const prepare = async () => {
  const harness = await startHarness({ environment, directory, runsJobs: false });
  await harness.bus.ensureTopics(scheduleTopics);
  const create = async (path: string, body: object) => {
    const response = await harness.request('POST', path, { body });
    if (response.status !== 200) throw new Error(JSON.stringify(response.body));
    return response.body;
  };
  const locations: { readonly id: string; readonly token: string }[] = [];
  for (const name of ['one', 'two', 'three']) locations.push(await create('/api/synthetics/locations', { name }));
  const steps = [{ url: `http://127.0.0.1:${(target.address() as AddressInfo).port}/` }];
  const fields = { type: 'http', every: '10s', timeout: '5s', retries: { count: 0 }, http: { steps } };
  const checks: string[] = [];
  for (let index = 0; index < checkCount; index++) {
    const check = { name: `check ${index}`, locations: locations.map(({ id }) => id), ...fields };
    checks.push((await create('/api/synthetics/checks', check)).id);
  }
  const job = await create('/api/synthetics/checks', { name: 'job', type: 'heartbeat', every: '1h', heartbeat: {} });
  await harness.close();
  return { locations, checks, job };
};

/** Starts the platform. Resolves when it runs. */
const start = async (...death: readonly (string | number)[]): Promise<ChildProcess> => {
  const child = spawn(process.execPath, [...nodeFlags, program, ...[directory, port, ingest, ...death].map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  platform = child;
  // It may exit before it prints anything.
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  return child;
};

/** Sends the runs of a job in order. Each is repeated until it is accepted. */
const work = (token: string) => {
  const acceptedRuns: string[] = [];
  let isOver = false;
  const report = async (id: string): Promise<void> => {
    for (;;) {
      const request = { method: 'POST', body: id, signal: AbortSignal.timeout(30_000) };
      const response = await fetch(`http://127.0.0.1:${ingest}/beats/${token}?rid=${id}`, request).catch(
        () => undefined,
      );
      if ((await response?.text().catch(() => undefined)) !== undefined && response?.status === 200) return;
      await pause(150);
    }
  };
  const done = (async () => {
    for (let run = 0; !isOver; run++) {
      await report(`run-${run}`);
      acceptedRuns.push(`run-${run}`);
      await pause(150);
    }
  })();
  return {
    acceptedRuns,
    stop(): Promise<void> {
      isOver = true;
      return done;
    },
  };
};

const signIn = async () => {
  const body = JSON.stringify({ email: 'owner@a.example', password });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/auth/login`, { method: 'POST', headers, body });
  const { token } = (await response.json()) as { token: string };
  return async (path: string) => {
    const got = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
    return (await got.json()) as any;
  };
};

interface Row {
  readonly id: string;
  readonly place: string;
  readonly due: string;
  readonly trace: string;
  readonly message: string;
}

/** Reads stored rows in a process without other parts of the platform. */
const landed = async () => {
  const columns = await openChdbColumns({ directory: join(directory, 'columns') });
  const runs = await columns.query<Row & Record<string, unknown>>(
    `SELECT check_id AS id, location AS place, toString(toUnixTimestamp64Milli(due)) AS due, trace_id AS trace, message AS message
    FROM synthetic_runs WHERE tenant_id = 'a' AND is_manual = 0`,
  );
  const states = await columns.query<{ id: string; place: string; state: string }>(
    `SELECT check_id AS id, location AS place, state FROM synthetic_states FINAL WHERE tenant_id = 'a' ORDER BY at`,
  );
  await columns.close();
  return { runs, states };
};

/** Asserts that each run is stored once: one per due time, and repetitions are equal. */
const assertRuns = (
  t: ExecutionContext,
  runs: readonly Row[],
  expected: { traces: readonly string[]; heartbeats: readonly string[] },
) => {
  const distinct = new Map(runs.map((run) => [`${run.id} ${run.place} ${run.due}`, run]));
  for (const run of runs) {
    const { trace, message } = distinct.get(`${run.id} ${run.place} ${run.due}`) ?? run;
    t.is(`${run.trace} ${run.message}`, `${trace} ${message}`, 'a due time has one run');
  }
  const counted = [...distinct.values()];
  const jobs = counted.filter(({ place }) => place === 'heartbeat').map(({ message }) => message);
  t.deepEqual(jobs.toSorted(), expected.heartbeats.toSorted(), 'each run of the job counts once');
  const traces = counted.filter(({ place }) => place !== 'heartbeat').map(({ trace }) => trace);
  t.is(new Set(traces).size, traces.length);
  const known = new Set(traces);
  t.deepEqual(
    expected.traces.filter((trace) => !known.has(trace)),
    [],
    'each run of a probe is stored',
  );
  for (const trace of known) t.true(apiResponse.has(trace), 'each counted run reached the target');
  return counted.length;
};

test('roles that die at every stage lose no probe results or heartbeats, and count nothing twice', async (t) => {
  t.timeout(900_000);
  const chosen = selectPart(deaths, parts);
  t.log(
    describePart(
      chosen.map(([role, stage]) => `${role} ${stage}`),
      deaths,
    ),
  );
  const random = seeded(runSeed);
  const { locations, checks, job } = await prepare();
  const egressPolicy = createEgressPolicy({
    allowedNetworks: ['127.0.0.0/8'],
    setting: 'OIQ_PROBE_NETWORKS',
    resolve: lookup,
  });
  const probes = locations.map(({ id, token }) =>
    startProbe({
      source: createHttpSource({ url, token, probe: id, onRejected: (reasons) => t.fail(reasons.join()) }),
      egressPolicy,
      pace: new RateLimiter(),
      log: silentLog,
      chromium: { program: '/none/chromium', hasSandbox: true },
    }),
  );
  const jobs = work(job.token);
  t.teardown(async () => {
    platform?.kill('SIGKILL');
    void jobs.stop();
    await Promise.all(probes.map((probe) => probe.stop()));
  });
  /** The downtime of the platform after each kill. */
  const awayMs: number[] = [];
  const replace = async (...death: readonly (string | number)[]): Promise<ChildProcess> => {
    const began = performance.now();
    const child = await start(...death);
    awayMs.push(performance.now() - began);
    return child;
  };
  let downMs = 0;
  for (const [index, [role, stage, maxPasses]] of chosen.entries()) {
    const dying = await replace(role, stage, 1 + random(maxPasses));
    // The outage must begin in its second life, which then observes it.
    if (index === 1) {
      isUp = false;
      downMs = Date.now();
    }
    if (dying.signalCode === null && dying.exitCode === null) await once(dying, 'exit');
    t.is(dying.signalCode, 'SIGKILL', `${role} ${stage}: it exited with ${dying.exitCode} instead`);
  }
  const child = await replace();
  const get = await signIn();
  const all = (state: string) =>
    eventually(`all are ${state}`, async () => {
      const { items } = await get('/api/synthetics/checks?type=http');
      return items.every((check: { state: string }) => check.state === state);
    });
  await all('down');
  isUp = true;
  const upMs = Date.now();
  await all('up');

  await Promise.all([jobs.stop(), ...probes.map((probe) => probe.stop())]);
  const runsOf = async (id: string): Promise<{ traceId: string; message: string }[]> => {
    const runs = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await get(
        `/api/synthetics/checks/${id}/runs?from=now-1h&limit=1000${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      runs.push(...page.items);
      cursor = page.nextCursor;
    }
    return runs;
  };
  const traces = [...apiResponse.keys()];
  await eventually('all runs are stored', async () => {
    const storedTraces = new Set((await Promise.all(checks.map(runsOf))).flat().map(({ traceId }) => traceId));
    return traces.every((trace) => storedTraces.has(trace));
  });
  await eventually('all heartbeats are stored', async () => {
    const storedMessages = new Set((await runsOf(job.id)).map(({ message }) => message));
    return jobs.acceptedRuns.every((run) => storedMessages.has(run));
  });
  const uptimes: { location: string | null; downMs: number }[] = [];
  for (const id of checks) uptimes.push(...(await get(`/api/synthetics/checks/${id}/uptime?from=now-1h`)).items);
  child.kill('SIGTERM');
  await once(child, 'exit');
  t.is(child.exitCode, 0);

  const { runs, states } = await landed();
  const count = assertRuns(t, runs, { traces, heartbeats: jobs.acceptedRuns });
  t.log(`${count} runs, ${runs.length - count} of them landed again; away for ${awayMs.map(Math.round)} ms`);
  for (const [of, changes] of Map.groupBy(states, ({ id, place }) => `${id} ${place}`))
    for (const [index, { state }] of changes.slice(1).entries())
      t.not(state, changes[index]?.state, `${of}: an unchanged state was published`);
  // One interval, and the downtimes between the start of the outage and its evaluation.
  const offMs = everyMs + awayMs.slice(2).reduce((sum, ms) => sum + ms, 0) + stretched(2000);
  for (const whole of uptimes.filter(({ location }) => location === null)) {
    const text = `it was down for ${upMs - downMs} ms, and uptime says ${whole.downMs}`;
    t.true(Math.abs(whole.downMs - (upMs - downMs)) <= offMs, text);
  }
});
