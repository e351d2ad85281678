/** How records of browser SDKs become events, by the names that each SDK sends. */
import test from 'ava';
import { rumEvents } from '../../processors/rum/rum-events.ts';
import type { RumEvent } from '../../schemas/rum.ts';
import { browserResource, type LogInput, readEvents, readReports, type SpanInput } from './rum-records.ts';
import { TaskRun } from './run-task.ts';

const session = { 'session.id': 's1' };
const faroMeta = {
  sdk_name: 'faro-web',
  sdk_version: '2.12.1',
  session_id: 's1',
  page_url: 'https://shop.example.com/cart',
  browser_mobile: false,
  view_name: 'cart',
};

const cases: readonly (readonly [
  title: string,
  record: LogInput | SpanInput,
  expected: readonly Partial<RumEvent>[],
])[] = [
  [
    'a web vital of the SDK of OpenTelemetry',
    {
      event: 'browser.web_vital',
      attributes: {
        ...session,
        'browser.web_vital.name': 'lcp',
        'browser.web_vital.value': 2612.5,
        'browser.web_vital.id': 'v5-1',
        'browser.web_vital.rating': 'needs-improvement',
        'browser.web_vital.navigation_type': 'navigate',
      },
    },
    [
      {
        kind: 'vital',
        name: 'LCP',
        value: 2612.5,
        eventId: 'v5-1',
        rating: 'needs-improvement',
        navigationType: 'navigate',
        sessionId: 's1',
        application: 'shop-web',
        release: '1.4.0',
        browser: 'Chrome',
        os: 'macOS',
        device: 'desktop',
      },
    ],
  ],
  [
    'a web vital without a rating',
    { event: 'browser.web_vital', attributes: { 'browser.web_vital.name': 'CLS', 'browser.web_vital.value': 0.3 } },
    [{ kind: 'vital', name: 'CLS', value: 0.3, rating: 'poor', sessionId: '' }],
  ],
  [
    'a web vital without a number',
    { event: 'browser.web_vital', attributes: { 'browser.web_vital.name': 'lcp', 'browser.web_vital.value': 'NaN' } },
    [],
  ],
  [
    'a navigation to a page',
    {
      event: 'browser.navigation',
      attributes: { 'url.full': 'https://shop.example.com/', 'browser.navigation.same_document': false },
    },
    [{ kind: 'view', url: 'https://shop.example.com/', navigationType: '' }],
  ],
  [
    'a navigation within a page',
    {
      event: 'browser.navigation',
      attributes: {
        'url.full': 'https://shop.example.com/cart',
        'browser.navigation.same_document': true,
        'browser.navigation.type': 'push',
      },
    },
    [{ kind: 'view', navigationType: 'route' }],
  ],
  [
    'a change of the fragment',
    {
      event: 'browser.navigation',
      attributes: { 'browser.navigation.same_document': true, 'browser.navigation.hash_change': true },
    },
    [{ kind: 'navigation', name: 'hash_change' }],
  ],
  [
    'a navigation timing',
    {
      event: 'browser.navigation_timing',
      attributes: {
        'url.full': 'https://shop.example.com/',
        'browser.resource_timing.domain_lookup_start': 10,
        'browser.resource_timing.domain_lookup_end': 14,
        'browser.resource_timing.connect_start': 14,
        'browser.resource_timing.secure_connection_start': 20,
        'browser.resource_timing.connect_end': 40,
        'browser.resource_timing.request_start': 41,
        'browser.resource_timing.response_start': 141,
        'browser.resource_timing.response_end': 161,
        'browser.navigation_timing.dom_interactive': 300,
        'browser.navigation_timing.load_event_end': 0,
      },
    },
    [
      {
        kind: 'navigation',
        phases: { dns: 4, connect: 26, tls: 20, waiting: 100, download: 20, domInteractive: 300 },
      },
    ],
  ],
  [
    'a resource timing',
    {
      event: 'browser.resource_timing',
      attributes: {
        'url.full': 'https://cdn.example.com/app.js',
        'browser.document.url.full': 'https://shop.example.com/',
        'browser.resource_timing.duration': 31.5,
        'browser.resource_timing.initiator_type': 'script',
        'browser.resource_timing.transfer_size': 0,
        'browser.resource_timing.decoded_body_size': 9000,
        'browser.resource_timing.render_blocking_status': 'blocking',
      },
    },
    [
      {
        kind: 'resource',
        target: 'https://cdn.example.com/app.js',
        url: 'https://shop.example.com/',
        host: 'cdn.example.com',
        isFirstParty: true,
        durationMs: 31.5,
        resourceType: 'script',
        bytes: 0,
        isCached: true,
        isBlocking: true,
      },
    ],
  ],
  [
    'a click',
    {
      event: 'browser.user_action.click',
      attributes: { ...session, 'browser.css_selector': '#buy', 'browser.page.x': 4, 'browser.tag_name': 'BUTTON' },
    },
    [
      {
        kind: 'action',
        name: 'click',
        element: '#buy',
        attributes: { 'browser.page.x': '4', 'browser.tag_name': 'BUTTON' },
      },
    ],
  ],
  [
    'an exception',
    {
      event: 'exception',
      attributes: {
        'exception.type': 'TypeError',
        'exception.message': 'x is undefined',
        'exception.stacktrace': 'TypeError: x is undefined\n    at pay (https://shop.example.com/app.js:1:20)',
      },
    },
    [{ kind: 'error', errorType: 'TypeError', message: 'x is undefined' }],
  ],
  [
    'a call of the console',
    { event: 'browser.console', attributes: { 'browser.console.method': 'warn' }, body: 'slow' },
    [{ kind: 'log', name: 'warn', message: 'slow' }],
  ],
  ['the start of a session', { event: 'session.start', attributes: session }, [{ kind: 'session', name: 'start' }]],
  [
    'an event of the application',
    { event: 'checkout.completed', attributes: { total: '12' } },
    [{ kind: 'custom', name: 'checkout.completed', attributes: { total: '12' } }],
  ],
  ['a replay chunk', { attributes: { 'rr-web.event': '{}', 'rr-web.chunk': 1 } }, []],
  [
    'vitals of Faro',
    {
      attributes: { ...faroMeta, kind: 'measurement', type: 'web-vitals', value_lcp: 900, context_id: 'v4-1' },
    },
    [{ kind: 'vital', name: 'LCP', value: 900, eventId: 'v4-1', rating: 'good', route: 'cart', sdk: 'faro-web' }],
  ],
  [
    'an exception of Faro',
    { attributes: { ...faroMeta, kind: 'exception', 'exception.type': 'Error', 'exception.message': 'no' } },
    [{ kind: 'error', errorType: 'Error', message: 'no', url: 'https://shop.example.com/cart' }],
  ],
  [
    'the name of the first view of Faro',
    {
      attributes: {
        ...faroMeta,
        kind: 'event',
        event_name: 'view_changed',
        event_data_fromView: 'unknown',
        event_data_toView: 'cart',
      },
    },
    [{ kind: 'navigation', name: 'view_name', route: 'cart' }],
  ],
  [
    'a change of the view of Faro',
    {
      attributes: {
        ...faroMeta,
        kind: 'event',
        event_name: 'view_changed',
        event_data_fromView: 'home',
        event_data_toView: 'cart',
      },
    },
    [{ kind: 'view', navigationType: 'route', route: 'cart' }],
  ],
  [
    'a resource of Faro',
    {
      attributes: {
        ...faroMeta,
        kind: 'event',
        event_name: 'faro.performance.resource',
        event_data_name: 'https://api.example.net/v1',
        event_data_duration: '88',
        event_data_initiatorType: 'fetch',
        event_data_responseStatus: '503',
      },
    },
    [{ kind: 'resource', durationMs: 88, status: 503, isFirstParty: false, resourceType: 'fetch' }],
  ],
  [
    'a record of Faro as the collector writes it',
    {
      attributes: { kind: 'event' },
      body: 'timestamp=2026-01-01T00:00:00Z kind=event event_name="faro.performance.navigation" event_data_name=https://shop.example.com/ event_data_dnsLookupTime=7 sdk_name=faro session_id=s1 page_url="https://shop.example.com/"',
    },
    [{ kind: 'view', sessionId: 's1', url: 'https://shop.example.com/', phases: { dns: 7 } }],
  ],
  [
    'vitals of Splunk and HyperDX',
    {
      span: 'webvitals',
      attributes: { 'rum.sessionId': 's1', lcp: 4100, 'location.href': 'https://shop.example.com/' },
    },
    [{ kind: 'vital', name: 'LCP', value: 4100, rating: 'poor', sessionId: 's1' }],
  ],
  [
    'a frustration of Splunk',
    { span: 'frustration', attributes: { frustration_type: 'dead', target_xpath: '//a', 'splunk.rumSessionId': 's1' } },
    [{ kind: 'frustration', name: 'dead_click', element: '//a' }],
  ],
  [
    'a change of the route of Splunk',
    {
      span: 'routeChange',
      attributes: { 'location.href': 'https://shop.example.com/a', 'prev.href': 'https://shop.example.com/' },
    },
    [{ kind: 'view', navigationType: 'route', referrer: 'https://shop.example.com/' }],
  ],
  [
    'the load of a document',
    {
      span: 'documentLoad',
      durationMs: 900,
      attributes: { 'url.full': 'https://shop.example.com/' },
      events: [
        { name: 'fetchStart', atMs: 0 },
        { name: 'requestStart', atMs: 30 },
        { name: 'responseStart', atMs: 130 },
        { name: 'loadEventEnd', atMs: 900 },
      ],
    },
    [{ kind: 'view', durationMs: 900, phases: { waiting: 100, load: 900 } }],
  ],
  [
    'a request with its trace',
    {
      span: 'HTTP GET',
      durationMs: 44,
      attributes: { 'http.method': 'GET', 'http.url': 'https://shop.example.com/api/cart', 'http.status_code': 200 },
    },
    [
      {
        kind: 'request',
        method: 'GET',
        status: 200,
        durationMs: 44,
        target: 'https://shop.example.com/api/cart',
        traceId: '0af7651916cd43dd8448eb211c80319c',
      },
    ],
  ],
  [
    'a click of the instrumentation of interactions',
    {
      span: 'click',
      attributes: { event_type: 'click', target_xpath: '//button', 'url.full': 'https://shop.example.com/' },
    },
    [{ kind: 'action', name: 'click', element: '//button', url: 'https://shop.example.com/' }],
  ],
  [
    'another listener of a click',
    { span: 'click', isChild: true, attributes: { event_type: 'click', target_xpath: '//button', 'http.url': '/' } },
    [],
  ],
  [
    'a request that failed with an exception',
    {
      span: 'HTTP POST',
      attributes: { 'url.full': 'https://shop.example.com/api/pay' },
      events: [
        { name: 'exception', atMs: 5, attributes: { 'exception.type': 'TypeError', 'exception.message': 'no' } },
      ],
    },
    [{ kind: 'request' }, { kind: 'error', errorType: 'TypeError' }],
  ],
];
for (const [title, record, expected] of cases)
  test(`${title} becomes an event`, (t) => {
    const events = readReports([record]);
    t.is(events.length, expected.length);
    for (const [index, event] of expected.entries()) t.like(events[index], event);
  });

