/** From a target to state and uptime: real probes over the API, real sinks, and the evaluation schedule. */
import { lookup } from 'node:dns';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { createPublisher } from '../../api/event-publisher.ts';
import { openLocalWork } from '../../api/index.ts';
import { createHttpSource } from '../../probes/http-source.ts';
import { startLocalProbes } from '../../probes/local.ts';
import { RateLimiter } from '../../probes/pace.ts';
import { startProbe } from '../../probes/probe.ts';
import { scheduleTopics, startProcessors } from '../../processors/index.ts';
import { checkStates } from '../../processors/synthetics/check-states.ts';
import { createEgressPolicy } from '../../runtime/egress-policy.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import type { ProbeResult } from '../../schemas/synthetic-work.ts';
import { topics } from '../../schemas/topics.ts';
import { startSinks } from '../../sinks/index.ts';
import { findLastDueMs } from '../../subjects/synthetics/due-times.ts';
import { eventually } from '../waiting.ts';
import { startHarness } from './api-harness.ts';
import { portsOf } from './harness-ports.ts';

const environment = { OIQ_SECRET_KEY: 'k'.repeat(40) };
const harness = await startHarness({ environment });
const elsewhere = { as: `token ${await harness.signIn('owner@b.example')}` } as const;
const ports = portsOf(harness, environment);
await harness.bus.ensureTopics(scheduleTopics);
const processors = await startProcessors({ ...ports, only: ['check-states', 'alert-evaluation', 'run-telemetry'] });
const sinks = await startSinks({
  ...ports,
  embedded: true,
  selectedNames: [
    ...['logs', 'metrics', 'traces'],
    'synthetic-runs',
    'synthetic-states',
    'synthetic-verdicts',
    'alert-transitions',
    'alert-evaluations',
    'events',
  ],
});
const egressPolicy = createEgressPolicy({
  allowedNetworks: ['127.0.0.0/8'],
  setting: 'OIQ_PROBE_NETWORKS',
  resolve: lookup,
});

let isUp = true;
let targetRequests = 0;
const target = createServer((_, response) => {
  targetRequests++;
  response.writeHead(isUp ? 200 : 500).end();
});
await new Promise<void>((ready) => target.listen(0, '127.0.0.1', ready));
const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;

const stops: (() => Promise<unknown>)[] = [];
test.after.always(async () => {
  for (const stop of stops) await stop();
  target.close();
  await processors.stop();
  await sinks.stop();
  await harness.close();
});

const checks = '/api/synthetics/checks';
const create = async (path: string, body: object, options = {}) => {
  const response = await harness.request('POST', path, { body, ...options });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body;
};
const read = async (path: string) => (await harness.request('GET', path, { as: 'viewer' })).body;

const checkAt = (name: string, locations: readonly string[]) => ({
  name,
  type: 'http',
  every: '10s',
  timeout: '5s',
  retries: { count: 0 },
  locations,
  http: { steps: [{ url }] },
});
const refused: string[] = [];
const probeOf = (token: string, probe: string) =>
  startProbe({
    source: createHttpSource({ url: harness.url, token, probe, onRejected: (reasons) => refused.push(...reasons) }),
    egressPolicy,
    pace: new RateLimiter(),
    log: silentLog,
    chromium: { program: '/none/chromium', hasSandbox: true },
    pollMs: 300,
  });

test.serial('an unsaved check can be tested at the location local before there is any check', async (t) => {
  const role = startLocalProbes(await openLocalWork(ports), {
    egressPolicy,
    chromium: { program: '/none/chromium', hasSandbox: true },
    log: silentLog,
  });
  const { items } = await create('/api/synthetics/try', { check: checkAt('first', ['local']) }, elsewhere);
  t.is(items[0].run?.outcome, 'passed', items[0].reason);
  await role.stop();
});

