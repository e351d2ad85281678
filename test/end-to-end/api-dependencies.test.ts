/** Dependencies and the service map over stored rows. */
import test from 'ava';
import { getDurationBucket } from '../../schemas/tables/durations.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const minuteMs = 60_000;
/** The start of a minute that has ended. */
const minute = (Math.floor(Date.now() / minuteMs) - 10) * minuteMs;

interface RowFields {
  readonly client: string;
  readonly server: string;
  readonly tenant?: string;
  readonly project?: string;
  readonly serverProject?: string;
  readonly at?: number;
  readonly connection?: string;
  readonly clientKind?: string;
  readonly serverKind?: string;
  readonly environment?: string;
  readonly system?: string;
  readonly address?: string;
  readonly via?: string;
  readonly errors?: number;
  readonly requests?: number;
  readonly durations?: readonly number[];
  readonly unpaired?: string;
}

const rowOf = ({ durations = [], requests = durations.length, project = 'shop', ...row }: RowFields): string => {
  const buckets = durations.map((duration) => getDurationBucket(duration));
  const counts = [...new Set(buckets)].map(
    (bucket) => `${bucket}, ${buckets.filter((each) => each === bucket).length}`,
  );
  const texts = [
    ...[row.tenant ?? 'a', project, row.serverProject ?? project, row.connection ?? 'request', row.client],
    ...[row.clientKind ?? 'service', row.environment ?? '', row.server, row.serverKind ?? 'service'],
    ...[row.system ?? '', row.address ?? '', row.via ?? ''],
  ].map((text) => `'${text}'`);
  const sum = durations.reduce((total, each) => total + each, 0);
  const numbers = [requests, row.errors ?? 0, durations.length, sum, Math.max(0, ...durations)];
  const unpaired = row.unpaired === undefined ? 'map()' : `map('${row.unpaired}', ${requests})`;
  return `(now64(3), toDateTime(${(row.at ?? minute) / 1000}), ${[...texts, ...numbers].join(', ')}, map(${counts.join(', ')}), ${unpaired})`;
};

const durations = Array.from({ length: 200 }, (_, index) => Math.round(1e6 * 1.03 ** index));

const rows: readonly RowFields[] = [
  { client: 'web', server: 'cart', durations: durations.slice(0, 100), errors: 4, environment: 'live' },
  { client: 'web', server: 'cart', durations: durations.slice(100), errors: 1, at: minute + minuteMs },
  { client: 'web', server: 'cart', durations: [1], at: minute - 5 * 60 * minuteMs },
  { client: 'web', server: 'cart', durations: [1], tenant: 'b' },
  { client: 'web', server: 'billing', serverProject: 'money', durations: [5] },
  { client: 'billing', server: 'bank', project: 'money', serverKind: 'external', durations: [7], unpaired: 'expired' },
  {
    client: 'cart',
    server: 'shop',
    serverKind: 'database',
    connection: 'query',
    system: 'mysql',
    address: 'm1:3306',
    durations: [3],
  },
  {
    client: 'cart',
    server: 'shop',
    serverKind: 'database',
    connection: 'query',
    system: 'mysql',
    address: 'm2:3306',
    durations: [3],
  },
  { client: 'cart', server: 'shop', serverKind: 'database', connection: 'query', system: 'redis', durations: [3] },
  { client: 'cart', server: 'orders', serverKind: 'queue', connection: 'publish', system: 'kafka', durations: [3] },
  { client: 'orders', clientKind: 'queue', server: 'mail', connection: 'process', system: 'kafka', durations: [3] },
  { client: 'cart', server: 'mail', connection: 'message', via: 'orders', system: 'kafka', durations: [3] },
  { client: 'cart', server: 'audit', connection: 'message', durations: [3] },
  {
    client: 'cart',
    server: '',
    serverKind: 'unknown',
    connection: 'message',
    via: 'orders',
    requests: 2,
    unpaired: 'late',
  },
  { client: '', clientKind: 'user', server: 'web', durations: [9] },
];

test.before(async () => {
  harness = await startHarness({ projects: ['money', 'none'] });
  const columns =
    'received_at, minute, tenant_id, project_id, server_project_id, connection, client, client_kind, client_environment, server, server_kind, system, address, via, requests, errors, timed, duration_sum, duration_max, duration_buckets, unpaired';
  await harness.columns.execute(`INSERT INTO service_edges (${columns}) VALUES ${rows.map(rowOf).join(', ')}`);
  await harness.columns.execute(
    `INSERT INTO span_metrics (tenant_id, project_id, day, minute, service, endpoint, kind, requests) VALUES
      ('a', 'shop', today(), toDateTime(${minute / 1000}), 'alone', '/', 1, 1), ('b', 'shop', today(), toDateTime(${minute / 1000}), 'of-b', '/', 1, 1)`,
  );
});
test.after.always(() => harness?.close());

const range = `from=${minute}&to=${minute + 2 * minuteMs - 1}`;
const get = async (path: string) => {
  const { status, body } = await harness.request('GET', path, { as: 'viewer' });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
};
const dependencies = async (query: string) => (await get(`/api/dependencies?${range}&${query}`)).items;
interface Listed {
  readonly client: { readonly name: string };
  readonly server: { readonly name: string; readonly system: string };
  readonly connection: string;
}
const names = (items: readonly Listed[]): string[] =>
  items.map(({ client, connection, server }) => `${client.name} ${connection} ${server.name}`);

