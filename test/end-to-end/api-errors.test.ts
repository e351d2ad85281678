/** Error groups over HTTP: figures compared with hand-written SQL, decisions, merges, and permissions. */
import test from 'ava';
import { plans, plansTenant } from '../../schemas/resources/plan.ts';
import { text } from '../cases/sink-tables.ts';
import { eventually } from '../waiting.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { landErrors, type Resource } from './errors-landed.ts';

let harness: Harness;
let nowMs = Date.now();
const minute = 60_000;
const ns = (ms: number): string => `${BigInt(Math.trunc(ms)) * 1_000_000n}`;
const startMs = nowMs - 50 * minute;
const canary = 'canary-of-b';

const stackOf = (name: string): string =>
  `Error: x\n    at ${name} (/srv/app/src/${name}.js:1:2)\n    at serve (/srv/app/src/web.js:3:4)`;
const thrown = ({
  type,
  name,
  atMs,
  message = `no ${name}`,
  user,
  trace,
}: {
  type: string;
  name: string;
  atMs: number;
  message?: string;
  user?: string;
  trace?: string;
}) => ({
  timeUnixNano: ns(atMs),
  severityNumber: 17,
  body: { stringValue: 'failed' },
  ...(trace !== undefined && {
    traceId: Buffer.from(trace.repeat(32), 'hex'),
    spanId: Buffer.from(trace.repeat(16), 'hex'),
  }),
  attributes: [
    ...[text('exception.type', type), text('exception.message', message), text('exception.stacktrace', stackOf(name))],
    ...(user === undefined ? [] : [text('user.id', user)]),
  ],
});
const failedSpan = (trace: string, atMs: number, status = '503') => ({
  traceId: Buffer.from(trace.repeat(32), 'hex'),
  spanId: Buffer.from(trace.repeat(16), 'hex'),
  name: 'GET /pay',
  kind: 2,
  startTimeUnixNano: ns(atMs),
  endTimeUnixNano: ns(atMs),
  status: { code: 2 },
  attributes: [text('http.response.status_code', status)],
});
const service = (name: string, version = '1.0', environment = 'live') => ({
  'service.name': name,
  'service.version': version,
  'deployment.environment.name': environment,
  'host.name': `${name}-1`,
});
const many = <Each>(count: number, make: (at: number) => Each): Each[] =>
  Array.from({ length: count }, (_, at) => make(at));

const seed: readonly Resource[] = [
  {
    attributes: service('cart'),
    logs: [
      ...many(40, (at) =>
        thrown({ type: 'OutOfStock', name: 'reserve', atMs: startMs + at * minute, user: `u${at % 7}` }),
      ),
      ...many(5, (at) => thrown({ type: 'Timeout', name: 'charge', atMs: startMs + at * 1000, trace: 'a' })),
      ...many(3, (at) => ({
        timeUnixNano: ns(startMs + at),
        severityNumber: 17,
        body: { stringValue: `order ${at} of ann@example.com is lost` },
      })),
      { timeUnixNano: ns(startMs), severityNumber: 9, body: { stringValue: 'all is well' } },
    ],
  },
  {
    attributes: service('mail', '2.0', 'test'),
    logs: many(4, (at) => thrown({ type: 'OutOfStock', name: 'reserve', atMs: startMs + at, user: 'u1' })),
  },
  {
    attributes: service('pay'),
    spans: [failedSpan('c', startMs + minute), failedSpan('d', startMs + 2 * minute), failedSpan('e', startMs, '500')],
  },
  {
    tenant: 'b',
    attributes: service(canary),
    logs: many(9, (at) => thrown({ type: canary, name: canary, atMs: startMs + at, message: canary, user: canary })),
  },
];

test.before(async () => {
  harness = await startHarness({ now: () => nowMs, projects: ['shop', 'other'] });
  await landErrors(harness.columns, seed);
});
test.after.always(() => harness?.close());
test.beforeEach(() => {
  nowMs = Date.now();
});

type RequestOptions = Parameters<Harness['request']>[2];
const request = async (method: string, path: string, options: RequestOptions = {}) => {
  const { status, body, headers } = await harness.request(method, path, { as: 'editor', ...options });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  if (JSON.stringify(body).includes('canary')) throw new Error(`${path} returns data of another organization`);
  return { ...body, etag: headers.get('etag') };
};
const list = async (query = '') => (await request('GET', `/api/errors?${query}`)).items;
const idOf = async (type: string): Promise<string> =>
  (await list('limit=1000')).find((group: { type: string }) => group.type === type).id;
