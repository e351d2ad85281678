/** Attention items of the overview: for each kind, one resource with a problem and one without. */
import test from 'ava';
import { text } from '../cases/sink-tables.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { landErrors } from './errors-landed.ts';
import { agentOf, flat, type Metric } from './infrastructure-senders.ts';
import { landedIn, type SentSpan } from './landed-spans.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs;
const GiB = 1024 ** 3;
let harness: Harness;

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
let spans = 0;
/** Requests of a service; some fail. */
const requests = (service: string, atMs: number, all: number, failed: number): SentSpan[] =>
  Array.from({ length: all }, (_, at) => {
    spans++;
    return {
      trace: hex(spans, 32),
      span: hex(spans, 16),
      service,
      name: 'GET /',
      kind: 2,
      duration: 1_000_000,
      start: BigInt(atMs + at) * 1_000_000n,
      status: at < failed ? 2 : 0,
    };
  });

/** Twenty requests per minute for some minutes; some are slow. */
const traffic = (
  service: string,
  [fromMs, minutes]: readonly [fromMs: number, minutes: number],
  { slow = 0, version }: { readonly slow?: number; readonly version?: string } = {},
): SentSpan[] =>
  Array.from({ length: minutes }, (_, minute) =>
    requests(service, fromMs + minute * minuteMs, 20, 0).map((span, at) => ({
      ...span,
      duration: at < slow ? 20_000_000 : 1_000_000 + at * 10_000,
      ...(version !== undefined && { resource: { 'service.version': version } }),
    })),
  ).flat();

const disk = (mountpoint: string, share: number, times: readonly number[]): Metric['points'] =>
  (
    [
      ['used', share],
      ['free', 1 - share],
    ] as const
  ).map(([state, part]) => ({
    labels: { device: `/dev/${mountpoint}`, mountpoint: `/${mountpoint}`, type: 'ext4', state },
    values: flat(times, part * 100 * GiB),
  }));

test.before(async () => {
  harness = await startHarness();
  const { columns } = harness;
  const now = nowMs - 10 * minuteMs;
  const before = nowMs - 90 * minuteMs;
  const { spans: land } = landedIn(harness);
  const body = { name: 'Burning', service: 'worse' };
  const { id } = (await harness.request('POST', '/api/slos', { as: 'editor', body })).body;
  const tcp = { host: 'shop.example', port: 443 };
  const check = (
    await harness.request('POST', '/api/synthetics/checks', { as: 'editor', body: { name: 'Shop', type: 'tcp', tcp } })
  ).body;
  // Two rules of one SLO fire now, one fired long ago, and one has no SLO. Their states have no labels.
  const other = { name: 'Other', condition: { kind: 'absence', query: { kind: 'promql', expression: 'up' } } };
  const { id: otherId } = (await harness.request('POST', '/api/alerts/rules', { as: 'editor', body: other })).body;
  for (const [rule, value, agoMs] of [
    ...([[`${id}-1`, 14.4, 0] as const, [`${id}-2`, 6.2, 0] as const, [`${id}-3`, 20, hourMs] as const] as const),
    ...([[otherId, 30, 0] as const, [check.id, 3, 0] as const, ['gone', 3, 0] as const] as const),
  ])
    await columns.execute(`INSERT INTO alert_states (tenant_id, rule_id, alert_id, evaluated_ms, last_seen, labels, state, value, reason)
      SELECT 'a', '${rule}', 'alert-${rule}', ${Date.now() - agoMs}, now64(3), map(), 'firing', ${value}, 'it is down'`);
  await land([
    ...[...requests('worse', before, 200, 2), ...requests('worse', now, 200, 40)],
    ...[...requests('as-before', before, 200, 20), ...requests('as-before', now, 200, 24)],
    ...[...requests('seldom', before, 20, 0), ...requests('seldom', now, 3, 3)],
    ...[...traffic('slower', [before, 15]), ...traffic('slower', [now - 15 * minuteMs, 15], { slow: 8 })],
    ...[...traffic('as-fast', [before, 15]), ...traffic('as-fast', [now - 15 * minuteMs, 15])],
    ...[...traffic('faster', [before, 15], { slow: 8 }), ...traffic('faster', [now - 15 * minuteMs, 15])],
    ...traffic('deployed', [now - 40 * minuteMs, 15], { version: '1.0.0' }),
    ...traffic('deployed', [now - 25 * minuteMs, 15], { version: '1.1.0', slow: 8 }),
    ...traffic('deployed-well', [now - 40 * minuteMs, 15], { version: '1.0.0' }),
    ...traffic('deployed-well', [now - 25 * minuteMs, 15], { version: '1.1.0' }),
  ]);
  const thrown = (type: string, atMs: number) => ({
    timeUnixNano: `${atMs}000000`,
    severityNumber: 17,
    body: { stringValue: 'failed' },
    attributes: [text('exception.type', type), text('exception.message', `no ${type}`)],
  });
  await landErrors(columns, [
    {
      attributes: { 'service.name': 'worse' },
      logs: [thrown('Known', before), thrown('Known', now), thrown('Fresh', now), thrown('Fresh', now + 1000)],
    },
  ]);
  const agent = agentOf(columns, 'a');
  const until = (ms: number) => Array.from({ length: 20 }, (_, at) => ms - (19 - at) * 30_000);
  for (const [host, lastMs, share] of [
    ['well', nowMs, 0.5],
    ['full', nowMs, 0.95],
    ['quiet', nowMs - 2 * hourMs, 0.5],
  ] as const)
    await agent.metrics({ 'host.name': host, 'host.id': `id-${host}` }, [
      {
        name: 'system.memory.usage',
        kind: 'amount',
        points: [{ labels: { state: 'used' }, values: flat(until(lastMs), GiB) }],
      },
      { name: 'system.filesystem.usage', kind: 'amount', points: disk('srv', share, until(lastMs)) },
    ]);
  await agentOf(columns, 'b').metrics({ 'host.name': 'canary-of-b', 'host.id': 'canary-of-b' }, [
    { name: 'system.filesystem.usage', kind: 'amount', points: disk('srv', 0.99, until(nowMs)) },
  ]);
  const dailyCounts = Array.from({ length: 8 }, (_, day) => [day, day === 0 ? 900 : 3] as const);
  for (const [id, pattern, counts] of [
    ['1', 'spikes', dailyCounts],
    ['2', 'steady', dailyCounts.map(([day]) => [day, 3] as const)],
  ] as const) {
    await columns.execute(
      `INSERT INTO log_patterns (tenant_id, service, structure, pattern_id, places, shard, template, parameters, first_seen, last_seen) SELECT 'a', 'worse', 1, '${id}', [1], 0, 'it ${pattern}', '[]', now64(3) - INTERVAL 9 DAY, now64(3)`,
    );
    for (const [day, count] of counts)
      await columns.execute(
        `INSERT INTO log_pattern_counts (tenant_id, project_id, minute, service, pattern_id, severity, count, topic, received_at, offset) SELECT 'a', 'shop', toDateTime(${(nowMs - 20 * minuteMs) / 1000 - day * 86_400}, 'UTC'), 'worse', '${id}', 'info', ${count}, 'log-pattern-counts', now64(3), ${day}`,
      );
  }
});
test.after.always(() => harness?.close());

