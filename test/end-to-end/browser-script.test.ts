/** The script for web pages in a real browser, on a page of another origin than the receiver. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import test from 'ava';
import type { Route } from 'playwright-core';
import { bind } from '../../runtime/bind.ts';
import type { ReplayChunk } from '../../schemas/rum-replays.ts';
import { topics } from '../../schemas/topics.ts';
import { openPage } from '../../web/index.ts';
import { requestTypes } from '../cases/proto/load.ts';
import { type Fixture, running } from '../contract/receivers-fixture.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { eventually } from '../waiting.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { bundleUnmaskedRecorder, leakSecrets, listSecrets, privatePage, secretOf } from './private-page.ts';

const walk = chromiumMissing === undefined ? test.serial : test.serial.skip;

let chromium: Chromium;
test.before(async () => {
  if (chromiumMissing === undefined) chromium = await startChromium();
});
test.after.always(() => chromium?.close());

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>>;
}
interface LandedEvent {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

const toObject = (attributes: readonly Attribute[] = []): LandedEvent['attributes'] =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] ?? '']));

/** Events of all requests that the receiver has published. */
const readEvents = ({ bus }: Fixture): LandedEvent[] =>
  bus.members().flatMap(({ headers, bytes }) => {
    if (headers.signal !== 'logs' || headers.format !== 'otlp') return [];
    const request = requestTypes.logs.toObject(requestTypes.logs.decode(bytes), { longs: Number }) as {
      resourceLogs: { scopeLogs: { logRecords: { eventName: string; attributes: Attribute[] }[] }[] }[];
    };
    return request.resourceLogs.flatMap(({ scopeLogs }) =>
      scopeLogs.flatMap(({ logRecords }) =>
        logRecords.map(({ eventName, attributes }) => ({ name: eventName, attributes: toObject(attributes) })),
      ),
    );
  });

const readVitalNames = (fixture: Fixture): Set<unknown> =>
  new Set(readEvents(fixture).map(({ attributes }) => attributes['browser.web_vital.name']));

const readSpanNames = ({ bus }: Fixture): string[] =>
  bus.members().flatMap(({ headers, bytes }) => {
    if (headers.signal !== 'traces') return [];
    const request = requestTypes.traces.toObject(requestTypes.traces.decode(bytes)) as {
      resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[];
    };
    return request.resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) => spans.map(({ name }) => name)),
    );
  });

interface Site extends AsyncDisposable {
  readonly fixture: Fixture;
  readonly origin: string;
  readonly apiOrigin: string;
  readonly ingestOrigin: string;
  /** `traceparent` of each request to the API */
  readonly traceparents: (string | undefined)[];
}

const createPage = (attributes: string): string => `<!doctype html><title>Shop</title>
<script src="/oiq-script.js" ${attributes}></script>
<h1>Shop</h1><button id="buy">Buy</button><button id="fail" onclick="throw new TypeError('no stock')">Fail</button>
<input id="card" value="4111111111111111">`;