test.serial(
  'a failing target is down, and up again when it responds; manual runs do not count towards uptime',
  async (t) => {
    const { id: location, token } = await create('/api/synthetics/locations', { name: 'Frankfurt' });
    const { id } = await create(checks, checkAt('shop', [location]));
    const none = await create(`${checks}/${id}/run`, {});
    t.is(none.items[0].run, null);
    t.regex(none.items[0].reason, /no probe of this location has reported/);

    const probes = [probeOf(token, 'p1'), probeOf(token, 'p2')];
    stops.push(...probes.map((probe) => () => probe.stop()));
    const stateIs = (state: string) =>
      eventually(`it is ${state}`, async () => (await read(`${checks}/${id}`)).state === state);
    await stateIs('up');
    await eventually('its runs are telemetry', async () => {
      const [found] = await harness.columns.query<{ spans: number; points: number }>(
        `SELECT toUInt32((SELECT count() FROM spans WHERE tenant_id = 'a' AND service = 'synthetics' AND name = 'shop')) AS spans,
          toUInt32((SELECT count() FROM samples WHERE tenant_id = 'a' AND metric = 'httpcheck.duration')) AS points`,
      );
      return (found?.spans ?? 0) > 0 && (found?.points ?? 0) > 0;
    });
    const probeLocation = (await read('/api/synthetics/locations')).items.find(
      (one: { id: string }) => one.id === location,
    );
    t.not(probeLocation.lastSeenAt, null);
    const browser = probeLocation.unsupportedTypes.find(({ type }: { type: string }) => type === 'browser');
    t.deepEqual(browser, { type: 'browser', reason: 'Chromium was not found at /none/chromium' });
    isUp = false;
    await stateIs('down');
    type Alert = { labels: Record<string, string>; severity: string; reason: string };
    const alertsOf = async (state: string): Promise<Alert[]> =>
      (await read(`/api/alerts?state=${state}`)).items.filter((one: Alert) => one.labels['check_id'] === id);
    await eventually('it is alerted', async () => (await alertsOf('firing')).length === 1);
    const [alert] = await alertsOf('firing');
    t.is(alert?.severity, 'critical');
    t.regex(
      alert?.reason ?? '',
      /^it has been down since .* UTC: its location fails – Frankfurt: status is 500, expected: lt 400$/,
    );
    t.is((await harness.request('DELETE', `/api/alerts/rules/${id}`)).status, 409);
    const manual = await create(`${checks}/${id}/run`, {});
    t.is(manual.items[0].run.outcome, 'failed');
    t.true(manual.items[0].run.isManual);
    t.is(manual.items[0].run.message, 'status is 500, expected: lt 400');
    const tried = await create('/api/synthetics/try', { check: checkAt('not saved', [location]) });
    t.is(tried.items[0].run.outcome, 'failed');
    isUp = true;
    t.is(
      (await create('/api/synthetics/try', { check: checkAt('not saved', [location]) })).items[0].run.outcome,
      'passed',
    );
    t.deepEqual((await read(`${checks}?search=not`)).items, []);
    const unknown = await harness.request('POST', '/api/synthetics/try', {
      body: { check: checkAt('x', ['nowhere']) },
    });
    t.deepEqual(
      unknown.body.details.map(({ path }: { path: string }) => path),
      ['check.locations.0'],
    );
    await stateIs('up');
    await eventually('the alert ends', async () => (await alertsOf('firing')).length === 0);
    const titles = (await read('/api/events?kinds=check')).items.map(({ title }: { title: string }) => title);
    t.deepEqual(titles, ['shop is up', 'shop is down']);

    const requestCount = targetRequests;
    // Two requests were test runs, and one may belong to a run in progress. Other results are stored a little later.
    await eventually(`the ${requestCount} requests are those of runs`, async () => {
      const { items } = await read(`${checks}/${id}/runs?limit=1000`);
      return requestCount <= items.length + 3;
    });
    const { items } = await read(`${checks}/${id}/runs?limit=1000`);
    const scheduled = items.filter((run: { isManual: boolean }) => !run.isManual);
    // Two probes share the check: each due time is run once.
    t.is(new Set(scheduled.map((run: { dueAt: string }) => run.dueAt)).size, scheduled.length);
    t.is(items.length - scheduled.length, 1);
    const first = await read(`${checks}/${id}/runs?limit=1`);
    const second = await read(`${checks}/${id}/runs?limit=1&cursor=${first.nextCursor}`);
    t.deepEqual([...first.items, ...second.items], items.slice(0, 2));

    const uptime = (await read(`${checks}/${id}/uptime?from=now-1h`)).items;
    t.deepEqual(
      uptime.map((one: { location: string | null }) => one.location),
      [null, location],
    );
    for (const one of uptime) {
      t.true(one.upMs > 0 && one.downMs > 0 && one.unknownMs > 0, JSON.stringify(one));
      t.is(one.uptime, one.upMs / (one.upMs + one.downMs));
    }
    const months = (await read(`${checks}/${id}/uptime?from=now-60d&period=month&timeZone=Europe/Zurich`)).items;
    const total = (of: { upMs: number; downMs: number; unknownMs: number }[]) =>
      of.reduce((sum, one) => sum + one.upMs + one.downMs + one.unknownMs, 0);
    t.true(
      Math.abs(total(months.filter((one: { location: null }) => one.location === null)) - 60 * 86_400_000) < 60_000,
    );
    const listed = (await read(checks)).items.find((one: { id: string }) => one.id === id);
    t.true(listed.uptime.day > 0 && listed.uptime.day < 1);
    t.deepEqual(refused, []);
    t.is((await harness.request('PATCH', `${checks}/${id}`, { body: { alerting: { enabled: false } } })).status, 200);
    t.false((await read(`/api/alerts/rules/${id}`)).enabled);
    await harness.request('DELETE', `${checks}/${id}`);
    t.is((await harness.request('GET', `/api/alerts/rules/${id}`)).status, 404);
    for (const path of ['runs', 'uptime'])
      t.is((await harness.request('GET', `${checks}/${id}/${path}`, elsewhere)).status, 404);
    t.is((await harness.request('POST', `${checks}/${id}/run`, { ...elsewhere, body: {} })).status, 404);
    const foreign = { ...elsewhere, body: { check: checkAt('x', [location]) } };
    t.is((await harness.request('POST', '/api/synthetics/try', foreign)).status, 400);
    const [{ tries } = {}] = await harness.columns.query<{ tries: number }>(
      "SELECT toUInt32(count()) AS tries FROM spans WHERE service = 'synthetics' AND name = 'not saved'",
    );
    t.is(tries, 0, 'nothing is stored of an unsaved check');
  },
);