const sql = async <Row>(text_: string): Promise<Row[]> => harness.columns.query<Row>(text_);

test.serial('figures of each group match SQL over the stored rows', async (t) => {
  const groups = await list('limit=1000&sort=-count');
  t.deepEqual(
    groups.map(({ type, count, users, services, environments, sources, message }: Record<string, unknown>) => ({
      type,
      count,
      users,
      services,
      environments,
      sources,
      message,
    })),
    [
      {
        type: 'OutOfStock',
        count: 44,
        users: 7,
        services: ['cart', 'mail'],
        environments: ['live', 'test'],
        sources: ['log'],
        message: 'no reserve',
      },
      {
        type: 'Timeout',
        count: 5,
        services: ['cart'],
        environments: ['live'],
        sources: ['log'],
        message: 'no charge',
        users: unknownUsers,
      },
      {
        type: null,
        count: 3,
        services: ['cart'],
        environments: ['live'],
        sources: ['log'],
        users: unknownUsers,
        message: 'order 2 of ann@example.com is lost',
      },
      {
        type: 'HTTP 503',
        count: 2,
        services: ['pay'],
        environments: ['live'],
        sources: ['span'],
        message: '',
        users: unknownUsers,
      },
      {
        type: 'HTTP 500',
        count: 1,
        services: ['pay'],
        environments: ['live'],
        sources: ['span'],
        message: '',
        users: unknownUsers,
      },
    ],
  );
  for (const group of groups) {
    const [row] = await sql<Record<string, string>>(
      `SELECT toString(count()) AS n, toString(uniqExactIf(user_id, user_id != '')) AS u, toString(min(timestamp)) AS a, toString(max(timestamp)) AS z
      FROM error_occurrences WHERE tenant_id = 'a' AND fingerprint = '${group.id}'`,
    );
    t.is(String(group.count), row?.['n'] ?? '');
    t.is(group.users.value === null ? '0' : String(group.users), row?.['u'] ?? '');
    for (const [shown = '', stored = ''] of [
      [group.firstSeen, row?.['a']],
      [group.lastSeen, row?.['z']],
      [group.firstSeenInRange, row?.['a']],
      [group.lastSeenInRange, row?.['z']],
    ])
      t.is(shown, `${stored?.replace(' ', 'T')}Z`);
    t.is(
      group.trend.counts.reduce((sum: number, each: number) => sum + each, 0),
      group.count,
    );
    t.like(group, { status: 'unresolved', isNew: true, isRegressed: false, fingerprints: [group.id] });
  }
});
const unknownUsers = { value: null, reason: 'no occurrence contains a user: user.id is not sent' };

const filters: Readonly<Record<string, readonly (string | null)[]>> = {
  'service=mail': ['OutOfStock'],
  'service=pay&sort=-count': ['HTTP 503', 'HTTP 500'],
  'environment=test': ['OutOfStock'],
  'release=2.0': ['OutOfStock'],
  'search=reserve+OUTOF': ['OutOfStock'],
  'search=lost': [null],
  'search=%27%3B+drop': [],
  'projectId=shop&search=charge': ['Timeout'],
  'projectId=other': [],
  'status=resolved': [],
  [`from=${startMs - 10 * minute}&to=${startMs - minute}`]: [],
};
for (const [query, types] of Object.entries(filters))
  test.serial(`?${query.replace(/\d{13}/g, '…')} lists ${types.join(', ') || 'nothing'}`, async (t) => {
    t.deepEqual(
      (await list(query)).map(({ type }: { type: string }) => type),
      types,
    );
  });