test('the figures of an edge add up: requests, errors, rate and quantiles within 4.4 %', async (t) => {
  const [edge, ...others] = await dependencies('scope=account&service=web').then((items) =>
    items.filter(({ server }: Listed) => server.name === 'cart'),
  );
  t.deepEqual(others, []);
  t.like(edge, { requests: 200, errors: 5, errorRate: 0.025, ratePerSecond: 200 / 120, via: '', addresses: [] });
  t.deepEqual(edge.client, { id: 'service:web', kind: 'service', name: 'web', system: '' });
  const sorted = durations.toSorted((one, other) => one - other);
  for (const [name, share] of [
    ['p50', 0.5],
    ['p95', 0.95],
    ['p99', 0.99],
  ] as const) {
    const exact = sorted[Math.ceil(share * sorted.length) - 1] as number;
    t.true(
      Math.abs(edge.duration[name] - exact) <= 0.044 * exact,
      `${name}: ${edge.duration[name]}, expected ${exact}`,
    );
  }
  t.is(edge.duration.max, sorted.at(-1));
  t.true(Math.abs(edge.duration.mean - durations.reduce((sum, each) => sum + each) / 200) < 1);
});

test('databases of two products are two edges, and several addresses of one database are listed', async (t) => {
  const found = (await dependencies('scope=account&service=cart')).filter(
    ({ connection }: Listed) => connection === 'query',
  );
  t.deepEqual(
    found.map(({ server, addresses, requests }: { server: { id: string }; addresses: string[]; requests: number }) => [
      server.id,
      addresses,
      requests,
    ]),
    [
      ['database:mysql:shop', ['m1:3306', 'm2:3306'], 2],
      ['database:redis:shop', [], 1],
    ],
  );
});

test('an edge without durations reports none, and explains why one side is missing', async (t) => {
  const [edge] = (await dependencies('scope=account')).filter(({ server }: Listed) => server.name === '');
  t.like(edge, { requests: 2, duration: null, unpaired: { expired: 0, late: 2, evicted: 0 } });
  t.is(edge.server.id, 'unknown');
});

test('a project has the edges on either side of which it appears, and a scope is required', async (t) => {
  t.deepEqual(names(await dependencies('projectId=money')), ['billing request bank', 'web request billing']);
  t.deepEqual(await dependencies('projectId=none'), []);
  for (const path of ['/api/dependencies', '/api/service-map'])
    t.is((await harness.request('GET', path, { as: 'viewer' })).status, 400);
});

test('an environment has the edges with a side in it', async (t) => {
  t.deepEqual(
    (await dependencies('scope=account&environment=live')).map(({ requests }: { requests: number }) => requests),
    [100],
  );
  t.deepEqual(await dependencies('scope=account&environment=test'), []);
});

test('pages list each edge once', async (t) => {
  const all = await dependencies('scope=account');
  t.is(all.length, 11);
  const paged: Listed[] = [];
  let cursor = '';
  do {
    const page = await get(`/api/dependencies?${cursor === '' ? range : `cursor=${cursor}`}&scope=account&limit=3`);
    paged.push(...page.items);
    cursor = page.nextCursor ?? '';
  } while (cursor !== '');
  t.deepEqual(paged as unknown, all);
});

test('ranges are rounded to whole minutes, and the response states the range used', async (t) => {
  const half = `from=${minute + 30_000}&to=${minute + 45_000}`;
  const body = await get(`/api/dependencies?${half}&scope=account&service=web`);
  t.like(body, { from: `${new Date(minute).toISOString().slice(0, 19)}.000000000Z` });
  t.is(body.to, `${new Date(minute + minuteMs).toISOString().slice(0, 19)}.000000000Z`);
  t.is(body.items.find(({ server }: Listed) => server.name === 'cart').requests, 100);
});

test('the service map has queues as nodes, services without edges, and no duplicates', async (t) => {
  const map = await get(`/api/service-map?${range}&scope=account`);
  t.deepEqual(
    map.nodes.map(({ id, requests }: { id: string; requests: number }) => `${id} ${requests}`),
    [
      'database:mysql:shop 2',
      'database:redis:shop 1',
      'external:bank 1',
      'queue:kafka:orders 1',
      'service:alone 0',
      'service:audit 1',
      'service:billing 1',
      'service:cart 200',
      'service:mail 1',
      'service:web 1',
      'user 0',
    ],
  );
  t.deepEqual(names(map.edges).slice(0, 2), ['web request cart', 'cart query shop'], 'sorted by requests, descending');
  t.deepEqual(
    map.edges.filter(({ connection }: Listed) => connection === 'message').map(({ server }: Listed) => server.name),
    ['audit'],
    'a message of a known queue is part of the edges of the queue',
  );
  t.false(map.truncated);
  const short = await get(`/api/service-map?${range}&scope=account&limit=1`);
  t.deepEqual([names(short.edges), short.truncated], [['web request cart'], true]);
});

test('a cursor of another list is refused', async (t) => {
  const { status } = await harness.request('GET', '/api/dependencies?scope=account&cursor=abc', { as: 'viewer' });
  t.is(status, 400);
});