test.serial('results are accepted only for assigned runs, and a repetition counts once', async (t) => {
  const { id: location, token } = await create('/api/synthetics/locations', { name: 'Zurich' });
  const other = await create('/api/synthetics/locations', { name: 'Paris' });
  const check = { id: (await create(checks, checkAt('assigned', [location]))).id, every: '10s' };
  const foreign = await create(checks, checkAt('foreign', ['local']), elsewhere);
  // The first due time after the check was created.
  const dueMs = findLastDueMs(check, location, Date.now()) + 10_000;
  await eventually('the run is due', () => Date.now() >= dueMs);
  const result: ProbeResult = {
    checkId: check.id,
    dueMs,
    startedAtMs: dueMs + 5,
    outcome: 'failed',
    attempts: 1,
    durationMs: 3,
    phases: { wait: 3 },
    steps: [],
    message: 'first',
    traceId: 'a'.repeat(32),
  };
  const send = (results: object[], key = token) =>
    harness.request('POST', '/api/synthetics/probe/results', {
      as: 'nobody',
      body: { results },
      headers: { authorization: `Bearer ${key}` },
    });
  t.deepEqual((await send([result])).body, { accepted: 1, refused: [] });
  await eventually('the run is stored', async () => (await read(`${checks}/${check.id}/runs`)).items.length === 1);
  t.is((await send([{ ...result, outcome: 'passed', message: 'again' }])).body.accepted, 1);
  const reasons = async (change: object, key = token) =>
    (await send([{ ...result, ...change }], key)).body.refused[0]?.reason;
  t.regex(await reasons({ dueMs: dueMs + 1 }), /not due at this location/);
  t.regex(await reasons({ dueMs: dueMs + 60_000, startedAtMs: dueMs + 60_000 }), /in the future/);
  t.regex(await reasons({ dueMs: dueMs - 7_200_000, startedAtMs: dueMs - 7_200_000 }), /more than one hour ago/);
  t.regex(await reasons({ startedAtMs: dueMs + 3_000_000 }), /did not start/);
  t.regex(await reasons({ dueMs: dueMs - 20_000, startedAtMs: dueMs - 20_000 }), /before the check was created/);
  t.regex(await reasons({ checkId: foreign.id }), /no check of this location/);
  t.regex(await reasons({}, other.token), /no check of this location/);
  t.regex(await reasons({ requestId: 'nothing' }), /not requested/);

  const later = findLastDueMs(check, location, Date.now() - 10_000);
  if (later !== dueMs) await send([{ ...result, dueMs: later, startedAtMs: later }]);
  await eventually('repeated results are merged', async () => {
    const { items } = await read(`${checks}/${check.id}/runs`);
    return items.every((run: { message: string }) => run.message === 'first');
  });
  t.is((await harness.request('GET', checks, { as: `token ${token}` })).status, 401);
  for (const path of ['work', 'results']) {
    const unauthorized = {
      as: 'nobody',
      body: { probe: 'p', results: [] },
      headers: { authorization: 'Bearer wrong' },
    } as const;
    t.true([400, 401].includes((await harness.request('POST', `/api/synthetics/probe/${path}`, unauthorized)).status));
  }
  t.is((await harness.request('DELETE', `/api/synthetics/locations/${location}?force=true`)).status, 200);
  t.is((await send([])).status, 401);
});