test('records of servers are not events', (t) => {
  t.deepEqual(readReports([{ body: 'started', attributes: { kind: 'event' } }], { 'service.name': 'cart' }), []);
  t.deepEqual(readReports([{ span: 'GET /' }], { 'service.name': 'cart', 'telemetry.sdk.language': 'nodejs' }), []);
});

test('ids of 10 kB stay different, and no text exceeds its limit', (t) => {
  const long = 'x'.repeat(10_000);
  const [first, second] = readReports([
    { event: 'a', attributes: { 'session.id': `${long}1`, 'url.full': long, note: long } },
    { event: 'a', attributes: { 'session.id': `${long}2` } },
  ]);
  t.not(first?.sessionId, second?.sessionId);
  t.true((first?.sessionId.length ?? 0) <= 128);
});

const view = (url: string, atMs: number, type = false): LogInput => ({
  event: 'browser.navigation',
  atMs,
  attributes: { ...session, 'url.full': url, 'browser.navigation.same_document': type },
});
const click = (element: string, atMs: number): LogInput => ({
  event: 'browser.user_action.click',
  atMs,
  attributes: { ...session, 'browser.css_selector': element },
});
const vital = (name: string, value: number, atMs: number): LogInput => ({
  event: 'browser.web_vital',
  atMs,
  attributes: { ...session, 'browser.web_vital.name': name, 'browser.web_vital.value': value },
});

