/** The area Digital Experience: applications, sessions, web vitals, pages, resources, errors and keys. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { zstdCompressSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { browserResource, type LogInput, readEvents, type SpanInput } from '../cases/rum-records.ts';
import { landIn } from '../cases/sink-tables.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { eventually } from '../waiting.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

let harness: Harness;
let chromium: Chromium;
let tab: Tab;

const element = '#pay <b>now</b>';
const message = 'no <i>stock</i>';
const toEvents = (id: string, atMs: number, lcp: number): readonly (LogInput | SpanInput)[] => {
  const session = { 'session.id': id, 'browser.document.url.full': 'https://shop.example.com/cart' };
  const vital = { 'browser.web_vital.name': 'lcp', 'browser.web_vital.value': lcp, 'browser.web_vital.id': id };
  return [
    { event: 'browser.navigation', atMs, attributes: { ...session, 'url.full': 'https://shop.example.com/cart' } },
    { event: 'browser.web_vital', atMs: atMs + 100, attributes: { ...session, ...vital } },
    {
      event: 'browser.resource_timing',
      atMs: atMs + 200,
      attributes: {
        ...session,
        'url.full': 'https://cdn.example.com/app.js',
        'browser.resource_timing.duration': 120,
        'browser.resource_timing.initiator_type': 'script',
      },
    },
  ];
};
const failing: readonly (LogInput | SpanInput)[] = [
  ...toEvents('failing', 0, 2000),
  {
    event: 'browser.user_action.click',
    atMs: 900,
    attributes: { 'session.id': 'failing', 'browser.css_selector': element },
  },
  {
    event: 'exception',
    atMs: 1000,
    attributes: {
      'session.id': 'failing',
      'exception.type': 'TypeError',
      'exception.message': message,
      'exception.stacktrace': `TypeError: ${message}\n    at pay (https://shop.example.com/app.js:1:20)`,
    },
  },
  {
    span: 'HTTP POST',
    atMs: 1100,
    durationMs: 30,
    attributes: {
      'session.id': 'failing',
      'http.method': 'POST',
      'url.full': 'https://shop.example.com/api/pay',
      'http.response.status_code': 500,
    },
  },
];

/** A recorded page of an attacker who tries to run scripts and send requests in the player. */
const createHostilePage = (hostileServer: string): object => {
  let id = 1;
  const toNode = (tagName: string, attributes: object, ...childNodes: readonly object[]): object => ({
    type: 2,
    id: ++id,
    tagName,
    attributes,
    childNodes,
  });
  const toText = (textContent: string): object => ({ type: 3, id: ++id, textContent });
  const run = 'parent.parent.isHacked = true; parent.isHacked = true; top.isHacked = true;';
  return {
    type: 0,
    id: 1,
    childNodes: [
      toNode(
        'html',
        {},
        toNode(
          'head',
          {},
          toNode('link', { rel: 'preconnect', href: hostileServer }),
          toNode('link', { rel: 'dns-prefetch', href: hostileServer }),
          toNode('link', { rel: 'stylesheet', href: `${hostileServer}/sheet.css` }),
          toNode('meta', { 'http-equiv': 'refresh', content: `0; url=${hostileServer}/refresh` }),
          toNode('base', { href: hostileServer }),
          toNode(
            'style',
            {},
            toText(
              `@import url(${hostileServer}/import.css); body { background: url(${hostileServer}/background.png) }`,
            ),
          ),
          toNode('script', { src: `${hostileServer}/script.js` }, toText(run)),
        ),
        toNode(
          'body',
          { onload: run },
          toNode('h1', { id: 'recorded' }, toText('Recorded cart')),
          toNode('img', { src: `${hostileServer}/image.png`, onerror: run }),
          toNode('img', { src: 'data:image/png;base64,AA', onerror: run }),
          toNode('iframe', { src: `${hostileServer}/frame`, srcdoc: `<script>${run}</script>` }),
          toNode('iframe', { src: `javascript:${run}` }),
          toNode('object', { data: `${hostileServer}/object` }),
          toNode('embed', { src: `${hostileServer}/embed` }),
          toNode('video', { src: `${hostileServer}/video`, autoplay: '', poster: `${hostileServer}/poster` }),
          toNode('a', { href: `javascript:${run}`, ping: `${hostileServer}/ping` }, toText('link')),
          toNode('form', { action: `${hostileServer}/form` }, toNode('input', { autofocus: '', onfocus: run })),
        ),
      ),
    ],
  };
};

