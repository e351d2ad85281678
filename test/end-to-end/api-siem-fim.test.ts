/** File changes through the API: listed with verdicts, and baselines that users approve. */
import test from 'ava';
import { type Answer, type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const nowMs = Math.floor(Date.now() / 1000) * 1000;
const sha = (character: string): string => character.repeat(64);
let offset = 0;

interface Made {
  readonly id: string;
  readonly agoSeconds: number;
  readonly path?: string;
  readonly host?: string;
  readonly action?: string;
  readonly tenant?: string;
  readonly process?: string;
  readonly from?: string;
  readonly after?: Readonly<Record<string, string>>;
  readonly times?: number;
}

const at = (agoSeconds: number): string => `fromUnixTimestamp64Milli(toInt64(${nowMs - agoSeconds * 1000}))`;
const map = (values: Readonly<Record<string, string>>): string =>
  `map(${Object.entries(values)
    .flatMap((pair) => pair.map((text) => `'${text}'`))
    .join(', ')})`;

const land = async (changes: readonly Made[]): Promise<void> => {
  for (const { id, agoSeconds, times = 1, ...change } of changes) {
    const { path = '/etc/motd', host = 'web-1', action = 'changed', tenant = 'a', process = '', from = '' } = change;
    await harness.columns.execute(
      `INSERT INTO file_changes (tenant_id, project_id, received_at, offset, id, record_id, time, service, source, action, path, path_before, host, user, process, after)
      SELECT '${tenant}', 'default', now64(3), ${++offset} * 10 + number, '${id}', '1-0-0-0', ${at(agoSeconds)}, 'fim', 'wazuh', '${action}', '${path}', '${from}', '${host}', 'ann', '${process}', ${change.after === undefined ? 'map()' : map(change.after)} FROM numbers(${times})`,
    );
  }
};

const first: readonly Made[] = [
  { id: 'motd', agoSeconds: 4_000, after: { sha256: sha('a'), mode: '0644' } },
  { id: 'motd-2', agoSeconds: 3_900, host: 'web-2', after: { sha256: sha('b'), mode: '0644' } },
  { id: 'gone', agoSeconds: 3_950, path: '/etc/gone', action: 'deleted' },
  {
    id: 'moved',
    agoSeconds: 3_940,
    path: '/etc/new',
    from: '/etc/old',
    action: 'renamed',
    after: { sha256: sha('c') },
  },
  { id: 'mode', agoSeconds: 3_800, action: 'attributes-changed', after: { mode: '0600' } },
  { id: 'elsewhere', agoSeconds: 3_700, path: '/etcetera/x', action: 'created' },
  { id: 'db', agoSeconds: 3_700, host: 'db-1', after: { sha256: sha('d') } },
];

test.before(async () => {
  harness = await startHarness();
  await land(first);
});
test.after.always(() => harness.close());

const baselines = '/api/siem/fim/baselines';
const list = async (query: string): Promise<Answer['body']> => {
  const { status, body } = await harness.request('GET', `/api/siem/fim?${query}`, { as: 'viewer' });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
};
const ids = async (query: string): Promise<string[]> => (await list(query)).items.map(({ id }: { id: string }) => id);
const createBaseline = (body: object): Promise<Answer> => harness.request('POST', baselines, { as: 'editor', body });
const decide = (id: string, version: number, state: string): Promise<Answer> =>
  harness.request('PATCH', `${baselines}/${id}`, {
    as: 'editor',
    body: { state },
    headers: { 'if-match': `"${version}"` },
  });

let webId = '';

test.serial(
  'changes are listed newest first, page by page, and have an unknown verdict without a baseline',
  async (t) => {
    const { items } = await list('limit=1');
    t.is(items[0].verdict, 'unknown');
    t.regex(items[0].reason, /no approved baseline/);
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await list(`limit=3&cursor=${cursor}`.replace(/&cursor=$/, ''));
      seen.push(...page.items.map(({ id }: { id: string }) => id));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    t.is(seen.length, first.length);
    t.is(new Set(seen).size, first.length);
    t.is(seen.at(-1), 'motd');
  },
);

test.serial('changes are found by host, path, action and hash', async (t) => {
  t.deepEqual(await ids('host=db-1'), ['db']);
  t.deepEqual((await ids('path=/etc/')).sort(), ['db', 'gone', 'mode', 'motd', 'motd-2', 'moved']);
  t.deepEqual(await ids('action=deleted,renamed'), ['moved', 'gone']);
  t.deepEqual(await ids(`hash=${sha('B')}`), ['motd-2']);
  t.deepEqual(await ids('user=ben'), []);
});

test.serial('a baseline contains the last seen files of a group of hosts', async (t) => {
  const { status, body } = await createBaseline({ name: 'Web', hosts: ['web-*'], paths: ['/etc/'] });
  t.is(status, 200, JSON.stringify(body));
  t.like(body, { state: 'proposed', files: 4, approvedAt: null, version: 1 });
  webId = body.id;
  const files = await harness.request('GET', `${baselines}/${webId}/files`, { as: 'viewer' });
  t.deepEqual(files.body, {
    items: [
      { path: '/etc/gone', states: [{ isPresent: false }] },
      {
        path: '/etc/motd',
        states: [
          { isPresent: true, sha256: sha('a'), mode: '0600' },
          { isPresent: true, sha256: sha('b'), mode: '0644' },
        ],
      },
      { path: '/etc/new', states: [{ isPresent: true, sha256: sha('c') }] },
      { path: '/etc/old', states: [{ isPresent: false }] },
    ],
    nextCursor: null,
  });
});

test.serial(
  'a proposed baseline has no effect; approval requires If-Match, and is audited with the approver',
  async (t) => {
    t.true((await list('')).items.every(({ verdict }: { verdict: string }) => verdict === 'unknown'));
    const bare = await harness.request('PATCH', `${baselines}/${webId}`, { as: 'editor', body: { state: 'approved' } });
    t.is(bare.status, 428);
    t.is((await decide(webId, 7, 'approved')).status, 412);
    const account = await harness.request('POST', '/api/service-accounts', {
      body: { name: 'Pipeline', role: 'editor' },
    });
    const token = await harness.request('POST', `/api/service-accounts/${account.body.id}/tokens`, {
      body: { name: 'Pipeline', scopes: ['siem:write'], expiresAt: new Date(nowMs + 3_600_000).toISOString() },
    });
    const machine = await harness.request('PATCH', `${baselines}/${webId}`, {
      as: `token ${token.body.token}`,
      body: { state: 'approved' },
      headers: { 'if-match': '"1"' },
    });
    t.is(machine.status, 403);
    t.is((await harness.request('PATCH', `${baselines}/${webId}`, { as: 'viewer', body: {} })).status, 403);
    const { body } = await decide(webId, 1, 'approved');
    t.like(body, { state: 'approved', version: 2 });
    t.truthy(body.approvedAt);
    t.truthy(body.approvedBy);
    const { body: audit } = await harness.request('GET', '/api/audit?action=file-baseline.update', { as: 'owner' });
    t.is(audit.items[0]?.resource.id, webId);
  },
);

test.serial('later changes are approved or unapproved, with the reason; others stay unknown', async (t) => {
  const later: readonly (readonly [change: Omit<Made, 'agoSeconds'>, verdict: string, reason: RegExp])[] = [
    [{ id: 'back', after: { sha256: sha('a') } }, 'approved', /matches baseline "Web"/],
    [{ id: 'other-host', host: 'web-9', after: { sha256: sha('b'), mode: '0644' } }, 'approved', /Web/],
    [{ id: 'evil', after: { sha256: sha('e') } }, 'unapproved', /has sha256 aaaa.*this is eeee/],
    [
      { id: 'open', action: 'attributes-changed', after: { mode: '0666' } },
      'unapproved',
      /mode 0600, and this is 0666/,
    ],
    [{ id: 'no-hash' }, 'unapproved', /shares no hash/],
    [{ id: 'removed', action: 'deleted' }, 'unapproved', /contains the file/],
    [{ id: 'removed-again', path: '/etc/gone', action: 'deleted' }, 'approved', /Web/],
    [
      { id: 'added', path: '/etc/cron.d/x', action: 'created', after: { sha256: sha('f') } },
      'unapproved',
      /does not contain the file/,
    ],
    [
      { id: 'renamed', path: '/etc/new', from: '/etc/motd', action: 'renamed', after: { sha256: sha('c') } },
      'unapproved',
      /former name/,
    ],
    [{ id: 'read', action: 'read' }, 'unknown', /not changed/],
    [{ id: 'other-folder', path: '/srv/x' }, 'unknown', /no approved baseline covers \/srv\/x of web-1/],
    [{ id: 'db-later', host: 'db-1', after: { sha256: sha('d') } }, 'unknown', /covers \/etc\/motd of db-1/],
  ];
  // They are later than the baseline, which was created now.
  await land(later.map(([change]) => ({ ...change, agoSeconds: -3_600 })));
  const { items } = await list('to=now%2B2h&from=now%2B30m');
  for (const [{ id }, verdict, reason] of later) {
    const found = items.find((each: { id: string }) => each.id === id);
    t.is(found?.verdict, verdict, `${id}: ${found?.reason}`);
    t.regex(found.reason, reason, id);
  }
  const early = (await list('host=web-1&path=/etc/motd')).items.find(({ id }: { id: string }) => id === 'motd');
  t.is(early.verdict, 'unknown');
  t.regex(early.reason, /before baseline "Web" was captured/);
});

test.serial('changes are filtered by verdict, across pages, and summarized', async (t) => {
  const range = 'from=now-2h&to=now%2B2h';
  const all = await ids(`${range}&verdict=unapproved`);
  t.is(all.length, 6);
  const paged: string[] = [];
  for (let cursor = ''; ; ) {
    const query = cursor === '' ? range : `cursor=${cursor}`;
    const page = await list(`${query}&verdict=unapproved&limit=2`);
    paged.push(...page.items.map(({ id }: { id: string }) => id));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  t.deepEqual(paged, all);
  const { summary } = await list(`${range}&summary=true&limit=1`);
  t.is(summary.changes, first.length + 12);
  t.is(summary.byVerdict.unapproved, 6);
  t.is(summary.byAction.deleted, 3);
  t.is(summary.hosts, 4);
  t.true(summary.isComplete);
});

test.serial('unapproved changes appear in the event feed, page by page', async (t) => {
  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const query = cursor === '' ? 'kinds=file&from=now-2h&to=now%2B2h' : `kinds=file&cursor=${cursor}`;
    const { body } = await harness.request('GET', `/api/events?${query}&limit=4`, { as: 'viewer' });
    seen.push(...body.items.map(({ id }: { id: string }) => id));
    if (body.nextCursor === null) break;
    cursor = body.nextCursor;
  }
  t.deepEqual(seen, await ids('from=now-2h&to=now%2B2h&verdict=unapproved'));
  const { body } = await harness.request('GET', '/api/events?from=now-2h&to=now%2B2h&kinds=file', { as: 'viewer' });
  const event = body.items.find(({ id }: { id: string }) => id === 'evil');
  t.is(event.title, '/etc/motd changed on web-1');
  t.regex(event.text, /this is eeee/);
  t.like(event.tags, { host: 'web-1', user: 'ann' });
});

test.serial(
  'package managers, packages and deployments explain changes on their hosts, within a time window',
  async (t) => {
    const ago = -7_200;
    await harness.columns.execute(
      `INSERT INTO package_changes (tenant_id, project_id, received_at, offset, id, record_id, time, host, manager, action, package, version) VALUES
      ('a', 'default', now64(3), 1, 'p1', '1-0-0-0', ${at(ago + 40)}, 'web-1', 'dpkg', 'upgraded', 'nginx', '1.20')`,
    );
    await harness.columns.execute(
      `INSERT INTO resources (tenant_id, resource_id, service, attributes, attribute_types, first_seen, last_seen) VALUES
      ('a', 91, 'shop', map('service.name', 'shop', 'host.name', 'web-1'), 'ss', now64(3), now64(3))`,
    );
    await harness.columns.execute(
      `INSERT INTO events (tenant_id, id, kind, time, severity, title, service, details, actor_type, received_at, offset) VALUES
      ('a', 'd1', 'deployment', ${at(ago + 5)}, 'info', 'shop 2', 'shop', '{"version":"2"}', 'system', now64(3), 99)`,
    );
    const cases: readonly (readonly [change: Omit<Made, 'agoSeconds'>, verdict: string, reason: RegExp])[] = [
      [{ id: 'p-time', path: '/etc/nginx.conf' }, 'expected', /dpkg upgraded nginx 1.20 on web-1 40 s before/],
      [{ id: 'p-process', host: 'db-7', process: '/usr/bin/rpm' }, 'expected', /a package manager/],
      [{ id: 'p-host', host: 'web-2' }, 'unapproved', /shares no hash/],
      [
        { id: 'p-editor', process: '/usr/bin/vim', path: '/etc/cron.d/z' },
        'expected',
        /shop 2.*deployed 5 s before \(recorded\)/,
      ],
      [{ id: 'p-passwd', path: '/etc/passwd' }, 'unapproved', /does not contain the file/],
      [{ id: 'd-app', path: '/srv/shop/main.js' }, 'expected', /shop 2, which runs on web-1/],
      [{ id: 'd-host', path: '/srv/shop/main.js', host: 'web-2' }, 'unknown', /no approved baseline/],
    ];
    await land(cases.map(([change]) => ({ ...change, agoSeconds: ago })));
    const range = `from=${nowMs + 7_200_000}&to=${nowMs + 7_200_000}`;
    const { items } = await list(range);
    for (const [{ id }, verdict, reason] of cases) {
      const found = items.find((each: { id: string }) => each.id === id);
      t.is(found?.verdict, verdict, `${id}: ${found?.reason}`);
      t.regex(found.reason, reason, id);
    }
    t.deepEqual(await ids(`${range}&windowSeconds=3&verdict=expected`), ['p-process']);
  },
);

test.serial('a newer baseline of the same files replaces the previous one', async (t) => {
  const { body } = await createBaseline({
    name: 'Web 2',
    hosts: ['web-*'],
    paths: ['/etc/'],
    state: 'approved',
    files: [{ path: '/etc/motd', states: [{ isPresent: true, sha256: sha('e') }] }],
  });
  t.like(body, { state: 'approved', files: 1, capturedFrom: null });
  const { items } = await list(`from=${nowMs + 3_600_000}&to=${nowMs + 3_600_000}&path=/etc/motd`);
  const verdictOf = (id: string) => items.find((each: { id: string }) => each.id === id).verdict;
  t.is(verdictOf('evil'), 'approved');
  t.is(verdictOf('back'), 'unapproved');
  const moved = await harness.request('PATCH', `${baselines}/${body.id}`, {
    as: 'editor',
    body: { paths: ['/'] },
    headers: { 'if-match': '"1"' },
  });
  t.like(moved.body, { state: 'proposed', approvedAt: null, approvedBy: null });
  t.is((await decide(body.id, 2, 'retired')).body.state, 'retired');
});

test.serial('an empty baseline cannot be approved, and a deleted one has no effect', async (t) => {
  const { body } = await createBaseline({ name: 'Nothing', paths: ['/nowhere'] });
  t.is(body.files, 0);
  t.is((await decide(body.id, 1, 'approved')).status, 400);
  const unguarded = await harness.request('DELETE', `${baselines}/${webId}`, { as: 'editor' });
  t.is(unguarded.status, 428);
  const deleted = await harness.request('DELETE', `${baselines}/${webId}`, {
    as: 'editor',
    headers: { 'if-match': '"2"' },
  });
  t.is(deleted.status, 200);
  t.is((await harness.request('GET', `${baselines}/${webId}/files`, { as: 'viewer' })).status, 404);
  t.deepEqual(await ids(`from=${nowMs + 3_600_000}&to=${nowMs + 3_600_000}&verdict=approved`), []);
});

test.serial('another organization can see neither changes nor baselines', async (t) => {
  await land([{ id: 'of-b', agoSeconds: 10, tenant: 'b' }]);
  t.false((await ids('')).includes('of-b'));
});