test('events belong to the view before them, and vitals to the document', (t) => {
  const events = readEvents([
    view('https://shop.example.com/product/17', 0),
    click('#a', 100),
    view('https://shop.example.com/cart', 1_000, true),
    click('#b', 1_100),
    vital('lcp', 900, 2_000),
  ]);
  t.deepEqual(
    events.map(({ kind, page }) => [kind, page]),
    [
      ['view', 'shop.example.com/product/*'],
      ['action', 'shop.example.com/product/*'],
      ['view', 'shop.example.com/cart'],
      ['action', 'shop.example.com/cart'],
      ['vital', 'shop.example.com/product/*'],
    ],
  );
  t.is(events[4]?.viewId, events[0]?.viewId);
  t.not(events[2]?.viewId, events[0]?.viewId);
});

test('a document reported by two instrumentations is one view', (t) => {
  const events = readEvents([
    view('https://shop.example.com/', 0),
    { span: 'documentLoad', atMs: 5, attributes: { ...session, 'url.full': 'https://shop.example.com/' } },
  ]);
  t.deepEqual(
    events.map(({ kind }) => kind),
    ['view', 'navigation'],
  );
});

test('a page loaded twice within seconds is two views', (t) => {
  const events = readEvents([view('https://shop.example.com/', 0), view('https://shop.example.com/', 3_000)]);
  t.deepEqual(
    events.map(({ kind }) => kind),
    ['view', 'view'],
  );
});