test.serial(
  'a failure at one location triggers immediate runs at the others, off the schedule, and these runs count',
  async (t) => {
    const [here, there, silent] = await Promise.all(
      ['Bern', 'Lyon', 'Rome'].map((name) => create('/api/synthetics/locations', { name })),
    );
    const locations = [here.id, there.id, silent.id];
    const every = '1d';
    const { id } = await create(checks, { ...checkAt('agreed', locations), every });
    const alarm = (token: string, dueMs: number) =>
      harness.request('POST', '/api/synthetics/probe/results', {
        as: 'nobody',
        body: { results: [], alarms: [{ checkId: id, dueMs }] },
        headers: { authorization: `Bearer ${token}` },
      });
    const requestedRuns = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const body = { probe: 'looks' };
      return (await harness.request('POST', '/api/synthetics/probe/work', { as: 'nobody', body, headers })).body
        .requestedRuns;
    };
    const dueMs = findLastDueMs({ id, every }, here.id, Date.now());
    t.is((await alarm(here.token, dueMs + 1)).status, 200);
    t.deepEqual(await requestedRuns(silent.token), [], 'a run off the schedule requests no confirmation');
    await alarm(here.token, dueMs);
    await alarm(there.token, findLastDueMs({ id, every }, there.id, Date.now()));
    t.is((await requestedRuns(silent.token)).length, 1, 'once per interval, whichever location reports');
    t.deepEqual(await requestedRuns(here.token), [], 'the reporting location gets no request');
    isUp = false;
    const probe = probeOf(there.token, 'lyon');
    const runs = async () => (await read(`${checks}/${id}/runs`)).items;
    await eventually('the run at the other location', async () => (await runs()).length > 0);
    await probe.stop();
    isUp = true;
    const [run] = await runs();
    t.is(run.location, there.id);
    t.is(run.outcome, 'failed');
    t.false(run.isManual);
  },
);

