/** From a heartbeat to state and uptime: HTTP to the ingest address, the log, the processor, sinks, and the API. */
import test from 'ava';
import { scheduleTopics, startProcessors } from '../../processors/index.ts';
import { startReceivers } from '../../receivers/index.ts';
import { startSinks } from '../../sinks/index.ts';
import { eventually } from '../waiting.ts';
import { startHarness } from './api-harness.ts';
import { portsOf } from './harness-ports.ts';

const environment = { OIQ_SECRET_KEY: 'k'.repeat(40) };
const harness = await startHarness({ environment });
const ports = portsOf(harness, {
  ...environment,
  OIQ_OTLP_HTTP_ADDRESS: '127.0.0.1:0',
  OIQ_OTLP_GRPC_ADDRESS: '127.0.0.1:0',
});
await harness.bus.ensureTopics(scheduleTopics);
const openProcessors = () => startProcessors({ ...ports, only: ['heartbeats', 'check-states'] });
let processors = await openProcessors();
const sinks = await startSinks({ ...ports, embedded: true, selectedNames: ['synthetic-runs', 'synthetic-states'] });
const receivers = await startReceivers(ports);
const ingest = `http://${receivers.addresses.OTLP_HTTP_ADDRESS}`;

test.after.always(async () => {
  await receivers.stop();
  await processors.stop();
  await sinks.stop();
  await harness.close();
});

const checks = '/api/synthetics/checks';
const request = (method: string, path: string, body?: object, as?: 'viewer' | `token ${string}`) =>
  harness.request(method, path, { ...(body && { body }), ...(as && { as }) });
const create = async (path: string, body: object) => {
  const response = await request('POST', path, body);
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body;
};
const read = async (path: string) => (await request('GET', path, undefined, 'viewer')).body;
const runsOf = async (id: string) => (await read(`${checks}/${id}/runs?limit=1000`)).items;
const stateIs = (id: string, state: string) =>
  eventually(`it is ${state}`, async () => (await read(`${checks}/${id}`)).state === state);
/** Sends a heartbeat until its token is known. */
const heartbeat = (token: string, path = '', body?: string) =>
  eventually('the heartbeat is accepted', async () => {
    const response = await fetch(`${ingest}/beats/${token}${path}`, body === undefined ? {} : { method: 'POST', body });
    return response.status === 200;
  });

test.serial('a job that sends heartbeats is up, down when it fails or stops sending, and up again', async (t) => {
  const { id, token, tokenPrefix, ...view } = await create(checks, {
    name: 'backup',
    type: 'heartbeat',
    every: '10s',
    heartbeat: { grace: '1s', maxRunDuration: '1m' },
  });
  t.true(token.startsWith(tokenPrefix) && token.startsWith('oiq_beat_'));
  t.deepEqual(view.locations, []);
  const shown = await read(`${checks}/${id}`);
  t.false(JSON.stringify(shown).includes(token));
  t.is(shown.tokenPrefix, tokenPrefix);
  t.is(shown.nextDueAt.length, 5);

  await heartbeat(token, '/start?rid=a');
  await heartbeat(token, '/0?rid=a', '12 files');
  await heartbeat(token, '/0?rid=a', '12 files');
  await stateIs(id, 'up');
  await heartbeat(token, '/3', 'disk full');
  await stateIs(id, 'down');
  await heartbeat(token);
  await stateIs(id, 'up');
  // No further heartbeat is sent.
  await stateIs(id, 'down');
  const runs = await runsOf(id);
  const late = runs.filter(
    (run: { message: string }) => run.message === 'no heartbeat arrived within 1s of the due time',
  );
  t.true(late.length > 0);
  const reportedRuns = runs.filter((run: { message: string }) => !run.message.startsWith('no heartbeat')).toReversed();
  t.deepEqual(
    reportedRuns.map((run: { outcome: string; message: string; location: string }) => [
      run.outcome,
      run.message,
      run.location,
    ]),
    [
      ['passed', '12 files', 'heartbeat'],
      ['failed', 'it ended with exit code 3: disk full', 'heartbeat'],
      ['passed', '', 'heartbeat'],
    ],
  );
  await heartbeat(token);
  await stateIs(id, 'up');
  const [uptime] = (await read(`${checks}/${id}/uptime?from=now-1h`)).items;
  t.true(uptime.upMs > 0 && uptime.downMs > 0 && uptime.unknownMs > 0, JSON.stringify(uptime));
  const [listed] = (await read(`${checks}?type=heartbeat`)).items;
  t.true(listed.uptime.day > 0 && listed.uptime.day < 1);
  t.true(listed.nextDueAt.every((time: string) => Date.parse(time) > Date.now() - 60_000));
});

