/** The inventory of services over OTLP that landed, against SQL over the raw spans. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { randomOf } from '../cases/random.ts';
import { text } from '../cases/sink-tables.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { landOtlp, resourceOf } from './land-otlp.ts';

let harness: Harness;
const minuteMs = 60_000;
/** The beginning of a minute that is over. */
const minute = (Math.floor(Date.now() / minuteMs) - 20) * minuteMs;

const random = randomOf(5);

interface Instance {
  readonly service: string;
  readonly id: string;
  readonly version: string;
  readonly environment: string;
  readonly tenantId?: string;
  readonly projectId?: string;
  readonly spans: number;
}

const odd = 'a/b ü%?#';
const instances: readonly Instance[] = [
  { service: 'cart', id: 'cart-1', version: '1.0', environment: 'live', spans: 300 },
  { service: 'cart', id: 'cart-2', version: '1.1', environment: 'test', spans: 200 },
  { service: 'web', id: 'web-1', version: '7', environment: 'live', spans: 150 },
  { service: 'web', id: 'web-1', version: '7', environment: 'live', projectId: 'money', spans: 50 },
  { service: odd, id: 'odd-1', version: '1', environment: 'live', projectId: 'money', spans: 40 },
  { service: 'canary-b', id: 'canary-b', version: 'canary-b', environment: 'canary-b', tenantId: 'b', spans: 20 },
  { service: 'cart', id: 'canary-b', version: 'canary-b', environment: 'canary-b', tenantId: 'b', spans: 20 },
];

const spanOf = (number: number) => {
  const startMs = minute + Math.floor(random() * 10 * minuteMs);
  const durationNs = Math.floor(1e6 * 10 ** (random() * 4));
  const isRoot = random() < 0.3;
  return {
    traceId: randomBytes(16),
    spanId: randomBytes(8),
    ...(isRoot ? {} : { parentSpanId: randomBytes(8) }),
    name: `call ${number % 3}`,
    kind: number % 6,
    startTimeUnixNano: `${startMs}000000`,
    endTimeUnixNano: String(BigInt(startMs) * 1_000_000n + BigInt(durationNs)),
    ...(random() < 0.2 ? { status: { code: 2 } } : {}),
    attributes: number % 2 === 0 ? [text('http.route', `/items/${number % 4}`)] : [],
  };
};

test.before(async () => {
  harness = await startHarness();
  for (const { service, id, version, environment, tenantId = 'a', projectId = 'shop', spans } of instances) {
    const resource = resourceOf({
      'service.name': service,
      'service.instance.id': id,
      'service.version': version,
      [service === 'web' ? 'deployment.environment' : 'deployment.environment.name']: environment,
      'telemetry.sdk.language': 'go',
      'process.runtime.name': 'go',
      'process.runtime.version': '1.26',
    });
    const request = {
      resourceSpans: [{ resource, scopeSpans: [{ spans: Array.from({ length: spans }, (_, at) => spanOf(at)) }] }],
    };
    await landOtlp(harness.columns, { tenantId, projectId, signal: 'traces', request });
  }
  const logRecords = Array.from({ length: 7 }, (_, at) => ({
    timeUnixNano: `${minute + at}000000`,
    severityNumber: 9,
    body: { stringValue: 'x' },
  }));
  for (const service of ['mute', 'cart'])
    await landOtlp(harness.columns, {
      signal: 'logs',
      request: {
        resourceLogs: [
          { resource: resourceOf({ 'service.name': service, 'service.version': '9' }), scopeLogs: [{ logRecords }] },
        ],
      },
    });
  const gauge = { dataPoints: [{ timeUnixNano: `${minute}000000`, asDouble: 1 }] };
  await landOtlp(harness.columns, {
    signal: 'metrics',
    request: {
      resourceMetrics: [
        { resource: resourceOf({ 'service.name': 'meter' }), scopeMetrics: [{ metrics: [{ name: 'm', gauge }] }] },
      ],
    },
  });
});
test.after.always(() => harness?.close());

// The metric came now: the range reaches up to it.
const range = `from=${minute - 5 * minuteMs}`;
const ask = async (path: string, as: 'viewer' | 'editor' = 'viewer') => {
  const { status, body } = await harness.ask('GET', path, { as });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};

/** Figures by hand, over raw spans of organization `a`. */
const byHand = async (condition: string, group = 'service') => {
  const isRequest = "(kind = 2 OR kind = 5 OR (kind <= 1 AND parent_span_id = toFixedString('', 8)))";
  const exact = (share: number): string => `arraySort(groupArray(duration))[toUInt64(ceil(${share} * count()))]`;
  const rows = await harness.columns.query<Record<string, string | number>>(
    `SELECT ${group} AS name, toFloat64(count()) AS requests, toFloat64(countIf(status_code = 2)) AS errors, avg(duration) AS mean, toFloat64(max(duration)) AS max,
      toFloat64(${exact(0.5)}) AS p50, toFloat64(${exact(0.95)}) AS p95, toFloat64(${exact(0.99)}) AS p99, groupArray(toString(duration)) AS durations, groupArray(status_code) AS codes
    FROM spans WHERE tenant_id = 'a' AND ${isRequest} AND ${condition} GROUP BY name ORDER BY name`,
  );
  return rows as unknown as {
    readonly name: string;
    readonly requests: number;
    readonly errors: number;
    readonly mean: number;
    readonly max: number;
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
    readonly durations: readonly string[];
    readonly codes: readonly number[];
  }[];
};
type ByHand = Awaited<ReturnType<typeof byHand>>[number];

