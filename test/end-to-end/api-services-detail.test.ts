/** One service: parts, endpoints and series, compared with SQL over the raw spans. */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';
import {
  type ByHand,
  byHand,
  type Given,
  landServices,
  minute,
  minuteMs,
  odd,
  secondsOf,
  wrongWith,
} from './services-otlp.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness({ projects: ['money'] });
  await landServices(harness.columns);
  await harness.columns.execute(
    `INSERT INTO service_edges (tenant_id, project_id, server_project_id, received_at, minute, connection, client, client_kind, server, server_kind, requests) VALUES
      ('a', 'shop', 'shop', now64(3), toDateTime(${minute / 1000}), 'request', 'web', 'service', 'cart', 'service', 1),
      ('a', 'shop', 'shop', now64(3), toDateTime(${minute / 1000}), 'query', 'cart', 'service', 'db', 'database', 1),
      ('b', 'shop', 'shop', now64(3), toDateTime(${minute / 1000}), 'query', 'cart', 'service', 'canary-b', 'database', 1)`,
  );
});
test.after.always(() => harness?.close());

const range = `from=${minute - 5 * minuteMs}`;
const get = async (path: string) => {
  const { status, body } = await harness.request('GET', path, { as: 'viewer' });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};
const pathOf = (name: string): string => `/api/services/${encodeURIComponent(name)}`;

for (const name of ['cart', 'web', odd])
  test(`the figures of ${name} match those of its raw spans and of the list`, async (t) => {
    const body = await get(`${pathOf(name)}?${range}&scope=account`);
    const [hand] = await byHand(harness.columns, `service = '${name}'`);
    t.deepEqual(wrongWith(body.figures, hand as ByHand, secondsOf(body)), []);
    const { items } = await get(`/api/services?${range}&scope=account&to=${Date.parse(body.to) - 1}`);
    const listed = items.find((item: { name: string }) => item.name === name);
    t.deepEqual(listed.figures.duration, body.figures.duration);
    t.deepEqual(listed.sends, body.sends);
  });

test('a service has its instances, versions, runtimes and common attributes, and none of another organization', async (t) => {
  const body = await get(`${pathOf('cart')}?${range}&scope=account`);
  const counted = async (id: string) => {
    const [row] = await harness.columns.query<Record<string, number>>(
      `SELECT toFloat64(count()) AS spans, toFloat64(countIf(kind IN (2, 5) OR (kind <= 1 AND parent_span_id = toFixedString('', 8)))) AS requests,
        toFloat64(countIf(status_code = 2 AND (kind IN (2, 5) OR (kind <= 1 AND parent_span_id = toFixedString('', 8))))) AS errors
      FROM spans WHERE tenant_id = 'a' AND resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = 'a' AND attributes['service.instance.id'] = '${id}')`,
    );
    return row;
  };
  for (const [id, version, environment] of [
    ['cart-1', '1.0', 'live'],
    ['cart-2', '1.1', 'test'],
  ] as const) {
    const instance = body.instances.find((each: { id: string }) => each.id === id);
    t.like(instance, { version, environment, ...(await counted(id)) });
    t.like(
      body.versions.find((each: { version: string }) => each.version === version),
      { environments: [environment], instances: 1, spans: instance.spans, firstSeen: instance.firstSeen },
    );
  }
  t.is(body.instances.length, 3);
  t.deepEqual(body.environments, ['live', 'test']);
  t.deepEqual(body.runtimes, [{ language: 'go', name: 'go', version: '1.26' }]);
  t.deepEqual(body.attributes, { 'service.name': 'cart' });
  t.deepEqual(body.dependencies, { callers: 1, services: 0, databases: 1, queues: 0, external: 0 });
  t.false(JSON.stringify(body).includes('canary'));
  const live = await get(`${pathOf('cart')}?${range}&scope=account&environment=live`);
  t.deepEqual(
    live.instances.map(({ id }: { id: string }) => id),
    ['cart-1'],
  );
});

test('an instance that ran two versions is one instance, with its last and its previous version', async (t) => {
  const { instances, versions } = await get(`${pathOf(odd)}?${range}&scope=account`);
  const [last, first] = versions.map(({ version }: { version: string }) => version);
  t.deepEqual([last, first].toSorted(), ['1', '2']);
  t.is(instances.length, 1);
  t.like(instances[0], { id: 'odd-1', version: last, versions: [last, first], spans: 50 });
});