let hostileServer: Server;
let evilRequests = 0;

/** Stores a recording without the masks of the receiver. */
const landRecording = async (startMs: number): Promise<void> => {
  hostileServer = createServer((_, response) => {
    evilRequests++;
    response.end('parent.isHacked = true; top.isHacked = true;');
  });
  hostileServer.on('connection', () => evilRequests++);
  await new Promise<void>((resolve) => void hostileServer.listen(0, '127.0.0.1', resolve));
  const page = createHostilePage(`http://127.0.0.1:${(hostileServer.address() as AddressInfo).port}`);
  const events = [
    { type: 4, timestamp: startMs, data: { href: 'https://shop.example.com/cart', width: 800, height: 500 } },
    { type: 2, timestamp: startMs + 1, data: { node: page, initialOffset: { top: 0, left: 0 } } },
    { type: 3, timestamp: startMs + 900, data: { source: 2, type: 2, id: 12, x: 40, y: 40 } },
    { type: 3, timestamp: startMs + 1500, data: { source: 1, positions: [{ x: 9, y: 9, id: 12, timeOffset: 0 }] } },
  ];
  const createChunk = (first: number, ofChunk: readonly { readonly timestamp: number }[]) => ({
    tenantId: 'a',
    projectId: 'shop',
    application: 'shop-web',
    sessionId: 'failing',
    tab: 't1',
    first,
    last: first + ofChunk.length - 1,
    fromMs: ofChunk[0]?.timestamp ?? 0,
    toMs: ofChunk.at(-1)?.timestamp ?? 0,
    hasSnapshot: first === 0,
    masked: 0,
    data: zstdCompressSync(JSON.stringify(ofChunk)).toString('base64'),
  });
  const chunks = [createChunk(0, events.slice(0, 3)), createChunk(7, events.slice(3))];
  const messages = chunks.map((chunk, offset) => ({
    offset,
    timestampMs: Date.now(),
    headers: { tenant: 'a' },
    value: Buffer.from(JSON.stringify(chunk)),
  }));
  await landIn(harness.columns)(messages, { sink: 'rum-replays' });
};

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness({ projects: ['shop'] }), startChromium()]);
  const startMs = Date.now() - 20 * 60_000;
  const others = Array.from({ length: 40 }, (_, index) =>
    toEvents(`s${index}`, 2000 + index * 1000, 2000 + index * 50),
  );
  const events = readEvents([...failing, ...others.flat()], browserResource, { tenantId: 'a', atMs: startMs });
  const messages = events.map((event, offset) => ({
    offset,
    timestampMs: Date.now(),
    headers: { tenant: 'a' },
    value: Buffer.from(JSON.stringify([event])),
  }));
  await landIn(harness.columns)(messages, { sink: 'rum-events' });
  await landRecording(startMs);
  const key = { name: 'Shop pages', projectId: 'shop', kind: 'browser', application: 'shop-web' };
  const body = { ...key, origins: ['https://shop.example.com'] };
  const { status } = await harness.request('POST', '/api/license-keys', { as: 'owner', body });
  if (status !== 200) throw new Error(`creating a browser key: ${status}`);
  tab = await chromium.open();
  await signInAndOpen(tab, harness.url, '/digital-experience', 'admin@a.example');
});
test.after.always(async () => {
  await chromium?.close();
  hostileServer?.close();
  await harness?.close();
});

const show = async (t: ExecutionContext, address: string, shown: string): Promise<void> => {
  await tab.go(`${harness.url}/digital-experience${address}`);
  await tab.page.locator(shown).first().waitFor();
  t.deepEqual(tab.complaints, []);
};

declare('an application shows its sessions and errors, and leads to them', async (t) => {
  const { page } = tab;
  await page.getByRole('button', { name: 'shop-web' }).click();
  const panel = page.getByRole('complementary', { name: 'Application' });
  await panel.getByText('No request was refused').waitFor();
  await assertView(t, tab, '.beside h2');
  await panel.getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('button', { name: /application: shop-web/ }).waitFor();
  await page.getByRole('combobox', { name: 'Errors' }).selectOption('with errors');
  await page
    .getByRole('row', { name: /shop-web/ })
    .nth(1)
    .waitFor({ state: 'detached' });
  await page
    .getByRole('row', { name: /shop-web/ })
    .getByRole('link')
    .click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  t.regex(page.url(), /\/sessions\/failing/);
});