test.serial(
  'pages in every order contain each group once, even if more occurrences are stored between them',
  async (t) => {
    for (const sort of ['-lastSeen', 'lastSeen', '-count', 'count', '-users', 'users', '-firstSeen', 'firstSeen']) {
      const whole = (await list(`sort=${sort}&limit=1000`)).map(({ id }: { id: string }) => id);
      const paged: string[] = [];
      let cursor: string | null = '';
      do {
        const page = await request(
          'GET',
          `/api/errors?sort=${sort}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
        );
        paged.push(...page.items.map(({ id }: { id: string }) => id));
        cursor = page.nextCursor;
      } while (cursor !== null);
      t.deepEqual(paged, whole, sort);
    }
    const first = await request('GET', '/api/errors?sort=count&limit=2');
    nowMs = Date.now() + 5_000;
    await landErrors(harness.columns, [
      { attributes: service('late'), logs: many(2, () => thrown({ type: 'Late', name: 'late', atMs: startMs })) },
    ]);
    const rest = await request('GET', `/api/errors?sort=count&limit=100&cursor=${first.nextCursor}`);
    t.deepEqual(
      [...first.items, ...rest.items].map(({ type }) => type),
      ['HTTP 500', 'HTTP 503', null, 'Timeout', 'OutOfStock'],
    );
  },
);

test.serial(
  'a group is shown with its last occurrence, its parsed stack trace, its tags and its grouping reason',
  async (t) => {
    const id = await idOf('OutOfStock');
    const group = await request('GET', `/api/errors/${id}`);
    t.like(group, { id, count: 44, culprit: 'src/reserve.js reserve', etag: '"0"' });
    t.like(group.newest, {
      type: 'OutOfStock',
      message: 'no reserve',
      service: 'cart',
      release: '1.0',
      userId: 'u4',
      language: 'javascript',
      source: 'log',
    });
    // Frames of servers need no source map, so no reason for a missing one.
    const frame = { isInApp: true, isCompared: true, generated: null, unmappedReason: null };
    t.deepEqual(group.newest.chain[0].frames, [
      { ...frame, function: 'reserve', file: '/srv/app/src/reserve.js', line: 1, column: 2 },
      { ...frame, function: 'serve', file: '/srv/app/src/web.js', line: 3, column: 4 },
    ]);
    t.deepEqual(group.tags, [
      {
        name: 'service',
        count: 44,
        values: [
          { value: 'cart', count: 40 },
          { value: 'mail', count: 4 },
        ],
      },
      {
        name: 'release',
        count: 44,
        values: [
          { value: '1.0', count: 40 },
          { value: '2.0', count: 4 },
        ],
      },
      {
        name: 'environment',
        count: 44,
        values: [
          { value: 'live', count: 40 },
          { value: 'test', count: 4 },
        ],
      },
      {
        name: 'host.name',
        count: 44,
        values: [
          { value: 'cart-1', count: 40 },
          { value: 'mail-1', count: 4 },
        ],
      },
    ]);
    t.deepEqual(group.explanation.shared, [
      { name: 'type', text: 'OutOfStock' },
      { name: 'frame', text: 'src/reserve.js reserve' },
      { name: 'frame', text: 'src/web.js serve' },
    ]);
    t.is(
      group.explanation.summary,
      'Every occurrence has the same exception type, 2 frames nearest to the origin of the error.',
    );
    t.is(group.explanation.version, 1);
  },
);

test.serial('occurrences are listed newest first, with the origin of each', async (t) => {
  const id = await idOf('Timeout');
  const paged: { readonly timestamp: string; readonly logId: string | null }[] = [];
  let cursor: string | null = '';
  do {
    const page = await request(
      'GET',
      `/api/errors/${id}/occurrences?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    paged.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  t.is(paged.length, 5);
  t.deepEqual(
    paged.map(({ timestamp }) => timestamp),
    paged
      .map(({ timestamp }) => timestamp)
      .toSorted()
      .toReversed(),
  );
  for (const each of paged) {
    t.like(each, { traceId: 'a'.repeat(32), spanId: 'a'.repeat(16), source: 'log', fingerprint: id });
    t.regex(each.logId ?? '', /^\d+-\d+-\d+-\d+$/);
  }
  const span = await request('GET', `/api/errors/${await idOf('HTTP 503')}/occurrences`);
  t.like(span.items[0], { source: 'span', logId: null, traceId: 'd'.repeat(32) });
});

test.serial('a resolved group reopens by itself when a later occurrence arrives', async (t) => {
  const id = await idOf('HTTP 500');
  nowMs = Date.now();
  const decided = await request('PATCH', `/api/errors/${id}`, { body: { status: 'resolved' } });
  t.like(decided, { status: 'resolved', version: 1, etag: '"1"' });
  t.deepEqual(
    (await list('status=resolved')).map((group: { id: string }) => group.id),
    [id],
  );
  t.false((await list('status=unresolved&limit=1000')).some((group: { id: string }) => group.id === id));
  t.is((await request('PATCH', `/api/errors/${id}`, { body: { status: 'resolved' } })).version, 1);
  const againMs = nowMs + 2;
  nowMs += 1_000;
  await landErrors(harness.columns, [
    { attributes: service('pay'), spans: [failedSpan('f', againMs, '500')], atMs: againMs + 1 },
  ]);
  nowMs += 120_000;
  const [group] = await list(`status=unresolved&service=pay&sort=-lastSeen`);
  t.like(group, {
    id,
    status: 'unresolved',
    isRegressed: true,
    regressedAt: new Date(againMs).toISOString().replace('Z', '000000Z'),
    count: 2,
  });
  t.like(await request('PATCH', `/api/errors/${id}`, { body: { status: 'resolved' } }), {
    status: 'resolved',
    version: 2,
  });
  t.like(await request('GET', `/api/errors/${id}`), { status: 'resolved', isRegressed: false });
});

test.serial('an edit of an outdated version is refused', async (t) => {
  const id = await idOf('HTTP 500');
  const response = await harness.request('PATCH', `/api/errors/${id}`, {
    as: 'editor',
    body: { status: 'unresolved' },
    headers: { 'if-match': '"1"' },
  });
  t.is(response.status, 412);
  t.is(
    (await request('PATCH', `/api/errors/${id}`, { body: { status: 'unresolved' }, headers: { 'if-match': '"2"' } }))
      .version,
    3,
  );
});

test.serial(
  'a group resolved in a version is not reopened by occurrences of older versions; versions are ordered by first appearance',
  async (t) => {
    const id = await idOf('Timeout');
    const releases = ['9.0', '10.0', 'abc'].map(
      (version, at) =>
        `('a', ${900 + at}, 'cart', map('service.name', 'cart', 'service.version', '${version}'), 'ss', fromUnixTimestamp64Milli(${startMs + at * minute}), now64(3))`,
    );
    await harness.columns.execute(
      `INSERT INTO resources (tenant_id, resource_id, service, attributes, attribute_types, first_seen, last_seen) VALUES ${releases.join(', ')}`,
    );
    await request('PATCH', `/api/errors/${id}`, { body: { status: 'resolved', resolvedIn: { version: '10.0' } } });
    const happens = async (version: string) => {
      const atMs = nowMs + 1;
      nowMs += 10;
      await landErrors(harness.columns, [
        {
          attributes: service('cart', version),
          logs: [thrown({ type: 'Timeout', name: 'charge', atMs })],
          atMs: atMs + 1,
        },
      ]);
      return (await request('GET', `/api/errors/${id}`)).status;
    };
    t.is(await happens('9.0'), 'resolved');
    t.is(await happens('abc'), 'unresolved');
    await request('PATCH', `/api/errors/${id}`, { body: { status: 'resolved', resolvedIn: { version: '10.0' } } });
    t.is((await request('GET', `/api/errors/${id}`)).status, 'resolved');
    t.is(await happens('10.0'), 'unresolved');
    await request('PATCH', `/api/errors/${id}`, { body: { status: 'resolved', resolvedIn: { next: true } } });
    t.is(await happens('abc'), 'resolved');
    await harness.columns.execute(
      `INSERT INTO resources (tenant_id, resource_id, service, attributes, attribute_types, first_seen, last_seen) VALUES
      ('a', 910, 'cart', map('service.name', 'cart', 'service.version', '11.0'), 'ss', fromUnixTimestamp64Milli(${nowMs + 5}), now64(3))`,
    );
    nowMs += 20;
    t.is(await happens('11.0'), 'unresolved');
  },
);

test.serial(
  'an ignored group reopens after a time, after a number of occurrences, or with a new version',
  async (t) => {
    const id = await idOf('HTTP 503');
    const statusNow = async () => (await request('GET', `/api/errors/${id}`)).status;
    const ignore = (ignoredUntil: object | null) =>
      request('PATCH', `/api/errors/${id}`, { body: { status: 'ignored', ignoredUntil } });
    await ignore({ time: new Date(nowMs + 60_000).toISOString() });
    t.is(await statusNow(), 'ignored');
    t.deepEqual(
      (await list('status=ignored')).map((group: { id: string }) => group.id),
      [id],
    );
    nowMs += 60_000;
    t.is(await statusNow(), 'unresolved');
    await ignore({ occurrences: 2 });
    for (const [trace, expected] of [
      ['1', 'ignored'],
      ['2', 'unresolved'],
    ] as const) {
      nowMs += 100;
      await landErrors(harness.columns, [
        { attributes: service('pay'), spans: [failedSpan(trace, nowMs - 50)], atMs: nowMs },
      ]);
      t.is(await statusNow(), expected);
    }
    await ignore({ nextVersion: true });
    t.is(await statusNow(), 'ignored');
    await ignore(null);
    t.is(await statusNow(), 'ignored');
    await request('PATCH', `/api/errors/${id}`, { body: { status: 'unresolved' } });
  },
);

test.serial('a group can be assigned to a user of the organization, and to no other user', async (t) => {
  const id = await idOf('OutOfStock');
  const { items: users } = await request('GET', '/api/users', { as: 'owner' });
  const { id: userId } = users.find(({ role }: { role: string }) => role === 'editor');
  t.like(await request('PATCH', `/api/errors/${id}`, { body: { assigneeId: userId } }), {
    assigneeId: userId,
    status: 'unresolved',
  });
  t.is((await list('search=reserve'))[0].assigneeId, userId);
  const { body: others } = await harness.request('GET', '/api/users', {
    as: `token ${await harness.signIn('owner@b.example')}`,
  });
  const refused = await harness.request('PATCH', `/api/errors/${id}`, {
    as: 'editor',
    body: { assigneeId: others.items[0].id },
  });
  t.is(refused.status, 400);
  t.is(refused.body.details[0].path, 'assigneeId');
  t.is((await request('PATCH', `/api/errors/${id}`, { body: { assigneeId: null } })).assigneeId, null);
});

test.serial(
  'merged groups are one group, also for later occurrences; a group that is split off stays separate',
  async (t) => {
    const [stock, timeout, lost] = [await idOf('OutOfStock'), await idOf('Timeout'), (await list('search=lost'))[0].id];
    const before = (await request('GET', `/api/errors/${timeout}`)).count;
    t.like(await request('POST', '/api/errors/merge', { body: { ids: [stock, timeout, lost] } }), {
      id: stock,
      fingerprints: [stock, ...[timeout, lost].sort()],
    });
    const merged = await request('GET', `/api/errors/${timeout}`);
    t.like(merged, { id: stock, count: 44 + before + 3, users: 7 });
    t.deepEqual(merged.explanation.shared, []);
    t.is(merged.explanation.members.length, 3);
    t.like(
      merged.explanation.members.find(({ fingerprint }: { fingerprint: string }) => fingerprint === lost),
      {
        components: [{ name: 'message', text: 'order <*> of <*> is lost' }],
        mergedBy: 'editor@a.example',
      },
    );
    t.deepEqual(
      (await list('service=cart')).map(({ id, count }: { id: string; count: number }) => [id, count]),
      [[stock, 40 + before + 3]],
    );

    t.deepEqual((await request('PATCH', `/api/errors/${stock}`, { body: { unmerge: [lost] } })).fingerprints, [
      stock,
      timeout,
    ]);
    t.like(await request('GET', `/api/errors/${lost}`), { id: lost, count: 3 });
    nowMs += 1_000;
    await landErrors(harness.columns, [
      {
        attributes: service('cart'),
        logs: [
          {
            timeUnixNano: ns(nowMs - 500),
            severityNumber: 17,
            body: { stringValue: 'order 9 of bob@example.com is lost' },
          },
        ],
        atMs: nowMs,
      },
    ]);
    t.is((await request('GET', `/api/errors/${lost}`)).count, 4);
    for (const ids of [
      [stock, lost],
      [lost, timeout],
    ]) {
      const refused = await harness.request('POST', '/api/errors/merge', { as: 'editor', body: { ids } });
      t.is(refused.status, 409);
      t.regex(refused.body.message, /was permanently removed from the group .*: name it in rejoin/);
    }
    const rejoined = await request('POST', '/api/errors/merge', { body: { ids: [stock, lost], rejoin: [lost] } });
    t.is(rejoined.fingerprints.length, 3);
    await request('PATCH', `/api/errors/${stock}`, { body: { unmerge: [lost, timeout] } });
    const refused = await harness.request('PATCH', `/api/errors/${stock}`, {
      as: 'editor',
      body: { unmerge: [stock] },
    });
    t.is(refused.status, 400);
  },
);

test.serial('decisions are recorded in the audit log, except those that change nothing', async (t) => {
  const { items } = await request('GET', '/api/audit?limit=1000', { as: 'owner' });
  const actions = items.map(({ action }: { action: string }) => action);
  t.true(actions.includes('error-group.merge'));
  t.true(actions.filter((action: string) => action === 'error-group.change').length > 8);
});

const refused: readonly (readonly [string, string, object | undefined, number, string])[] = [
  ['PATCH', '/api/errors/f1-0000000000000000', { status: 'resolved' }, 404, ''],
  ['GET', '/api/errors/f1-0000000000000000', undefined, 404, ''],
  ['GET', '/api/errors/f1-0000000000000000/occurrences', undefined, 404, ''],
  ['GET', '/api/errors/nonsense', undefined, 404, ''],
  ['POST', '/api/errors/merge', { ids: ['f1-0000000000000000', 'f1-0000000000000001'] }, 400, 'ids.0'],
  ['POST', '/api/errors/merge', { ids: ['f1-0000000000000000'] }, 400, 'ids'],
  ['GET', '/api/errors?sort=name', undefined, 400, 'sort'],
  ['GET', '/api/errors?cursor=abc', undefined, 400, 'cursor'],
  ['GET', '/api/errors?from=now-900d', undefined, 400, ''],
];
for (const [method, path, body, status, place] of refused)
  test.serial(`${method} ${path} ${body === undefined ? '' : JSON.stringify(body)} is refused`, async (t) => {
    const response = await harness.request(method, path, { as: 'editor', ...(body !== undefined && { body }) });
    t.is(response.status, status, JSON.stringify(response.body));
    if (place !== '') t.is(response.body.details?.[0]?.path, place);
  });

test.serial('resolvedIn and ignoredUntil are valid only with their status', async (t) => {
  const id = await idOf('OutOfStock');
  for (const [body, path] of [
    [{ resolvedIn: { next: true } }, 'resolvedIn'],
    [{ status: 'resolved', ignoredUntil: { occurrences: 2 } }, 'ignoredUntil'],
  ] as const) {
    const response = await harness.request('PATCH', `/api/errors/${id}`, { as: 'editor', body });
    t.is(response.status, 400);
    t.is(response.body.details[0].path, path);
  }
  t.is(
    (await harness.request('PATCH', `/api/errors/${id}`, { as: 'viewer', body: { status: 'resolved' } })).status,
    403,
  );
});

test.serial(
  'a plan without logs shows only errors from spans, and a plan without logs and traces shows none',
  async (t) => {
    const own = harness.documents.forTenant(plansTenant).collection(plans);
    const entitlements = (await own.find('enterprise'))?.entitlements ?? [];
    const without = (...names: string[]) =>
      own.update('enterprise', { entitlements: entitlements.filter((each) => !names.includes(each)) });
    const until = async (isDone: (response: { status: number; types: unknown[] }) => boolean) => {
      const listErrors = () => harness.request('GET', '/api/errors?limit=1000', { as: 'editor' });
      let apiResponse = await listErrors();
      await eventually('the plan to take effect', async () => {
        apiResponse = await listErrors();
        const types = (apiResponse.body.items ?? []).flatMap(({ sources }: { sources: string[] }) => sources);
        return isDone({ status: apiResponse.status, types });
      });
      return apiResponse;
    };
    const lost = (await list('search=lost'))[0].id;
    await without('logs');
    const { body } = await until(({ types }) => !types.includes('log'));
    t.deepEqual([...new Set(body.items.map(({ services: [name] }: { services: string[] }) => name))], ['pay']);
    t.is((await harness.request('GET', `/api/errors/${lost}`, { as: 'editor' })).status, 404);
    await without('logs', 'traces');
    const refused_ = await until(({ status }) => status !== 200);
    t.like(refused_, { status: 403, body: { error: 'UPGRADE_REQUIRED' } });
    await own.update('enterprise', { entitlements });
    await until(({ types }) => types.includes('log'));
  },
);

test.serial('another organization can neither see nor change the errors', async (t) => {
  const as = `token ${await harness.signIn('editor@b.example')}` as const;
  const { body } = await harness.request('GET', '/api/errors?limit=1000', { as });
  t.deepEqual(
    body.items.map(({ type }: { type: string }) => type),
    [canary],
  );
  const id = await idOf('OutOfStock');
  t.is((await harness.request('GET', `/api/errors/${id}`, { as })).status, 404);
  t.is((await harness.request('PATCH', `/api/errors/${id}`, { as, body: { status: 'resolved' } })).status, 404);
  t.is((await harness.request('POST', '/api/errors/merge', { as, body: { ids: [body.items[0].id, id] } })).status, 400);
});