test('a service that the scope never had is not found, and a service that was silent in the range is found', async (t) => {
  for (const path of ['', '/timeseries', '/endpoints']) {
    const statusOf = async (name: string, query: string) =>
      (await harness.request('GET', `${pathOf(name)}${path}?${query}`, { as: 'viewer' })).status;
    t.is(await statusOf('nothing', `${range}&scope=account`), 404);
    t.is(await statusOf('canary-b', `${range}&scope=account`), 404);
    t.is(await statusOf('cart', `${range}&projectId=money`), 404);
    t.is(await statusOf('cart', range), 400);
    t.is(await statusOf('cart', `from=${minute - 60 * minuteMs}&to=${minute - 50 * minuteMs}&scope=account`), 200);
  }
  const silent = await get(
    `${pathOf('cart')}?from=${minute - 60 * minuteMs}&to=${minute - 50 * minuteMs}&scope=account`,
  );
  t.deepEqual(silent.lastSeen, { value: null, reason: 'the service sent nothing in this range' });
  t.is((await get(`${pathOf('meter')}?${range}&scope=account`)).sends.metrics, true);
});

test('endpoints have the figures of their raw spans, sorted and paged', async (t) => {
  const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
  const body = await get(`${pathOf('cart')}/endpoints?${range}&scope=account`);
  const hand = await byHand(
    harness.columns,
    "service = 'cart'",
    "concat(if(attributes['http.route'] = '', name, attributes['http.route']), ' ', toString(kind))",
  );
  const named = new Map(hand.map((each) => [each.name, each]));
  t.is(body.items.length, hand.length);
  const wrong = body.items.flatMap(({ name, kind, figures }: { name: string; kind: string; figures: Given }) =>
    wrongWith(figures, named.get(`${name} ${kinds.indexOf(kind)}`) as ByHand, secondsOf(body)),
  );
  t.deepEqual(wrong, []);
  for (const sort of ['name', 'requests', '-p95', '-apdex']) {
    const query = `scope=account&sort=${sort}`;
    const { items } = await get(`${pathOf('cart')}/endpoints?${range}&${query}`);
    const paged: unknown[] = [];
    let cursor = '';
    do {
      const page = await get(
        `${pathOf('cart')}/endpoints?${cursor === '' ? range : `cursor=${cursor}`}&${query}&limit=3`,
      );
      paged.push(...page.items);
      cursor = page.nextCursor ?? '';
    } while (cursor !== '');
    t.deepEqual(
      paged.map((item) => (item as { name: string; kind: string }).name),
      items.map(({ name }: { name: string }) => name),
    );
  }
});

interface Drawn {
  readonly name: string;
  readonly points: readonly (readonly [number, number | null])[];
}

test('each point of a series matches the raw spans of its step', async (t) => {
  for (const [query, condition] of [
    ['', '1'],
    [
      '&environment=live',
      "resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = 'a' AND attributes['deployment.environment.name'] = 'live')",
    ],
    ['&endpoint=/items/2', "attributes['http.route'] = '/items/2'"],
  ] as const) {
    const body = await get(
      `${pathOf('cart')}/timeseries?from=${minute}&to=${minute + 10 * minuteMs - 1}&step=4m&scope=account${query}`,
    );
    const hand = new Map(
      (
        await byHand(
          harness.columns,
          `service = 'cart' AND ${condition}`,
          'toString(intDiv(toUnixTimestamp(timestamp), 240) * 240000)',
        )
      ).map((each) => [each.name, each]),
    );
    const pointsOf = Object.fromEntries(
      body.series.map(({ name, points }: Drawn) => [name, new Map(points)]),
    ) as Record<string, Map<number, number | null>>;
    t.deepEqual(Object.keys(pointsOf), ['requests', 'rate', 'errors', 'errorRate', 'p50', 'p95', 'p99', 'apdex']);
    const figure = (name: string, at: number): number | null => pointsOf[name]?.get(at) ?? null;
    for (const at of pointsOf['requests']?.keys() ?? []) {
      const { requests = 0, errors = 0, p95: exact = 0 } = hand.get(String(at)) ?? {};
      const seconds = (Math.min(at + 240_000, minute + 10 * minuteMs) - Math.max(at, minute)) / 1000;
      const drawn = ['requests', 'errors', 'rate', 'errorRate'].map((name) => figure(name, at));
      t.deepEqual(drawn, [requests, errors, requests / seconds, requests === 0 ? null : errors / requests]);
      const p95 = figure('p95', at);
      t.is(p95 === null, requests === 0);
      t.true(Math.abs((p95 ?? 0) - exact) <= 0.044 * exact);
    }
    t.is(
      [...hand.values()].reduce((sum, { requests }) => sum + requests, 0),
      [...(pointsOf['requests']?.values() ?? [])].reduce<number>((sum, each) => sum + (each ?? 0), 0),
    );
  }
  const query = `${pathOf('cart')}/timeseries?${range}&scope=account`;
  t.is((await harness.request('GET', `${query}&step=90s`, { as: 'viewer' })).status, 400);
  t.is((await harness.request('GET', `${query}&environment=live&endpoint=x`, { as: 'viewer' })).status, 400);
});