test('three clicks on an element within a second are a rage click, reported once', (t) => {
  const clicks = [0, 200, 400, 500, 600].map((atMs) => click('#pay', atMs));
  const events = readEvents([view('https://shop.example.com/', 0), ...clicks, click('#other', 650)]);
  const signs = events.filter(({ kind }) => kind === 'frustration');
  t.deepEqual(
    signs.map(({ name, element }) => [name, element]),
    [['rage_click', '#pay']],
  );
});

test('a click within a second before an error is a frustration', (t) => {
  const error = (atMs: number): LogInput => ({
    event: 'exception',
    atMs,
    attributes: { ...session, 'exception.type': 'Error', 'exception.message': 'no' },
  });
  const signsOf = (records: readonly LogInput[]): (readonly [string, string])[] =>
    readEvents(records)
      .filter(({ kind }) => kind === 'frustration')
      .map(({ name, element }) => [name, element]);
  t.deepEqual(signsOf([click('#pay', 0), error(900)]), [['error_click', '#pay']]);
  t.deepEqual(signsOf([error(900), click('#pay', 0)]), [['error_click', '#pay']]);
  t.deepEqual(signsOf([click('#pay', 0), error(1_500)]), []);
});

test('an event of our script that arrives again is dropped, in any order, also after a restart', (t) => {
  const run = new TaskRun(rumEvents);
  const load = '0123456789abcdef';
  const toReport = (number: number): RumEvent => ({
    ...(readReports([{ event: 'browser.user_action.click', attributes: session }])[0] as RumEvent),
    eventId: `${load}-${number}`,
  });
  run.values([0, 1, 3].map(toReport));
  run.restart();
  run.values([2, 3, 1, 4].map(toReport));
  t.deepEqual(
    run.emitted<RumEvent>().map(({ eventId }) => eventId),
    [0, 1, 3, 2, 4].map((number) => `${load}-${number}`),
  );
});

test('an application has at most 1,000 page groups, and further pages are other', (t) => {
  const run = new TaskRun(rumEvents);
  const letters = (index: number): string => [...String(index)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
  const reports = readReports([{ event: 'a', attributes: { 'page.url': 'https://shop.example.com/' } }]);
  const [report] = reports as [RumEvent];
  run.values(
    Array.from({ length: 1_002 }, (_, index) => ({ ...report, url: `https://x.example/page-${letters(index)}x` })),
  );
  run.values([{ ...report, url: 'https://x.example/page-ax' }]);
  const pages = run.emitted<RumEvent>().map(({ page }) => page);
  t.is(new Set(pages).size, 1_001);
  t.deepEqual(pages.slice(-3), ['other', 'other', 'x.example/page-ax']);
});

test('an error has the bundle id of its resource, by which source maps are found', (t) => {
  const error = { event: 'exception', attributes: { ...session, 'exception.type': 'TypeError' } };
  const [event] = readEvents([error], { ...browserResource, app_bundle_id: 'b-1' });
  t.is(event?.attributes['app_bundle_id'], 'b-1');
});
