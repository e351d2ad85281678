/** Real User Monitoring over HTTP: figures compared with naive ones, paging, invalid requests, and permissions. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import fc from 'fast-check';
import '../../subjects/query-kinds.ts';
import type { QueryRequest } from '../../queries/query.ts';
import { run } from '../../queries/run.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { sourceMaps } from '../../schemas/resources/source-map.ts';
import type { RumEvent } from '../../schemas/rum.ts';
import { buildPercentileSql, computeIntervalRanks } from '../../subjects/rum/percentile.ts';
import { browserResource, type LogInput, readEvents, type SpanInput } from '../cases/rum-records.ts';
import { landIn } from '../cases/sink-tables.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const nowMs = Date.now();
const startMs = nowMs - 40 * 60_000;

const ofSession = (id: string) => {
  const session = { 'session.id': id };
  return {
    view: (path: string, atMs: number, isRoute = false): LogInput => ({
      event: 'browser.navigation',
      atMs,
      attributes: {
        ...session,
        'url.full': `https://shop.example.com${path}`,
        'browser.navigation.same_document': isRoute,
      },
    }),
    vital: (name: string, value: number, atMs: number, eventId: string): LogInput => ({
      event: 'browser.web_vital',
      atMs,
      attributes: {
        ...session,
        'browser.web_vital.name': name,
        'browser.web_vital.value': value,
        'browser.web_vital.id': eventId,
      },
    }),
    click: (element: string, atMs: number): LogInput => ({
      event: 'browser.user_action.click',
      atMs,
      attributes: { ...session, 'browser.css_selector': element },
    }),
    error: (message: string, atMs: number): LogInput => ({
      event: 'exception',
      atMs,
      attributes: {
        ...session,
        'exception.type': 'TypeError',
        'exception.message': message,
        'exception.stacktrace': `TypeError: ${message}\n    at r (https://shop.example.com/assets/app.js:1:1)`,
        'user.id': 'u1',
      },
    }),
    resource: (url: string, durationMs: number, atMs: number): LogInput => ({
      event: 'browser.resource_timing',
      atMs,
      attributes: {
        ...session,
        'url.full': url,
        'browser.document.url.full': 'https://shop.example.com/',
        'browser.resource_timing.duration': durationMs,
        'browser.resource_timing.initiator_type': 'script',
        'browser.resource_timing.transfer_size': 1000,
        'browser.resource_timing.decoded_body_size': 4000,
        'browser.resource_timing.render_blocking_status': 'blocking',
      },
    }),
    request: (url: string, atMs: number): SpanInput => ({
      span: 'HTTP GET',
      atMs,
      durationMs: 30,
      attributes: { ...session, 'http.method': 'GET', 'url.full': url, 'http.response.status_code': 500 },
    }),
  };
};

const lcpOf = (index: number): number => 1_000 + ((index * 37) % 50) * 100;
const sessionCount = 40;
const sessions: readonly (LogInput | SpanInput)[] = Array.from({ length: sessionCount }, (_, index) => {
  const { view, vital, click, error, resource, request } = ofSession(`s${String(index).padStart(2, '0')}`);
  const atMs = index * 1_000;
  return [
    view(`/product/${index}`, atMs),
    resource('https://cdn.example.com/app.js?v=1', 100 + index, atMs + 10),
    vital('lcp', 50, atMs + 100, `lcp-${index}`),
    vital('lcp', lcpOf(index), atMs + 200, `lcp-${index}`),
    ...(index % 4 === 0
      ? [view('/cart', atMs + 300, true), click('#pay', atMs + 310), error('no stock', atMs + 400)]
      : []),
    ...(index === 0 ? [request('https://shop.example.com/api/pay', atMs + 500)] : []),
  ];
}).flat();

let offset = 0;
const land = async (events: readonly RumEvent[]): Promise<void> => {
  const messages = events.map((event) => ({
    offset: offset++,
    timestampMs: nowMs,
    headers: { tenant: event.tenantId },
    value: Buffer.from(JSON.stringify([event])),
  }));
  await landIn(harness.columns)(messages, { sink: 'rum-events' });
};

test.before(async () => {
  harness = await startHarness({ now: () => nowMs, projects: ['shop'] });
  await land(readEvents(sessions, browserResource, { tenantId: 'a', atMs: startMs }));
  const { view, error } = ofSession('canary');
  const foreign = { ...browserResource, 'service.name': 'canary' };
  await land(readEvents([view('/canary', 0), error('canary', 5)], foreign, { tenantId: 'b', atMs: startMs }));
});
test.after.always(() => harness?.close());

const get = async (path: string) => {
  const { status, body } = await harness.request('GET', path, { as: 'viewer' });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  if (JSON.stringify(body).includes('canary')) throw new Error(`${path} returns data of another organization`);
  return body;
};

test('reports of a vital that arrive on different days are one sample, with the last value', async (t) => {
  // Other tests read the last hour.
  const lastMs = nowMs - 5 * 86_400_000;
  const loadedMs = lastMs - 2 * 86_400_000;
  const ids = [
    `v6-${loadedMs}-4901941614623`,
    `v6-${loadedMs + 1}-8901941614623`,
    'of-another-sdk',
    'v6-1000000000000-1',
  ];
  for (const [index, receivedMs] of [loadedMs, lastMs - 86_400_000, lastMs].entries())
    await harness.columns.execute(
      `INSERT INTO rum_events (tenant_id, project_id, received_at, timestamp, service, kind, name, session_id, page, event_id, value, partition, offset, ordinal)
      SELECT 'a', 'shop', fromUnixTimestamp64Milli(toInt64(${receivedMs}), 'UTC'), fromUnixTimestamp64Milli(toInt64(${lastMs + index}), 'UTC'), 'midnight', 'vital', 'LCP', 's', 'home', arrayJoin(['${ids.join("','")}']), ${100 * (index + 1)}, 0, ${900_000 + index}, 0`,
    );
  const range = `application=midnight&from=${new Date(lastMs - 60_000).toISOString()}&to=${new Date(lastMs + 60_000).toISOString()}`;
  const { vitals } = await get(`/api/rum/web-vitals?${range}`);
  t.like(vitals[0], { name: 'LCP', samples: ids.length, p75: 300 });
  const { vitals: searched } = await get(`/api/rum/web-vitals?${range}&search=page:home`);
  t.deepEqual(searched, vitals);
});

test('the percentile is the nearest rank of the last report of each vital', async (t) => {
  const { vitals, items } = await get('/api/rum/web-vitals?groupBy=page&trend=true');
  const sorted = Array.from({ length: sessionCount }, (_, index) => lcpOf(index)).sort((a, b) => a - b);
  const [lcp] = vitals;
  t.is(vitals.length, 1);
  t.is(lcp.samples, sessionCount);
  t.is(lcp.p75, sorted[Math.ceil(0.75 * sessionCount) - 1]);
  t.is(lcp.rating, lcp.p75 <= 2500 ? 'good' : lcp.p75 <= 4000 ? 'needs-improvement' : 'poor');
  t.is(lcp.distribution.good, sorted.filter((value) => value <= 2500).length);
  t.is(lcp.distribution.good + lcp.distribution.needsImprovement + lcp.distribution.poor, sessionCount);
  t.true(lcp.interval.low <= lcp.p75 && lcp.p75 <= lcp.interval.high);
  t.deepEqual(
    items.map(({ value }: { value: string }) => value),
    ['shop.example.com/product/*'],
  );
});

test('fewer than 30 samples have no rating, and few have no interval', async (t) => {
  const { vitals } = await get('/api/rum/web-vitals?search=sessionId:s01');
  t.like(vitals[0], { samples: 1, p75: lcpOf(1), rating: null, interval: null });
});

test('the percentile in SQL is the nearest rank, with the ranks of its interval', async (t) => {
  const { p75, low, high } = buildPercentileSql('sorted', 'samples');
  const samples = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 400 });
  await fc.assert(
    fc.asyncProperty(samples, async (values) => {
      const sorted = values.toSorted((left, right) => left - right);
      const [row] = await harness.columns.query<{ p75: number; low: number | null; high: number | null }>(
        `SELECT ${p75} AS p75, ${low} AS low, ${high} AS high FROM (SELECT arraySort([${values.map((value) => `toFloat64(${value})`).join(',')}]) AS sorted, length(sorted) AS samples)`,
      );
      const [lowRank, highRank] = computeIntervalRanks(values.length);
      t.is(row?.p75, sorted[Math.ceil(0.75 * values.length) - 1]);
      t.is(row?.low, lowRank === 0 ? null : (sorted[lowRank - 1] ?? null));
      t.is(row?.high, highRank === 0 ? null : (sorted[highRank - 1] ?? null));
    }),
    { numRuns: 60 },
  );
});

test('the interval covers the true percentile in 95 % of samples', (t) => {
  for (const count of [15, 30, 100, 200, 1_000]) {
    const [low, high] = computeIntervalRanks(count);
    let probability = 0;
    let term = 0.25 ** count;
    for (let below = 0; below <= count; below++) {
      if (below >= low && below < high) probability += term;
      term *= ((count - below) / (below + 1)) * 3;
    }
    // Terms of a thousand samples underflow.
    if (count <= 200) t.true(probability >= 0.95, `${count}: ${probability}`);
    t.true(low >= 1 && high <= count);
  }
});

test('sessions have the counts of their events, and pages of a list neither skip nor repeat them', async (t) => {
  const seen: string[] = [];
  let cursor = '';
  do {
    const body = await get(`/api/rum/sessions?limit=7&sort=-startedAt${cursor}`);
    seen.push(...body.items.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
  } while (cursor !== '');
  t.deepEqual(seen, Array.from({ length: sessionCount }, (_, index) => `s${String(index).padStart(2, '0')}`).reverse());
  const { items } = await get('/api/rum/sessions?hasErrors=true&sort=startedAt');
  t.is(items.length, sessionCount / 4);
  t.like(items[0], {
    id: 's00',
    application: 'shop-web',
    views: 2,
    actions: 1,
    errors: 1,
    frustrations: 1,
    resources: 2,
    entryPage: 'shop.example.com/product/*',
    exitPage: 'shop.example.com/cart',
    browser: 'Chrome',
    device: 'desktop',
    release: '1.4.0',
    isActive: false,
  });
  const filtered = async (query: string): Promise<number> => (await get(`/api/rum/sessions?${query}`)).items.length;
  t.is(await filtered('search=name:error_click'), sessionCount / 4);
  t.is(await filtered('page=shop.example.com/cart'), sessionCount / 4);
  t.is(await filtered('browser=Firefox'), 0);
  t.is(await filtered('minDurationMs=450'), 1);
  t.is(await filtered('isActive=true'), 0);
});

test('a session has its events in one order, each vital once, with offsets', async (t) => {
  const { session, items, nextCursor } = await get('/api/rum/sessions/s00?limit=3');
  t.is(session.id, 's00');
  const rest = await get(`/api/rum/sessions/s00?limit=100&cursor=${nextCursor}`);
  const events: { kind: string; offsetMs: number; value: number | null; traceId: string | null }[] = [
    ...items,
    ...rest.items,
  ];
  t.deepEqual(
    events.map(({ kind, offsetMs }) => [kind, offsetMs]),
    [
      ['view', 0],
      ['resource', 10],
      ['vital', 200],
      ['view', 300],
      ['action', 310],
      ['error', 400],
      ['frustration', 400],
      ['request', 500],
    ],
  );
  t.is(events[2]?.value, lcpOf(0));
  t.is(events[7]?.traceId, '0af7651916cd43dd8448eb211c80319c');
  const errors = await get('/api/rum/sessions/s00?kind=error,action');
  t.is(errors.items.length, 2);
});

test('errors are grouped with their sessions', async (t) => {
  const { items } = await get('/api/rum/errors');
  t.is(items.length, 1);
  t.like(items[0], {
    type: 'TypeError',
    message: 'no stock',
    count: sessionCount / 4,
    sessions: sessionCount / 4,
    users: 1,
    pages: ['shop.example.com/cart'],
    browsers: ['Chrome'],
  });
  t.is(items[0].last.sessionId, 's36');
});

const sourceMap = {
  version: 3,
  file: 'app.js',
  sources: ['../src/stock.ts'],
  sourcesContent: ['export const reserve = (): never => { throw new TypeError("no stock"); };'],
  names: [],
  mappings: 'AAAqC',
};
const upload = (query: string, body: unknown, as: 'editor' | 'viewer' = 'editor') =>
  harness.request('POST', `/api/rum/source-maps?${query}`, { as, body });

test('frames of errors are mapped when they are read, also by maps that were uploaded later', async (t) => {
  const readFrames = async () => {
    const headers = { 'cache-control': 'no-cache' };
    const { body } = await harness.request('GET', '/api/rum/errors', { as: 'viewer', headers });
    return body.items[0].last.frames;
  };
  t.like(await readFrames(), [{ function: 'r', unmappedReason: 'no-map', generated: null }]);
  const { status, body } = await upload('application=shop-web&release=1.4.0&file=assets/app.js', sourceMap);
  t.is(status, 200);
  t.like(body, { items: [{ file: 'assets/app.js', outcome: 'created', sources: 1 }], evicted: 0 });
  t.like(await readFrames(), [
    {
      function: 'reserve',
      file: 'src/stock.ts',
      line: 1,
      column: 38,
      unmappedReason: null,
      generated: { function: 'r', file: 'https://shop.example.com/assets/app.js', line: 1, column: 1 },
    },
  ]);
  const repeated = await upload('application=shop-web&release=1.4.0&file=assets/app.js', sourceMap);
  t.like(repeated.body, { items: [{ outcome: 'unchanged' }] });
  // A source map applies only to its own organization, and no response returns its content.
  t.is(await harness.documents.forTenant('b').collection(sourceMaps).count(), 0);
  t.false(JSON.stringify(repeated.body).includes('no stock'));
});

test('an upload without a release or an ID is refused, and so is one by a viewer', async (t) => {
  const withoutRelease = await upload('application=shop-web', sourceMap);
  t.is(withoutRelease.status, 400);
  t.regex(JSON.stringify(withoutRelease.body), /release: is required/);
  const damaged = await upload('application=shop-web&release=1', { ...sourceMap, mappings: 'AAAA,A!AA' });
  t.is(damaged.status, 400);
  t.regex(JSON.stringify(damaged.body), /mappings: expected a base64 digit at character 6/);
  t.is((await upload('application=shop-web&release=1', sourceMap, 'viewer')).status, 403);
});

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const runCommand = (args: readonly string[], token: string) =>
  new Promise<{ code: number; stdout: string }>((resolve) => {
    const env = { PATH: process.env['PATH'], SOURCE_MAPS_TOKEN: token };
    execFile(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args], { env }, (error, stdout) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout }),
    );
  });

test('the command uploads a folder, with sources from the disk, and reports what was refused', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'oiq-build-'));
  mkdirSync(join(folder, 'dist/assets'), { recursive: true });
  mkdirSync(join(folder, 'src'));
  const { sourcesContent, ...withoutSources } = sourceMap;
  writeFileSync(join(folder, 'src/stock.ts'), sourcesContent[0] ?? '');
  const map = { ...withoutSources, sources: ['../../src/stock.ts'] };
  writeFileSync(join(folder, 'dist/assets/app.js.map'), JSON.stringify(map));
  writeFileSync(join(folder, 'dist/assets/app.js'), 'r();\n//# sourceMappingURL=app.js.map');
  writeFileSync(join(folder, 'dist/broken.js.map'), '{');
  const args = ['upload', join(folder, 'dist'), '--application', 'shop-web', '--release', '2.0', '--api', harness.url];
  const { stdout, code } = await runCommand(['source-maps', ...args], await harness.signIn('editor@a.example'));
  rmSync(folder, { recursive: true });
  t.is(code, 1, stdout);
  t.regex(stdout, /created {3}assets\/app\.js\.map for assets\/app\.js/);
  t.regex(stdout, /refused {3}broken\.js\.map: expected a name/);
  t.regex(stdout, /1 created, 0 replaced, 0 unchanged, 1 refused/);
});

test('resources have percentiles, bytes, cache hits and blocking time', async (t) => {
  const { items } = await get('/api/rum/resources?groupBy=url');
  const [script] = items;
  t.like(script, {
    value: 'https://cdn.example.com/app.js',
    party: 'first',
    types: ['script'],
    count: sessionCount,
    p75: 100 + Math.ceil(0.75 * sessionCount) - 1,
    bytes: 1000 * sessionCount,
    cacheHits: 0,
    cacheKnown: sessionCount,
    blocking: sessionCount,
    previousCount: 0,
    changePercent: null,
  });
  t.like(items[1], { value: 'https://shop.example.com/api/pay', count: 1, failures: 1 });
});

test('a resource that became slower than in the range before is found', async (t) => {
  const from = new Date(startMs + 20_000).toISOString();
  const to = new Date(startMs + 39_999).toISOString();
  const { items } = await get(`/api/rum/resources?from=${from}&to=${to}`);
  const [host] = items;
  t.is(host.previousCount, 20);
  t.true(host.changePercent > 0);
});

test('pages have views, sessions, exits and errors', async (t) => {
  const { items } = await get('/api/rum/pages');
  t.like(items[0], {
    page: 'shop.example.com/product/*',
    views: sessionCount,
    sessions: sessionCount,
    exits: (sessionCount * 3) / 4,
    errors: 0,
  });
  t.like(items[1], { page: 'shop.example.com/cart', views: 10, exits: 10, errors: 10, frustrations: 10 });
});

test('applications have their releases and SDKs', async (t) => {
  const { items } = await get('/api/rum/applications');
  t.is(items.length, 1);
  t.like(items[0], { name: 'shop-web', releases: ['1.4.0'], sessions: sessionCount, errors: 10, refused: [] });
});

test('panels query events as a data source, with each vital once', async (t) => {
  const query = {
    kind: 'aggregate',
    signal: 'rum',
    search: 'kind:vital AND name:LCP',
    measures: [{ function: 'count' }, { function: 'max', field: 'value' }],
  };
  const range = { from: BigInt(startMs) * 1_000_000n, to: BigInt(nowMs) * 1_000_000n };
  const plan = { ...(defaultPlans['enterprise'] as Plan), entitlements: ['rum'] };
  const { rows } = await run(
    query as QueryRequest,
    { columns: harness.columns.forTenant('a'), plan, nowMs },
    { range },
  );
  t.deepEqual(rows, [[sessionCount, 5_900]]);
});

const badRequests = [
  ['a session of another organization', '/api/rum/sessions/canary', 404],
  ['an unknown kind', '/api/rum/sessions/s00?kind=nothing', 400],
  ['a foreign cursor', '/api/rum/pages?cursor=eA', 400],
  ['an unknown group', '/api/rum/web-vitals?groupBy=weather', 400],
  ['an id of 10 kB', `/api/rum/sessions/${'x'.repeat(10_000)}`, 400],
  ['a time that is none', '/api/rum/errors?from=yesterday', 400],
  ['a search that is none', '/api/rum/errors?search=((', 400],
] as const;
for (const [title, path, expected] of badRequests)
  test(`${title} is refused with ${expected}`, async (t) => {
    const { status, body } = await harness.request('GET', path, { as: 'viewer' });
    t.is(status, expected);
    t.is(typeof body.message, 'string');
  });

test('a plan without Real User Monitoring reads nothing', async (t) => {
  const token = await harness.signIn('viewer@b.example');
  for (const path of ['sessions', 'web-vitals', 'errors', 'pages', 'resources', 'applications']) {
    const { status } = await harness.request('GET', `/api/rum/${path}`, { as: `token ${token}` });
    t.is(status, 403, path);
  }
});