test.serial('heartbeats sent while nothing consumed them count once, when they are consumed', async (t) => {
  const { id, token } = await create(checks, { name: 'import', type: 'heartbeat', every: '1h', heartbeat: {} });
  await heartbeat(token);
  await stateIs(id, 'up');
  await processors.stop();
  for (const run of ['a', 'b', 'a', 'c']) await heartbeat(token, `?rid=${run}`);
  t.is((await runsOf(id)).length, 1);
  processors = await openProcessors();
  await eventually('the heartbeats are processed', async () => (await runsOf(id)).length === 4);
  await heartbeat(token, '/fail');
  await stateIs(id, 'down');
  t.deepEqual(
    (await runsOf(id)).map((run: { outcome: string }) => run.outcome),
    ['failed', 'passed', 'passed', 'passed', 'passed'],
  );
});

test.serial(
  'a token ends when it is replaced and when its check is deleted, and belongs to one organization',
  async (t) => {
    const { id, token } = await create(checks, { name: 'mail', type: 'heartbeat', heartbeat: { cron: '*/5 * * * *' } });
    await heartbeat(token);
    const renewed = await create(`${checks}/${id}/token`, {});
    t.not(renewed.token, token);
    await heartbeat(renewed.token);
    const statusOf = async (which: string) => (await fetch(`${ingest}/beats/${which}`)).status;
    await eventually('the old token has ended', async () => (await statusOf(token)) === 404);
    const elsewhere = `token ${await harness.signIn('owner@b.example')}` as const;
    t.is((await request('POST', `${checks}/${id}/token`, {}, elsewhere)).status, 404);
    t.is((await request('POST', `${checks}/${id}/token`, {}, 'viewer')).status, 403);
    t.is((await request('POST', `${checks}/${id}/run`, {})).status, 409);
    t.is((await request('DELETE', `${checks}/${id}`)).status, 200);
    await eventually('the token has ended', async () => (await statusOf(renewed.token)) === 404);
  },
);

test.serial('a heartbeat check survives a YAML export and import, and errors have a path and line', async (t) => {
  const cron = { cron: '30 2 * * *', timeZone: 'Europe/Berlin', grace: '10m', maxRunDuration: '2h' };
  await create(checks, { name: 'nightly', type: 'heartbeat', labels: { as: 'code' }, heartbeat: cron });
  const { body: source } = await request('GET', '/api/synthetics/export?label=as=code', undefined, 'viewer');
  const [again] = (await create('/api/synthetics/import', { source })).items;
  t.is(again.outcome, 'unchanged', JSON.stringify([source, again]));
  const wrong = source.replace('30 2 * * *', '30 2 * *').replace('nightly', 'nightly 2');
  const [refused] = (await create('/api/synthetics/import', { source: wrong })).items;
  t.is(refused.outcome, 'refused');
  t.is(refused.problems[0].path, 'heartbeat.cron');
  t.is(wrong.split('\n')[refused.problems[0].line - 1].trim().slice(0, 5), 'cron:');
  const [created] = (await create('/api/synthetics/import', { source: source.replace('nightly', 'nightly 3') })).items;
  t.is(created.outcome, 'created');
  t.is((await read(`${checks}/${created.id}`)).tokenPrefix, null);
  await heartbeat((await create(`${checks}/${created.id}/token`, {})).token);
  const problems = await request('POST', checks, { name: 'x', type: 'heartbeat', heartbeat: { grace: '2m' } });
  t.is(problems.status, 400);
  t.is(problems.body.details[0].path, 'heartbeat.grace');
});