/** A page with the script, and an API of another origin. `attributes` are those of the script's element. */
const openSite = async (
  attributes = '',
  respond?: (response: ServerResponse) => boolean,
  content = '',
): Promise<Site> => {
  const { browserScripts } = await openPage();
  let fixture: Fixture | undefined;
  const serveScript = (response: ServerResponse, name: 'oiq.js' | 'replay.js'): unknown =>
    response
      .writeHead(200, { 'content-type': 'text/javascript', 'access-control-allow-origin': '*' })
      .end(gunzipSync(browserScripts[name].content));
  const traceparents: (string | undefined)[] = [];
  const ingest = createServer((request, response) => {
    if (request.url === '/rum/oiq.js') serveScript(response, 'oiq.js');
    else if (request.url === '/rum/replay.js') serveScript(response, 'replay.js');
    else if (respond?.(response) !== true && fixture?.receivers.handler(request, response) !== true)
      response.writeHead(404).end();
  });
  const api = createServer((request: IncomingMessage, response) => {
    if (request.method !== 'OPTIONS') traceparents.push(request.headers['traceparent'] as string | undefined);
    const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
    response.writeHead(200, headers).end('ok');
  });
  const ingestOrigin = `http://${await bind(ingest, 'ingest', '127.0.0.1:0')}`;
  const apiOrigin = `http://${await bind(api, 'api', '127.0.0.1:0')}`;
  let html = '';
  const page = createServer((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(html));
  const origin = `http://${await bind(page, 'page', '127.0.0.1:0')}`;
  fixture = await running({ browserKey: { origins: [origin] } });
  html = createPage(
    `data-key="${fixture.browserSecret}" data-release="1.2.3" data-trace-origins="${apiOrigin}" ${attributes}`,
  ).replace('/oiq-script.js', `${ingestOrigin}/rum/oiq.js`);
  html += content;
  const opened = fixture;
  return {
    fixture,
    origin,
    apiOrigin,
    ingestOrigin,
    traceparents,
    async [Symbol.asyncDispose]() {
      for (const server of [ingest, api, page]) {
        server.closeAllConnections();
        server.close();
      }
      await opened[Symbol.asyncDispose]();
    },
  };
};

const leave = (tab: Tab): Promise<void> => tab.go('about:blank');
const hasAll = (values: ReadonlySet<unknown>, expected: readonly string[]): boolean =>
  expected.every((value) => values.has(value));
const namesOf = (events: readonly LandedEvent[]): Set<string> => new Set(events.map(({ name }) => name));

const whenPainted = `new Promise((resolve) =>
  new PerformanceObserver((list, observer) => {
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(resolve));
  }).observe({ type: 'largest-contentful-paint', buffered: true }))`;

const visit = async ({ origin, apiOrigin }: Site): Promise<Tab> => {
  const tab = await chromium.open();
  await tab.go(`${origin}/cart?token=s3cret`);
  // The first input ends the largest contentful paint, which a page without any paint does not have.
  await tab.evaluate(whenPainted);
  await tab.page.locator('#buy').click();
  await tab.page.locator('#fail').click();
  await tab.evaluate(`fetch('${apiOrigin}/stock').then((response) => response.text())`);
  await tab.evaluate(`fetch('${origin}/own').then((response) => response.text())`);
  await tab.evaluate(`history.pushState({}, '', '/checkout')`);
  return tab;
};

walk('views, vitals, clicks, errors, resources and requests of a page arrive as events of one session', async (t) => {
  await using site = await openSite();
  const tab = await visit(site);
  await leave(tab);
  const expected = [
    'session.start',
    'browser.navigation',
    'browser.navigation_timing',
    'browser.resource_timing',
    'browser.user_action.click',
    'browser.web_vital',
    'exception',
  ];
  await eventually('all events arrive', () => hasAll(namesOf(readEvents(site.fixture)), expected));
  await eventually('all vitals arrive', () => hasAll(readVitalNames(site.fixture), ['ttfb', 'fcp', 'lcp', 'cls']));
  await eventually('the span arrives', () => readSpanNames(site.fixture).length > 0);
  const events = readEvents(site.fixture);
  t.is(new Set(events.map(({ attributes }) => attributes['session.id'])).size, 1);
  const views = events.filter(({ name }) => name === 'browser.navigation');
  t.deepEqual(
    views.map(({ attributes }) => attributes['url.full']),
    [`${site.origin}/cart`, `${site.origin}/checkout`],
  );
  const clicks = events.filter(({ name }) => name === 'browser.user_action.click');
  t.deepEqual(
    clicks.map(({ attributes }) => attributes['browser.css_selector']),
    ['button#buy', 'button#fail'],
  );
  const [exception] = events.filter(({ name }) => name === 'exception');
  t.like(exception?.attributes, { 'exception.type': 'TypeError', 'exception.message': 'no stock' });
  t.true(String(exception?.attributes['exception.stacktrace']).includes('TypeError: no stock'));
  t.deepEqual(readSpanNames(site.fixture), ['HTTP GET']);
  t.is(site.traceparents.filter((header) => /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/.test(header ?? '')).length, 1);
  t.false(JSON.stringify(events).includes('s3cret'));
  t.deepEqual(
    tab.complaints.filter((complaint) => !complaint.includes('no stock')),
    [],
  );
  await tab.page.close();
});

walk('an error has the debug IDs of the bundles in its stack', async (t) => {
  await using site = await openSite();
  const tab = await chromium.open();
  await tab.go(site.origin);
  const debugId = '85314830-023f-4cf1-a267-535f4e37bb17';
  await tab.evaluate(`{
    const url = location.origin + '/app.js';
    globalThis._sentryDebugIds = { ['Error\\n    at ' + url + ':1:2']: '${debugId}', 'Error\\n    at https://a.example/b.js:1:2': 'x' };
    const error = new Error('no stock');
    error.stack = 'Error: no stock\\n    at pay (' + url + ':1:20)';
    oiq.captureError(error);
    oiq.flush();
  }`);
  await eventually('the error arrives', () => namesOf(readEvents(site.fixture)).has('exception'));
  const [error] = readEvents(site.fixture).filter(({ name }) => name === 'exception');
  t.deepEqual(JSON.parse(String(error?.attributes['exception.debug_ids'])), { [`${site.origin}/app.js`]: debugId });
  await tab.page.close();
});

walk('a click on a button that changes nothing is a dead click', async (t) => {
  await using site = await openSite();
  const tab = await chromium.open();
  await tab.go(site.origin);
  await tab.page.locator('#buy').click();
  await eventually('the dead click arrives', () => namesOf(readEvents(site.fixture)).has('browser.frustration'));
  const dead = readEvents(site.fixture).filter(({ name }) => name === 'browser.frustration');
  t.deepEqual(
    dead.map(({ attributes }) => [attributes['browser.frustration.type'], attributes['browser.css_selector']]),
    [['dead_click', 'button#buy']],
  );
  await tab.page.close();
});

walk('without consent nothing is sent or stored; with consent, what waited is sent', async (t) => {
  await using site = await openSite('data-consent="pending"');
  const tab = await visit(site);
  await tab.evaluate('oiq.flush()');
  t.deepEqual(site.fixture.bus.messages, []);
  t.is(await tab.evaluate('localStorage.length + document.cookie.length'), 0);
  await tab.evaluate(`oiq.setConsent('granted')`);
  await eventually('the events arrive', () => namesOf(readEvents(site.fixture)).has('exception'));
  t.is(await tab.evaluate('localStorage.length'), 1);
  await tab.evaluate(`oiq.setConsent('denied')`);
  t.is(await tab.evaluate('localStorage.length'), 0);
  await tab.page.close();
});

walk('Global Privacy Control counts as a denial', async (t) => {
  await using site = await openSite();
  const tab = await chromium.open();
  await tab.page.addInitScript(`Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })`);
  await tab.go(site.origin);
  await tab.evaluate('oiq.flush()');
  await leave(tab);
  t.deepEqual(
    tab.requests.filter(({ method }) => method === 'POST'),
    [],
  );
  await tab.page.close();
});

walk('after 503 with Retry-After the same events are sent again, and the page notices no error', async (t) => {
  let refusals = 0;
  await using site = await openSite('', (response) => {
    if (refusals >= 1) return false;
    refusals++;
    response.writeHead(503, { 'retry-after': '1', 'access-control-allow-origin': '*' }).end();
    return true;
  });
  const tab = await visit(site);
  await tab.evaluate('oiq.flush()');
  await eventually('the events arrive', () => namesOf(readEvents(site.fixture)).has('exception'));
  const ids = readEvents(site.fixture).filter(({ name }) => name === 'browser.navigation');
  t.is(ids.length, 2);
  t.is(refusals, 1);
  await tab.page.close();
});

walk('a session that is not in the sample sends nothing', async (t) => {
  await using site = await openSite('data-session-sample="0"');
  const tab = await visit(site);
  await leave(tab);
  t.deepEqual(
    tab.requests.filter(({ method }) => method === 'POST'),
    [],
  );
  await tab.page.close();
});

const readChunks = ({ bus }: Fixture): ReplayChunk[] =>
  bus.messages
    .filter(({ topic }) => topic === topics.rumReplays.name)
    .map(({ value }) => JSON.parse(String(value)) as ReplayChunk);
const readEventsOfChunk = ({ data }: ReplayChunk): string => zstdDecompressSync(Buffer.from(data, 'base64')).toString();
const readRecording = (fixture: Fixture): string => readChunks(fixture).map(readEventsOfChunk).join();

walk('a recorded session arrives without what was typed, also after the page is left', async (t) => {
  await using site = await openSite('data-replay-sample="1"');
  const tab = await chromium.open();
  await tab.go(site.origin);
  await tab.until(`typeof oiqRecorderHost === 'object'`);
  await eventually('the picture of the page arrives', () => readRecording(site.fixture).includes('"type":2'));
  await tab.page.locator('#card').fill('5555444433332222');
  await tab.evaluate(`document.querySelector('h1').textContent = 'Thank you'`);
  await leave(tab);
  await eventually('the last events arrive', () => readRecording(site.fixture).includes('Thank you'));
  const recording = readRecording(site.fixture);
  t.true(recording.includes('****************'));
  t.notRegex(recording, /4111111111111111|5555444433332222/);
  t.deepEqual(tab.complaints, []);
  await tab.page.close();
});

walk('a denial ends the recording, and another consent begins one of another session', async (t) => {
  await using site = await openSite('data-replay-sample="1"');
  const tab = await chromium.open();
  await tab.go(site.origin);
  const setTitle = (title: string): Promise<unknown> =>
    tab.evaluate(`document.querySelector('h1').textContent = '${title}'`);
  await eventually('the picture of the page arrives', () => readRecording(site.fixture).includes('"type":2'));
  await tab.evaluate(`oiq.setConsent('denied')`);
  await setTitle('Denied title');
  await tab.evaluate(`oiq.flush(); oiq.setConsent('granted')`);
  await setTitle('Granted title');
  // The page is not left meanwhile: a request in flight would keep the last events from being sent.
  await eventually('the second recording arrives', async () => {
    await tab.evaluate('oiq.flush()');
    return readRecording(site.fixture).includes('Granted title');
  });
  const chunks = readChunks(site.fixture);
  t.is(new Set(chunks.map(({ sessionId }) => sessionId)).size, 2);
  // The second recording begins with a picture of the page, which shows the title of that time.
  const isOfSecond = ({ sessionId }: ReplayChunk): boolean => sessionId !== chunks[0]?.sessionId;
  const texts = chunks.filter(isOfSecond).map(readEventsOfChunk).join();
  t.is(texts.split('{"type":2,"data"').length - 1, 1);
  t.true(texts.includes('Denied title'));
  t.false(
    chunks
      .filter((chunk) => !isOfSecond(chunk))
      .map(readEventsOfChunk)
      .join()
      .includes('Denied title'),
  );
  t.deepEqual(tab.complaints, []);
  await tab.page.close();
});

walk('a recording that begins while the last request of another is in flight is complete', async (t) => {
  await using site = await openSite('data-replay-sample="1"');
  const tab = await chromium.open();
  const [requested, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holdRequest = async (route: Route): Promise<void> => {
    requested.resolve();
    await released.promise;
    await route.continue();
  };
  await tab.page.route('**/rum/*/replay', holdRequest, { times: 1 });
  await tab.go(site.origin);
  await tab.evaluate('oiq.flush()');
  await requested.promise;
  await tab.evaluate(`oiq.setConsent('denied'); oiq.setConsent('granted'); oiq.flush()`);
  released.resolve();
  await eventually('both recordings arrive', async () => {
    await tab.evaluate('oiq.flush()');
    return readRecording(site.fixture).split('{"type":2,"data"').length > 2;
  });
  t.is(new Set(readChunks(site.fixture).map(({ sessionId }) => sessionId)).size, 2);
  t.deepEqual(tab.complaints, []);
  await tab.page.close();
});

walk('events of a page that is left while a request is in flight arrive, and show their texts', async (t) => {
  let isHeld = false;
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using site = await openSite('data-replay-sample="1"');
  const tab = await chromium.open();
  await tab.go(site.origin);
  await eventually('the picture of the page arrives', () => readRecording(site.fixture).includes('"type":2'));
  await tab.page.route('**/rum/*/replay', async (route) => {
    if (!isHeld) {
      isHeld = true;
      held.resolve();
      await released.promise;
    }
    await route.continue();
  });
  const setTitle = (title: string): Promise<unknown> =>
    tab.evaluate(`document.querySelector('h1').textContent = '${title}'`);
  await setTitle('First title');
  await tab.evaluate('oiq.flush()');
  await held.promise;
  await setTitle('Second title');
  await tab.evaluate(`window.dispatchEvent(new Event('pagehide'))`);
  await eventually('the last events arrive', () => readChunks(site.fixture).length > 1);
  t.false(readRecording(site.fixture).includes('First title'));
  released.resolve();
  await eventually('the first request arrives', () => readRecording(site.fixture).includes('First title'));
  // The page was only hidden, and goes on.
  await setTitle('Third title');
  await tab.evaluate('oiq.flush()');
  await eventually('texts are readable again', () => readRecording(site.fixture).includes('Third title'));
  const numbers = readChunks(site.fixture).map(({ first }) => first);
  t.is(new Set(numbers).size, numbers.length, 'no event arrives twice');
  t.deepEqual(tab.complaints, []);
  await tab.page.close();
});

walk('after a denial while the recorder is loaded, recording begins with the next consent', async (t) => {
  await using site = await openSite('data-replay-sample="1"');
  const tab = await chromium.open();
  await tab.page.route('**/rum/replay.js', async (route) => {
    await tab.evaluate(`oiq.setConsent('denied')`);
    await route.continue();
  });
  await tab.go(site.origin);
  await tab.until(`typeof oiqRecorderHost === 'object'`);
  await tab.page.locator('#card').fill('after the denial');
  await tab.evaluate('oiq.flush()');
  t.deepEqual(readChunks(site.fixture), []);
  await tab.evaluate(`oiq.setConsent('granted')`);
  await eventually('the recording arrives', () => readRecording(site.fixture).includes('{"type":2,"data"'));
  await tab.page.close();
});

walk('the minute before an error is recorded in sessions that are not', async (t) => {
  await using site = await openSite('data-replay-on-error="true"');
  const tab = await chromium.open();
  await tab.go(site.origin);
  await tab.until(`typeof oiqRecorderHost === 'object'`);
  await tab.page.locator('#buy').click();
  t.is(readRecording(site.fixture), '');
  await eventually('the minute before the error arrives', async () => {
    await tab.page.locator('#fail').click();
    return readRecording(site.fixture).includes('"type":2');
  });
  await tab.page.close();
});

/** Everything that the receiver has published, with recordings decompressed. */
const readStored = (fixture: Fixture): string =>
  [
    ...fixture.bus.messages.map(({ value }) => Buffer.from(value ?? '').toString('latin1')),
    ...fixture.bus.members().map(({ bytes }) => Buffer.from(bytes).toString('latin1')),
    readRecording(fixture),
  ].join('\n');

walk('none of 44 secrets of a page is stored, even if the page masks nothing', async (t) => {
  await using site = await openSite('data-replay-sample="1"', undefined, privatePage);
  const tab = await chromium.open();
  const recorder = await bundleUnmaskedRecorder(`${site.ingestOrigin}/rum/${site.fixture.browserSecret}/replay`);
  await tab.go(`${site.origin}/cart?coupon=${secretOf(44)}`);
  await tab.until(`typeof oiqRecorderHost === 'object'`);
  await tab.page.evaluate(recorder);
  await leakSecrets(tab);
  const [events, status, length] = (await tab.evaluate('sendRecording()')) as number[];
  t.is(status, 202);
  t.true((events ?? 0) > 20 && (length ?? 0) > 5_000);
  await leave(tab);
  await eventually('the exception arrives', () => namesOf(readEvents(site.fixture)).has('exception'));
  await eventually('both recordings arrive', () => readRecording(site.fixture).split('"type":2').length > 2);
  t.deepEqual(listSecrets(readStored(site.fixture)), []);
  await tab.page.close();
});

test('the script takes at most 15 kB, and the recorder at most 40 kB', async (t) => {
  const { browserScripts } = await openPage();
  t.true(browserScripts['oiq.js'].content.length <= 15_000, `${browserScripts['oiq.js'].content.length}`);
  t.true(browserScripts['replay.js'].content.length <= 40_000, `${browserScripts['replay.js'].content.length}`);
});