declare('a session shows its events in order, and leads to its trace and error group', async (t) => {
  const { page } = tab;
  await show(t, '/sessions/failing', '.session-lanes');
  const rows = page.getByRole('row').filter({ has: page.getByText('Frustration', { exact: true }) });
  t.true((await rows.first().textContent())?.includes(element));
  const error = page.getByRole('row', { name: /TypeError/ });
  t.true((await error.textContent())?.includes(message));
  t.regex((await error.getByRole('link', { name: 'Error group' }).getAttribute('href')) ?? '', /\/errors\?.*error=/);
  const request = page.getByRole('row', { name: /POST https:\/\/shop.example.com\/api\/pay/ });
  t.regex((await request.getByRole('link', { name: 'Trace' }).getAttribute('href')) ?? '', /\/traces\/0af7651916cd/);
  await page.getByLabel('Events to show').selectOption('Errors and frustrations');
  await page.getByText('shop.example.com/cart', { exact: true }).waitFor({ state: 'detached' });
  await page.setViewportSize({ width: 390, height: 844 });
  t.is(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0);
  await assertView(t, tab, '.session-page h2 >> nth=0');
  await page.setViewportSize({ width: 1280, height: 720 });
});

declare('a recording plays next to the events, and its page runs no script and loads nothing', async (t) => {
  // A separate tab, because the browser logs everything that the player's policy blocks.
  const { page } = await chromium.open().then(async (other) => {
    await signInAndOpen(other, harness.url, '/digital-experience/sessions/failing', 'viewer@a.example');
    return other;
  });
  await page.getByRole('button', { name: 'Play the replay' }).click();
  const recorded = page.frameLocator('.replay-frame').frameLocator('.replayer-wrapper > iframe');
  await recorded.getByRole('heading', { name: 'Recorded cart' }).waitFor();
  await page.getByText('4 events are missing in 1 gap').waitFor();
  const position = page.getByRole('slider', { name: 'Position' });
  await eventually('the recording plays to its end', async () => Number(await position.inputValue()) >= 1_400);
  await page.locator('tr[aria-current]').waitFor();
  await page
    .getByRole('row', { name: /TypeError/ })
    .getByRole('button', { name: 'Play' })
    .click();
  const player = page.frame({ url: /\/rum\/player$/ });
  for (const frame of [page, player]) t.is(await frame?.evaluate('globalThis.isHacked'), undefined);
  t.is(evilRequests, 0);
  const policy = (await fetch(`${harness.url}/rum/player`)).headers.get('content-security-policy') ?? '';
  t.regex(policy, /default-src 'none'.*frame-ancestors 'self'/);
  t.notRegex(policy, /connect-src|'unsafe-eval'|https?:/);
  await page.close();
});

declare('web vitals show their rating, thresholds and groups as the API does', async (t) => {
  const { page } = tab;
  await show(t, '/web-vitals', '.vital-card');
  const { body } = await harness.request('GET', '/api/rum/web-vitals', { as: 'viewer' });
  const [lcp] = body.vitals;
  const card = page.getByRole('region', { name: 'LCP' });
  t.is(await card.locator('strong').textContent(), `${Number((lcp.p75 / 1000).toPrecision(3))} s`);
  await card
    .getByText(lcp.rating === 'good' ? 'Good' : 'Needs improvement', { exact: true })
    .first()
    .waitFor();
  await card.getByRole('img', { name: /Good up to 2.5 s, poor above 4 s/ }).waitFor();
  await page.getByLabel('Group by').selectOption('Browser');
  await page.getByRole('row', { name: /^Chrome/ }).waitFor();
  await assertView(t, tab, '.vital-card strong');
});

declare('pages, resources, errors and keys of browsers are listed', async (t) => {
  const { page } = tab;
  await show(t, '/pages', '.figures');
  await page.getByRole('row', { name: /shop.example.com\/cart/ }).waitFor();
  await show(t, '/resources', '.figures');
  await page.getByRole('row', { name: /cdn.example.com/ }).waitFor();
  await show(t, '/errors', '.figures');
  await page.getByRole('button', { name: /TypeError: no <i>stock<\/i>/ }).click();
  await page
    .getByRole('complementary', { name: 'Browser error' })
    .getByText('pay (https://shop.example.com/app.js:1:20)', { exact: true })
    .waitFor();
  await assertView(t, tab, '.beside h2');
  await show(t, '/keys', '.session-page');
  await page.getByText(/<script async src=".*\/rum\/oiq.js" data-key="oiq_pk_/).waitFor();
  await assertView(t, tab, '.session-page h2 >> nth=0');
});
