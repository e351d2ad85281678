/** The list of services over stored OTLP, compared with SQL over the raw spans. */
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
});
test.after.always(() => harness?.close());

// The metric arrived now, so the range ends now.
const range = `from=${minute - 5 * minuteMs}`;
const get = async (path: string, as: 'viewer' | 'editor' = 'viewer') => {
  const { status, body } = await harness.request('GET', path, { as });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};

type Item = { readonly name: string; readonly figures: Given; readonly [other: string]: unknown };

for (const [title, query, condition] of [
  ['the organization', 'scope=account', '1'],
  ['a project', 'projectId=money', "project_id = 'money'"],
  [
    'an environment',
    'scope=account&environment=live',
    "resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = 'a' AND (attributes['deployment.environment'] = 'live' OR attributes['deployment.environment.name'] = 'live'))",
  ],
  [
    'minutes in between',
    `scope=account&to=${minute + 4 * minuteMs - 1}`,
    `timestamp < toDateTime64('${new Date(minute + 4 * minuteMs).toISOString().slice(0, 19)}', 9, 'UTC')`,
  ],
  ['a threshold that is asked for', 'scope=account&apdexThresholdMs=33', '1'],
] as const)
  test(`every figure of ${title} matches the raw spans`, async (t) => {
    const body = await get(`/api/services?${range}&${query}`);
    const items: Item[] = body.items.filter(({ figures }: Item) => 'requests' in figures);
    const hand = await byHand(harness.columns, `service != '' AND ${condition}`);
    t.deepEqual(
      items.map(({ name }) => name),
      hand.map(({ name }) => name),
    );
    t.deepEqual(
      items.flatMap(({ figures }, at) => wrongWith(figures, hand[at] as ByHand, secondsOf(body))),
      [],
    );
    t.deepEqual(body.partial, []);
  });

test('services that send only logs or metrics are listed, and their request figures are unknown', async (t) => {
  const { items } = await get(`/api/services?${range}&scope=account`);
  const sends = Object.fromEntries(items.map((item: Item) => [item.name, item['sends']]));
  t.deepEqual(sends['mute'], { logs: 7, spans: 0, metrics: false });
  t.deepEqual(sends['meter'], { logs: 0, spans: 0, metrics: true });
  t.deepEqual(sends['cart'], { logs: 7, spans: 500, metrics: false });
  for (const name of ['mute', 'meter'])
    t.deepEqual(items.find((item: Item) => item.name === name).figures as unknown, {
      value: null,
      reason: 'the service sent no spans in this range',
    });
});

test('a service lists its environments, versions, languages and runtimes in the requested project', async (t) => {
  const all = await get(`/api/services?${range}&scope=account&search=CAR`);
  t.is(all.items.length, 1);
  t.like(all.items[0], { environments: ['live', 'test'], languages: ['go'], runtimes: ['go 1.26'] });
  t.deepEqual([...all.items[0].versions].sort(), ['1.0', '1.1', '9']);
  const money = await get(`/api/services?${range}&projectId=money`);
  t.deepEqual(
    money.items.map(({ name, versions }: { name: string; versions: string[] }) => [name, versions.toSorted()]),
    [
      [odd, ['1', '2']],
      ['web', ['7']],
    ],
  );
});

test('lists are sorted by any figure in both directions, and pages contain each service once', async (t) => {
  const sorts = ['name', 'requests', 'errors', 'errorRate', 'p50', 'p95', 'p99', 'apdex', 'lastSeen'];
  for (const sort of sorts)
    for (const sign of ['', '-']) {
      const query = `scope=account&sort=${sign}${sort}`;
      const { items } = await get(`/api/services?${range}&${query}`);
      t.is(items.length, 5);
      const paged: Item[] = [];
      let cursor = '';
      do {
        const page = await get(`/api/services?${cursor === '' ? range : `cursor=${cursor}`}&${query}&limit=2`);
        paged.push(...page.items);
        cursor = page.nextCursor ?? '';
      } while (cursor !== '');
      t.deepEqual(
        paged.map(({ name }) => name),
        items.map(({ name }: Item) => name),
        query,
      );
      if (sort === 'name' || sort === 'lastSeen') continue;
      const values = items
        .slice(0, 3)
        .map(({ figures }: Item) =>
          sort in figures
            ? sort === 'apdex'
              ? figures.apdex.value
              : figures[sort as 'requests']
            : figures.duration[sort as 'p50'],
        );
      t.deepEqual(
        values,
        [...values].sort((one, other) => (sign === '' ? one - other : other - one)),
        query,
      );
    }
});

test('a scope is required, and a cursor of another list is refused', async (t) => {
  t.is((await harness.request('GET', '/api/services', { as: 'viewer' })).status, 400);
  t.is((await harness.request('GET', '/api/services?scope=account&cursor=bG9ncw', { as: 'viewer' })).status, 400);
});

test.serial(
  'Editors can set the Apdex threshold of the organization and of single services, with an audit record',
  async (t) => {
    const settings = { apdexThresholdMs: 80, services: [{ service: 'web', apdexThresholdMs: 2000 }] };
    t.deepEqual(await get('/api/service-settings'), { apdexThresholdMs: 500, services: [] });
    t.is((await harness.request('PUT', '/api/service-settings', { as: 'viewer', body: settings })).status, 403);
    t.is((await harness.request('PUT', '/api/service-settings', { as: 'editor', body: settings })).status, 200);
    const twice = { services: [...settings.services, ...settings.services] };
    t.is((await harness.request('PUT', '/api/service-settings', { as: 'editor', body: twice })).status, 400);
    t.deepEqual(await get('/api/service-settings'), settings);
    const { items } = await get(`/api/services?${range}&scope=account&limit=999`);
    const thresholds = Object.fromEntries(
      items.flatMap(({ name, figures }: Item) => ('apdex' in figures ? [[name, figures.apdex.thresholdMs]] : [])),
    );
    t.deepEqual(thresholds, { [odd]: 80, cart: 80, web: 2000 });
    const { body } = await harness.request('GET', '/api/audit?action=service-settings.update');
    t.is(body.items.length, 1);
  },
);

test('the trend of a service has the requests and errors of whole steps of the range', async (t) => {
  const path = `/api/services?scope=account&from=${minute - 5 * minuteMs}&to=${minute + 10 * minuteMs - 1}`;
  const { items } = await get(`${path}&trend=true`);
  t.true(items.length > 1);
  for (const { name, figures, trend } of items) {
    t.is(trend.stepMs, minuteMs, name);
    t.is(trend.from, minute - 5 * minuteMs, name);
    t.deepEqual([trend.requests.length, trend.errors.length, trend.p95.length], [15, 15, 15], name);
    const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
    t.deepEqual([sum(trend.requests), sum(trend.errors)], [figures.requests ?? 0, figures.errors ?? 0], name);
    t.deepEqual(
      trend.p95.map((value: number | null) => value === null),
      trend.requests.map((requests: number) => requests === 0),
      name,
    );
  }
  t.false((await get(path)).items.some((item: object) => 'trend' in item));
});