interface Given {
  readonly requests: number;
  readonly errors: number;
  readonly ratePerSecond: number;
  readonly errorRate: number;
  readonly duration: {
    readonly mean: number;
    readonly max: number;
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
  };
  readonly apdex: {
    readonly value: number;
    readonly countedThresholdMs: number;
    readonly thresholdMs: number;
    readonly satisfied: number;
    readonly tolerated: number;
    readonly frustrated: number;
  };
}

/** What is wrong with figures, beside those by hand. */
const wrongWith = (given: Given, hand: ByHand, seconds: number): string[] => {
  const wrong: string[] = [];
  const near = (name: string, value: number, expected: number, share: number): void => {
    if (!(Math.abs(value - expected) <= share * expected))
      wrong.push(`${hand.name} ${name}: ${value}, and it is ${expected}`);
  };
  near('requests', given.requests, hand.requests, 0);
  near('errors', given.errors, hand.errors, 0);
  near('rate', given.ratePerSecond, hand.requests / seconds, 1e-9);
  near('error rate', given.errorRate, hand.errors / hand.requests, 1e-9);
  near('mean', given.duration.mean, hand.mean, 1e-9);
  near('max', given.duration.max, hand.max, 0);
  for (const name of ['p50', 'p95', 'p99'] as const) near(name, given.duration[name], hand[name], 0.044);
  const { countedThresholdMs, thresholdMs, ...apdex } = given.apdex;
  near('threshold', countedThresholdMs, thresholdMs, 0.0443);
  const shorter = (ms: number): number =>
    hand.durations.filter((duration, at) => hand.codes[at] !== 2 && Number(duration) + 1 < ms * 1e6 + 1).length;
  const satisfied = shorter(countedThresholdMs);
  const tolerated = shorter(4 * countedThresholdMs) - satisfied;
  near('satisfied', apdex.satisfied, satisfied, 0);
  near('tolerated', apdex.tolerated, tolerated, 0);
  near('frustrated', apdex.frustrated, hand.requests - satisfied - tolerated, 0);
  near('apdex', apdex.value, (satisfied + tolerated / 2) / hand.requests, 1e-9);
  return wrong;
};
const secondsOf = ({ from, to }: { from: string; to: string }): number => (Date.parse(to) - Date.parse(from)) / 1000;
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
  test(`every figure of ${title} is what the raw spans give`, async (t) => {
    const body = await ask(`/api/services?${range}&${query}`);
    const items: Item[] = body.items.filter(({ figures }: Item) => 'requests' in figures);
    const hand = await byHand(`service != '' AND ${condition}`);
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

test('services that send only logs or metrics are there, and their requests are unknown', async (t) => {
  const { items } = await ask(`/api/services?${range}&scope=account`);
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

test('a service says its environments, versions, languages and runtimes, of the project that is asked for', async (t) => {
  const all = await ask(`/api/services?${range}&scope=account&search=CAR`);
  t.is(all.items.length, 1);
  t.like(all.items[0], { environments: ['live', 'test'], languages: ['go'], runtimes: ['go 1.26'] });
  t.deepEqual([...all.items[0].versions].sort(), ['1.0', '1.1', '9']);
  const money = await ask(`/api/services?${range}&projectId=money`);
  t.deepEqual(
    money.items.map(({ name, versions }: { name: string; versions: string[] }) => [name, versions]),
    [
      [odd, ['1']],
      ['web', ['7']],
    ],
  );
});

test('lists are sorted by any figure both ways, and pages give each service once', async (t) => {
  const sorts = ['name', 'requests', 'errors', 'errorRate', 'p50', 'p95', 'p99', 'apdex', 'lastSeen'];
  for (const sort of sorts)
    for (const direction of ['ascending', 'descending']) {
      const query = `scope=account&sort=${sort}&direction=${direction}`;
      const { items } = await ask(`/api/services?${range}&${query}`);
      t.is(items.length, 5);
      const paged: Item[] = [];
      let cursor = '';
      do {
        const page = await ask(`/api/services?${cursor === '' ? range : `cursor=${cursor}`}&${query}&limit=2`);
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
        [...values].sort((one, other) => (direction === 'ascending' ? one - other : other - one)),
        query,
      );
    }
});

test('a scope must be stated, and a cursor of another list is refused', async (t) => {
  t.is((await harness.ask('GET', '/api/services', { as: 'viewer' })).status, 400);
  t.is((await harness.ask('GET', '/api/services?scope=account&cursor=bG9ncw', { as: 'viewer' })).status, 400);
});

test.serial(
  'the threshold of the Apdex is a setting of the organization and of single services, by Editors, with an audit record',
  async (t) => {
    const settings = { apdexThresholdMs: 80, services: [{ service: 'web', apdexThresholdMs: 2000 }] };
    t.deepEqual(await ask('/api/service-settings'), { apdexThresholdMs: 500, services: [] });
    t.is((await harness.ask('PUT', '/api/service-settings', { as: 'viewer', body: settings })).status, 403);
    t.is((await harness.ask('PUT', '/api/service-settings', { as: 'editor', body: settings })).status, 200);
    const twice = { services: [...settings.services, ...settings.services] };
    t.is((await harness.ask('PUT', '/api/service-settings', { as: 'editor', body: twice })).status, 400);
    t.deepEqual(await ask('/api/service-settings'), settings);
    const { items } = await ask(`/api/services?${range}&scope=account&limit=999`);
    const thresholds = Object.fromEntries(
      items.flatMap(({ name, figures }: Item) => ('apdex' in figures ? [[name, figures.apdex.thresholdMs]] : [])),
    );
    t.deepEqual(thresholds, { [odd]: 80, cart: 80, web: 2000 });
    const { body } = await harness.ask('GET', '/api/audit?action=service-settings.update');
    t.is(body.items.length, 1);
  },
);