test.serial(
  'the state of a check while nothing evaluated it is computed from the runs that probes stored, and an outage is reported',
  async (t) => {
    const { id: location } = await create('/api/synthetics/locations', { name: 'Turin' });
    const { id } = await create(checks, { ...checkAt('missed', [location]), every: '1m' });
    const document = await harness.documents.forTenant('a').collection(syntheticChecks).find(id);
    if (document === undefined) throw new Error('the check is not there');
    const fromMs = findLastDueMs({ id, every: '1m' }, location, Date.now() - 1_800_000);
    const outcomes = ['passed', 'passed', 'failed', 'failed', 'passed', 'passed'] as const;
    const results = outcomes.map((outcome, at) => ({
      checkId: id,
      dueMs: fromMs + at * 60_000,
      startedAtMs: fromMs + at * 60_000 + 7,
      outcome,
      attempts: 1,
      durationMs: 1,
      phases: {},
      steps: [],
      message: '',
      traceId: 'b'.repeat(32),
    }));
    // A probe could not send these, because they are older than the check.
    const publisher = createPublisher(ports.bus, topics.syntheticRuns);
    const from = { tenantId: 'a', projectId: '', location, acceptedMs: Date.now(), isManual: false };
    const of = { checkName: 'missed', checkType: 'http', labels: {} };
    await publisher.publish(...results.map((result) => ({ ...from, ...of, ...result })));
    await publisher.close();
    const runs = async () => (await read(`${checks}/${id}/runs`)).items.length;
    await eventually('the runs are stored', async () => (await runs()) === outcomes.length);

    const up = { '': { state: 'up', atMs: 1 }, [location]: { state: 'up', atMs: 1 } } as const;
    const emitted = { states: [] as { location: string }[], verdicts: [] as { state: string; says: string }[] };
    const titles: string[] = [];
    const emit = {
      states: (value: unknown) => void emitted.states.push(value as { location: string }),
      verdicts: (value: unknown) => void emitted.verdicts.push(value as { state: string; says: string }),
      events: (value: unknown) => void titles.push((value as { title: string }).title),
    };
    const run = async (dueMs: number, state: object) => {
      for (const list of [emitted.states, emitted.verdicts, titles]) list.length = 0;
      const signal = AbortSignal.timeout(60_000);
      return (await checkStates.run(document, {
        tenantId: 'a',
        dueMs,
        canWait: false,
        state,
        emit,
        signal,
        ports,
      })) as {
        readonly reviewed?: object;
      };
    };
    const initialState = { alone: {}, told: { atMs: 0, text: '' }, read: {}, recent: [] };
    const endMs = fromMs + 310_000;
    const after = await run(endMs, { ...initialState, states: up, judgedMs: fromMs + 30_000 });
    for (const place of ['', location])
      t.deepEqual(
        emitted.states.filter((one) => one.location === place) as object[],
        [
          { state: 'down', atMs: fromMs + 120_007 },
          { state: 'up', atMs: fromMs + 240_007 },
        ].map((change) => ({ tenantId: 'a', checkId: id, location: place, ...change })),
      );
    t.deepEqual(titles, ['missed is down', 'missed is up']);
    t.like(emitted.verdicts[0], { state: 'down' });
    t.regex(emitted.verdicts[0]?.says ?? '', /^it was down from .* UTC to .* UTC; its results arrived after that$/);
    const next = await run(endMs + 5000, after);
    t.deepEqual([emitted.states, emitted.verdicts, titles], [[], [], []]);
    await run(endMs + 35_000, next);
    t.like(emitted.verdicts[0], { state: 'up' });
    // Results may have been stored in another order since.
    t.not(next.reviewed, undefined);
    const later = await run(endMs + 700_000, { ...next, judgedMs: endMs + 695_000 });
    t.is(later.reviewed, undefined);
    const { upgrade } = checkStates.state;
    const gap = { fromMs: fromMs + 30_000, toMs: endMs, before: up, after: up };
    t.like(upgrade?.({ ...initialState, judgedMs: endMs, gap }, 3), { judgedMs: gap.fromMs, recent: [], read: {} });
  },
);

test.serial('a check whose results are all late is down, alerts, and its uptime counts', async (t) => {
  const { id: location, token } = await create('/api/synthetics/locations', { name: 'Genoa' });
  const { id } = await create(checks, checkAt('late', [location]));
  const headers = { authorization: `Bearer ${token}` };
  const lateMs = 45_000;
  let lastDueMs = 0;
  const sending = setInterval(() => {
    const dueMs = findLastDueMs({ id, every: '10s' }, location, Date.now() - lateMs);
    if (dueMs === lastDueMs) return;
    lastDueMs = dueMs;
    const result = { checkId: id, dueMs, startedAtMs: dueMs + 5, outcome: 'failed', attempts: 1, durationMs: 3 };
    const results = [{ ...result, phases: {}, steps: [], message: 'broken', traceId: 'c'.repeat(32) }];
    void harness.request('POST', '/api/synthetics/probe/results', { as: 'nobody', body: { results }, headers });
  }, 500);
  t.teardown(() => clearInterval(sending));
  const uptime = async () => (await read(`${checks}/${id}/uptime?from=now-1h`)).items[0];
  await eventually('it is down', async () => (await read(`${checks}/${id}`)).state === 'down');
  await eventually('it is down for some intervals', async () => (await uptime()).downMs > 45_000);
  t.is((await uptime()).uptime, 0);
  t.is((await read(`${checks}/${id}`)).state, 'down');
  await eventually('it is alerted', async () =>
    (await read('/api/alerts?state=firing')).items.some(
      ({ labels, reason }: { labels: Record<string, string>; reason: string }) =>
        labels['check_id'] === id && reason.endsWith('; its results arrive late'),
    ),
  );
  const titles = (await read('/api/events?kinds=check')).items.map(({ title }: { title: string }) => title);
  t.is(titles.filter((title: string) => title.startsWith('late is ')).join(), 'late is down');
});

