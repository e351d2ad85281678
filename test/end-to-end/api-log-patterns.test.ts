/** Counts of log patterns in panels, alert rules and detectors, including patterns that were merged meanwhile. */
import test from 'ava';
import { MinedLogs } from '../cases/mined-logs.ts';
import { landIn } from '../cases/sink-tables.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const minute = 60_000;
const endMs = Math.floor(Date.now() / minute) * minute - 2 * minute;
const fromMs = endMs - 10 * minute;
const times = { from: String(fromMs), to: String(endMs - 1) };
const counted = { kind: 'aggregate', signal: 'log-patterns', measures: [{ function: 'count' }] };

test.before(async () => {
  harness = await startHarness();
  const mined = (tenantId: string) =>
    new MinedLogs({ columns: harness.columns, land: landIn(harness.columns) }, 1, tenantId);
  const logs = mined('a');
  // Six logins of different people become one pattern.
  for (const [at, name] of ['ann', 'bob', 'cleo', 'dan', 'eve', 'fay'].entries())
    await logs.send([
      { service: 'cart', body: `Failed login of ${name}`, timeMs: fromMs + at * minute, severityNumber: 17 },
    ]);
  await logs.send(
    Array.from({ length: 120 }, (_, at) => ({
      service: 'shop',
      body: `served page ${at}`,
      timeMs: fromMs + 7 * minute + at * 1000,
    })),
  );
  await logs.idle(endMs + 2 * minute);
  const others = mined('b');
  await others.send([{ service: 'cart', body: 'Failed login of gus', timeMs: fromMs + minute }]);
  await others.idle(endMs + 2 * minute);
});
test.after.always(() => harness?.close());

const post = async (path: string, body: object) => {
  const response = await harness.request('POST', path, { as: 'editor', body });
  if (![200, 201].includes(response.status))
    throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
};

test('a panel shows each pattern per minute and in total', async (t) => {
  const place = { width: 12, height: 6 };
  const query = { ...counted, groupBy: ['template'] };
  const panels = [
    { id: 'all', place, visual: { kind: 'table' }, queries: [{ name: 'a', query, answers: 'table' }] },
    { id: 'steps', place, visual: { kind: 'time-series' }, queries: [{ name: 'a', query }] },
  ];
  const { id } = await post('/api/dashboards', { name: 'Patterns', panels });
  const { items } = await post(`/api/dashboards/${id}/query`, { ...times, step: '1m' });
  const [all, steps] = items.map(({ error, results }: { error: unknown; results: Record<string, unknown> }) => {
    t.is(error, null);
    return results['a'];
  });
  t.deepEqual(all.rows, [
    ['served page <number>', 120],
    ['Failed login of <*>', 6],
  ]);
  const values = Object.fromEntries(
    steps.series.map(({ labels, points }: { labels: { template: string }; points: [number, number][] }) => [
      labels.template,
      points.map(([, value]) => value),
    ]),
  );
  t.deepEqual(values, {
    'served page <number>': [0, 0, 0, 0, 0, 0, 0, 60, 60, 0],
    'Failed login of <*>': [1, 1, 1, 1, 1, 1, 0, 0, 0, 0],
  });
});

test('an alert rule counts a pattern by its ID', async (t) => {
  const condition = {
    kind: 'threshold',
    query: { ...counted, search: 'login', groupBy: ['service'] },
    window: '15m',
    thresholds: [{ severity: 'warning', operator: 'above', value: 3 }],
  };
  const { state, error, groups } = await post('/api/alerts/rules/preview', {
    name: 'Failed logins',
    condition,
    delay: '0s',
  });
  t.is(error, null);
  t.is(state, 'firing');
  t.like(groups[0], { labels: { service: 'cart' }, value: 6 });
});

test('a detector scores the counts of each pattern', async (t) => {
  const { series } = await post('/api/ai/detect', {
    query: { ...counted, groupBy: ['template'] },
    ...times,
    step: '1m',
  });
  t.deepEqual(
    series.map(({ labels, points }: { labels: { template: string }; points: unknown[] }) => [
      labels.template,
      points.length,
    ]),
    [
      ['served page <number>', 10],
      ['Failed login of <*>', 10],
    ],
  );
});

test('a pattern is not found for a service that never sent it', async (t) => {
  const { items } = (await harness.request('GET', `/api/logs/patterns?from=${times.from}&to=${times.to}`)).body;
  const { id } = items.find(({ template }: { template: string }) => template.startsWith('served'));
  const statusFor = async (service: string) =>
    (await harness.request('GET', `/api/logs/patterns/${id}?from=${times.from}&to=${times.to}&service=${service}`))
      .status;
  t.is(await statusFor('shop'), 200);
  t.is(await statusFor('cart'), 404);
  t.is(await statusFor('0'.repeat(512)), 404);
});