const get = async (path: string, as: 'viewer' | `token ${string}` = 'viewer') => {
  const { status, body } = await harness.request('GET', path, { as });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};
const path = `/api/overview?attention=true&from=${nowMs - hourMs}&to=${nowMs}`;
interface Item {
  readonly kind: string;
  readonly name: string;
  readonly detail: string;
}

test('each problem has one item, and an unchanged state has none', async (t) => {
  const { attention } = await get(path);
  t.deepEqual(
    attention.items.map(({ kind, name }: Item) => [kind, name]),
    [
      ['service-errors', 'worse'],
      ['slow-service', 'slower'],
      ['deployment', 'deployed 1.1.0'],
      ['new-error', 'Fresh: no Fresh'],
      ['silent-host', 'quiet'],
      ['full-disk', 'id-full /srv'],
      ['log-pattern', 'it spikes'],
      ['slo-burning', 'Burning'],
      ['check-failing', 'Shop'],
    ],
  );
  t.deepEqual(attention.unknown, []);
});

test('a slowdown is reported with its size, and a deployment with its verdict', async (t) => {
  const { attention } = await get(path);
  const of = (kind: string) => attention.items.find((item: Item) => item.kind === kind);
  t.regex(
    of('slow-service').reason,
    /^40 % of 300 requests took longer than 95 % of those in the previous period; p95 2[01](\.\d)? ms, 1(\.\d+)? ms before$/,
  );
  t.is(of('slow-service').unit, '1');
  t.regex(of('deployment').reason, /slow requests worse.* \(deployed 20/);
  const { items } = await get(of('deployment').detail);
  t.deepEqual(
    items.map(({ version, verdict }: { version: string; verdict: string }) => [version, verdict]),
    [['1.1.0', 'worse']],
  );
});

test('each item has a query that returns results', async (t) => {
  const { attention } = await get(path);
  for (const { kind, detail } of attention.items as Item[]) {
    const body = await get(detail);
    if (kind === 'full-disk') t.is(body.items.length, 1);
    t.pass();
  }
});

test('signals that the plan lacks are reported as not checked, and no data of another organization is included', async (t) => {
  const { attention } = await get(path, `token ${await harness.signIn('viewer@b.example')}`);
  t.deepEqual(
    attention.unknown.map(({ kind }: Item) => kind),
    ['service-errors', 'slow-service', 'deployment', 'new-error'],
  );
  t.deepEqual(
    attention.items.map(({ name }: Item) => name),
    ['canary-of-b /srv'],
  );
});