test.serial('an outage whose results are stored while nothing reads them is alerted afterwards', async (t) => {
  const { id: location, token } = await create('/api/synthetics/locations', { name: 'Pisa' });
  const { id } = await create(checks, checkAt('lagged', [location]));
  const headers = { authorization: `Bearer ${token}` };
  const send = (outcomes: string, endMs: number) => {
    const results = [...outcomes].map((outcome, index) => {
      const dueMs = findLastDueMs({ id, every: '10s' }, location, endMs) - (outcomes.length - 1 - index) * 10_000;
      const result = { checkId: id, dueMs, startedAtMs: dueMs + 5, attempts: 1, durationMs: 3, phases: {}, steps: [] };
      return { ...result, outcome: outcome === 'p' ? 'passed' : 'failed', message: '', traceId: 'd'.repeat(32) };
    });
    return harness.request('POST', '/api/synthetics/probe/results', { as: 'nobody', body: { results }, headers });
  };
  await eventually('a result of the check is accepted', async () => (await send('p', Date.now())).body.accepted === 1);
  const startMs = Date.now();
  await eventually('it is up', async () => (await read(`${checks}/${id}`)).state === 'up');
  await eventually('its results are old', () => Date.now() > startMs + 75_000);
  t.is((await send('ffffpp', Date.now())).body.accepted, 6);
  type Alert = { labels: Record<string, string>; reason: string };
  await eventually('it is alerted', async () =>
    (await read('/api/alerts?state=firing')).items.some(
      ({ labels, reason }: Alert) => labels['check_id'] === id && reason.startsWith('it was down from '),
    ),
  );
  t.is((await read(`${checks}/${id}`)).state, 'up');
  const [whole] = (await read(`${checks}/${id}/uptime?from=now-1h`)).items;
  t.true(whole.downMs >= 40_000, JSON.stringify(whole));
  await eventually('the alert ends', async () =>
    (await read('/api/alerts?state=firing')).items.every(({ labels }: Alert) => labels['check_id'] !== id),
  );
});

test.serial('the location local runs checks of each organization, next to the stores', async (t) => {
  const { id } = await create(checks, checkAt('local', ['local']));
  const role = startLocalProbes(await openLocalWork(ports), {
    egressPolicy,
    chromium: { program: '/none/chromium', hasSandbox: true },
    log: silentLog,
  });
  stops.push(() => role.stop());
  await eventually('it is up', async () => (await read(`${checks}/${id}`)).state === 'up');
  t.is((await read(`${checks}/${id}/runs`)).items[0].location, 'local');
});

test.serial('work contains only the secrets that its checks use', async (t) => {
  const { id: location, token } = await create('/api/synthetics/locations', { name: 'Oslo' });
  for (const name of ['used', 'unused'])
    await harness.request('PUT', `/api/synthetics/variables/${name}`, {
      body: { value: `value of ${name}`, isSecret: true, hosts: ['127.0.0.1'] },
    });
  const check = checkAt('secretive', [location]);
  await create(checks, { ...check, http: { steps: [{ url, headers: { 'x-key': '{{variables.used}}' } }] } });
  const poll = async (probe: string, digest?: string) =>
    (
      await harness.request('POST', '/api/synthetics/probe/work', {
        as: 'nobody',
        body: { probe, digest },
        headers: { authorization: `Bearer ${token}` },
      })
    ).body;
  const work = await poll('p1');
  t.deepEqual(work.checks[0].variables, { used: { value: 'value of used', hosts: ['127.0.0.1'] } });
  t.false(JSON.stringify(work).includes('value of unused'));
  t.is((await poll('p1', work.digest)).checks, null);
  const shared = [await poll('p2'), await poll('p1')].map(({ checks: own }) => own.length);
  t.is(shared[0] + shared[1], 1);
});
