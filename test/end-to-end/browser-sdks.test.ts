/** Browser SDKs in a real browser: the API has each measurement of the page once, also after `kill -9`. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { build } from 'esbuild';
import type { showReplay } from '../../api/groups/rum/replay.ts';
import type { showRumSession } from '../../api/groups/rum/session.ts';
import { bind } from '../../runtime/bind.ts';
import type { RumEventKind } from '../../schemas/rum.ts';
import type { ResponseBody } from '../../web/client/call.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { freePorts } from '../services/ports.ts';
import { eventually } from '../waiting.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { type OiqProcess, type Ports, read, signIn, startOiq } from './oiq-process.ts';
import { bundleUnmaskedRecorder, leakSecrets, listSecrets, privatePage, secretOf } from './private-page.ts';

const walk = chromiumMissing === undefined ? test.serial : test.serial.skip;
/** Visits of a page with each SDK */
const visits = Number(process.env['TEST_VISITS'] ?? 2);
/** Visits at the same time */
const openTabs = 4;
/** Folder with the packages of SDKs that are too large for the tests */
const packages = process.env['TEST_SDK_PACKAGES'];

type SessionEvent = ResponseBody<typeof showRumSession>['items'][number];

interface Measured {
  readonly clicks: readonly string[];
  readonly errors: readonly string[];
  readonly views: readonly string[];
  readonly vitals: Readonly<Record<string, number>>;
  /** Events of rrweb, in the order in which the SDK read them. */
  readonly recorded: readonly { readonly timestamp: number }[];
  /** Number of them that the SDK had when the page was hidden. Later ones may be sent too. */
  readonly recordedBeforeHidden: number;
  readonly resources: readonly {
    readonly name: string;
    readonly duration: number;
    readonly transferSize: number;
    readonly decodedBodySize: number;
  }[];
}

interface Sdk {
  readonly name: string;
  /** Kinds of events that the SDK sends without further configuration. */
  readonly kinds: readonly RumEventKind[];
  /** Whether durations are whole milliseconds. */
  readonly roundsDurations?: boolean;
  /** Whether changes of the route are views only if the page names them. */
  readonly hasNamedRoutes?: boolean;
  /** Whether the SDK records the session. */
  readonly isRecorded?: boolean;
}
const sdks: readonly Sdk[] = [
  { name: 'oiq', kinds: ['vital', 'view', 'action', 'error', 'resource'] },
  { name: 'web-vitals', kinds: ['vital'] },
  { name: 'opentelemetry', kinds: ['vital', 'view', 'action', 'error', 'resource'] },
  { name: 'trace-web', kinds: ['request'] },
  { name: 'faro', kinds: ['vital', 'view', 'error', 'resource'], roundsDurations: true, hasNamedRoutes: true },
];
/** Needs `npm install --prefix DIR @hyperdx/browser @grafana/faro-instrumentation-replay @grafana/faro-web-tracing`. */
const largeSdks: readonly Sdk[] = [
  {
    name: 'faro-replay',
    kinds: ['vital', 'view', 'error', 'resource', 'request'],
    roundsDurations: true,
    hasNamedRoutes: true,
    isRecorded: true,
  },
  { name: 'hyperdx', kinds: ['vital', 'view', 'action', 'error', 'request'], isRecorded: true },
];
const allSdks = packages === undefined ? sdks : [...sdks, ...largeSdks];

const bundle = async (name: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`browser-sdks/${name}.mjs`, import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    nodePaths: packages === undefined ? [] : [packages],
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return outputFiles[0]?.text ?? '';
};

const directory = mkdtempSync(join(tmpdir(), 'oiq-browser-sdks-'));
let running: OiqProcess | undefined;
let ports: Ports;
let chromium: Chromium;
let site: Server;
let origin: string;
let key: string;
let token: string;

const start = async (): Promise<void> => {
  running = await startOiq({ dataDirectory: directory, ports });
};
const http = (): string => `http://127.0.0.1:${ports[0]}`;

/** Documents and files of the page's site. The SDK is the first part of a path, the session the second. */
const createSite = (scripts: ReadonlyMap<string, string>): Server =>
  createServer((request, response) => {
    const [, first = '', second = ''] = new URL(request.url ?? '', 'http://site').pathname.split('/');
    const respond = (type: string, content: string): unknown =>
      response.writeHead(200, { 'content-type': type }).end(content);
    const script = first === 'scripts' ? scripts.get(second) : undefined;
    if (script !== undefined) return respond('text/javascript', script);
    if (first === 'style.css') return respond('text/css', 'h1 { color: #333 }');
    if (first === 'stock') return respond('application/json', JSON.stringify({ stock: 7 }));
    if (first === 'private')
      return respond(
        'text/html',
        `<script src="/scripts/measure"></script>${createScriptTag('data-replay-sample="1"')}${privatePage}`,
      );
    return respond('text/html', createPage(first, second));
  });

const createScriptTag = (attributes: string): string =>
  `<script src="${http()}/rum/oiq.js" data-key="${key}" ${attributes}></script>`;

const createPage = (sdk: string, session: string): string => `<!doctype html><title>Shop</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css?a=${session}">
<script>window.visit = ${JSON.stringify({ endpoint: `${http()}/rum/${key}`, session })}</script>
<script src="/scripts/measure"></script>
<script>window.readSession = () => JSON.parse(localStorage.getItem('oiq-session'))?.id ?? visit.session</script>
${sdk === 'oiq' ? createScriptTag('data-release="1.2.3"') : `<script src="/scripts/${sdk}"></script>`}
<h1>Shop</h1><p>${'A long description of a product. '.repeat(40)}</p>
<button id="slow">Slow</button><button id="fail">Fail</button>
<script>
  document.querySelector('#slow').addEventListener('click', () => {
    const end = performance.now() + 120;
    while (performance.now() < end);
    document.title = 'Cart';
  });
  document.querySelector('#fail').addEventListener('click', () => {
    throw new TypeError('no stock of ${session}');
  });
  setTimeout(() => document.querySelector('h1').insertAdjacentHTML('beforebegin', '<div style="height: 90px"></div>'), 50);
</script>`;

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  ports = (await freePorts(3)) as unknown as Ports;
  const names = ['measure', ...allSdks.map(({ name }) => name).filter((name) => name !== 'oiq')];
  const scripts = new Map(await Promise.all(names.map(async (name) => [name, await bundle(name)] as const)));
  site = createSite(scripts);
  origin = `http://${await bind(site, 'site', '127.0.0.1:0')}`;
  [chromium] = await Promise.all([startChromium(), start()]);
  token = await signIn(http());
  const projects = await read<{ readonly items: readonly { readonly id: string }[] }>(http(), '/api/projects', token);
  const response = await fetch(`${http()}/api/license-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'Pages',
      projectId: projects.items[0]?.id,
      kind: 'browser',
      application: 'shop-web',
      origins: [origin],
    }),
  });
  const created = (await response.json()) as { readonly key?: string };
  if (created.key === undefined) throw new Error(`the key was not created: ${JSON.stringify(created)}`);
  key = created.key;
  await eventually('the key is known', async () => {
    const beacon = await fetch(`${http()}/rum/${key}/v1/logs`, { method: 'POST', headers: { origin }, body: '{}' });
    await beacon.arrayBuffer();
    return beacon.ok;
  });
});
test.after.always(async () => {
  await chromium?.close();
  await running?.kill();
  site?.closeAllConnections();
  site?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Tracks requests to the receiver: whether all have responses. */
const watchRequests = ({ page }: Tab): { readonly settled: () => boolean; readonly acknowledged: () => number } => {
  const open = new Set<unknown>();
  let acknowledged = 0;
  const isIntake = (url: string): boolean => url.includes(`/rum/${key}/`);
  page.on('request', (request) => {
    if (isIntake(request.url())) open.add(request);
  });
  page.on('requestfailed', (request) => open.delete(request));
  page.on('response', (response) => {
    if (!isIntake(response.url())) return;
    open.delete(response.request());
    if (response.ok() && response.request().method() === 'POST') acknowledged++;
  });
  return { settled: () => open.size === 0, acknowledged: () => acknowledged };
};

/** Largest paint and layout shift have happened. */
const isPainted = `performance.getEntriesByType('paint').length > 0 && document.querySelector('div') !== null`;

interface Visit {
  readonly session: string;
  readonly measured: Measured;
}

/** Visits the page. Returns the page's own measurements once the receiver has acknowledged them all. */
const visit = async (sdk: string, name: string, interrupt?: (tab: Tab) => Promise<void>): Promise<Visit> => {
  const tab = await chromium.open();
  const { settled, acknowledged } = watchRequests(tab);
  await tab.go(`${origin}/${sdk}/${name}`);
  await tab.until(isPainted);
  await tab.evaluate(`new Promise((resolve) => setTimeout(resolve, 600))`);
  await tab.page.locator('#slow').click();
  await tab.page.locator('#fail').click();
  await tab.evaluate(`fetch('/stock?of=${name}').then((response) => response.json())`);
  await tab.until(`readMeasured().resources.some(({ name }) => name.includes('/stock'))`);
  await interrupt?.(tab);
  await tab.evaluate(`history.pushState({}, '', '/${sdk}/${name}/checkout')`);
  // Observers are called after the frame in which their entries were made.
  await tab.evaluate(`new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 100)))`);
  const recordedBeforeHidden = (await tab.evaluate('hidePage(), readMeasured().recorded.length')) as number;
  if (sdk === 'oiq') await tab.evaluate('oiq.flush()');
  const measured = (await tab.evaluate('readMeasured()')) as Measured;
  const before = acknowledged();
  if (interrupt !== undefined) await eventually('the requests are repeated', () => acknowledged() > before);
  // These SDKs send what is reported while the page is hidden with their next batch.
  const batchMs = largeSdks.some(({ name: large }) => large === sdk) ? 5_000 : 300;
  await tab.evaluate(`new Promise((resolve) => setTimeout(resolve, ${batchMs}))`);
  await eventually('all requests have responses', settled);
  const session = (await tab.evaluate('readSession()')) as string;
  const recorded = (await tab.evaluate('readMeasured().recorded')) as Measured['recorded'];
  await tab.page.close();
  return { session, measured: { ...measured, recorded, recordedBeforeHidden } };
};

/** Events of a session, also of one that has not arrived. */
const readSessionEvents = async (session: string): Promise<readonly SessionEvent[]> => {
  const path = `/api/rum/sessions/${session}?application=shop-web&limit=2000`;
  const response = await fetch(`${http()}${path}`, { headers: { authorization: `Bearer ${token}` } });
  if (response.status !== 200) return [];
  return ((await response.json()) as ResponseBody<typeof showRumSession>).items;
};

const withoutQuery = (url: string): string => url.split('?')[0] ?? '';

interface Form {
  readonly of: (measured: Measured, sdk: Sdk) => unknown[];
  readonly from: (event: SessionEvent) => unknown;
}
/** What the page measured and what the API has, by kind and in the same form. */
const forms: Readonly<Partial<Record<RumEventKind, Form>>> = {
  vital: {
    of: ({ vitals }) => Object.entries(vitals).map(([name, value]) => [name, value]),
    from: ({ name, value }) => [name, value],
  },
  view: {
    of: ({ views }, { hasNamedRoutes }) => views.slice(0, hasNamedRoutes ? 1 : views.length),
    from: ({ url }) => url,
  },
  action: { of: ({ clicks }) => [...clicks], from: ({ element }) => /\b(slow|fail)\b/.exec(element ?? '')?.[0] },
  error: {
    of: ({ errors }) => errors.map((text) => text.replace(/^Uncaught \w+: /, '')),
    from: ({ message }) => message,
  },
  resource: {
    of: ({ resources }, { roundsDurations }) =>
      resources.map(({ name, duration, transferSize }) => [
        withoutQuery(name),
        roundsDurations ? Math.round(duration) : duration,
        transferSize,
      ]),
    from: ({ target, durationMs, bytes }) => [target, durationMs, bytes],
  },
  request: {
    of: ({ resources }) => resources.flatMap(({ name }) => (name.includes('/stock') ? [withoutQuery(name)] : [])),
    from: ({ target }) => target,
  },
};

/** Events of a recording in the form of the API, which has no queries of URLs. */
const toStoredEvents = (events: readonly unknown[]): string[] =>
  events.map((event) => JSON.stringify(event).replace(/\?[^"\s]*/g, ''));

/** Returns all events of the recording of a session. */
const readRecording = async (session: string): Promise<readonly unknown[]> => {
  const events: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path = `/api/rum/sessions/${session}/replay${cursor === '' ? '' : `?cursor=${cursor}`}`;
    const response = await fetch(`${http()}${path}`, { headers: { authorization: `Bearer ${token}` } });
    if (response.status !== 200) return [];
    const page = (await response.json()) as ResponseBody<typeof showReplay>;
    if (page.gaps.length > 0) throw new Error(`the recording has gaps: ${JSON.stringify(page.gaps)}`);
    events.push(...page.events);
    cursor = page.nextCursor;
  }
  return events;
};

const compareRecording = async (t: ExecutionContext, { session, measured }: Visit): Promise<void> => {
  const { recorded, recordedBeforeHidden } = measured;
  t.true(recordedBeforeHidden > 1, 'the SDK recorded nothing');
  await eventually(
    `the recording of ${session}`,
    async () => (await readRecording(session)).length >= recordedBeforeHidden,
  );
  const stored = toStoredEvents(await readRecording(session));
  t.deepEqual(stored, toStoredEvents(recorded).slice(0, stored.length));
};

const sorted = (values: readonly unknown[]): string[] => values.map((value) => JSON.stringify(value)).toSorted();

const compare = async (t: ExecutionContext, sdk: Sdk, { session, measured }: Visit): Promise<void> => {
  for (const kind of sdk.kinds) {
    const form = forms[kind];
    if (form === undefined) throw new Error(`there is no form of ${kind}`);
    const expected = sorted(form.of(measured, sdk));
    t.true(expected.length > 0, `the page measured no ${kind}`);
    const readStored = async (): Promise<string[]> =>
      sorted((await readSessionEvents(session)).filter((event) => event.kind === kind).map(form.from));
    await eventually(`each ${kind} of ${session}`, async () => (await readStored()).length >= expected.length);
    t.deepEqual(await readStored(), expected, kind);
  }
};

for (const sdk of allSdks)
  walk(`what a page with ${sdk.name} measured is in the API once, with equal values`, async (t) => {
    const completedVisits: Visit[] = [];
    for (let index = 0; index < visits; index += openTabs) {
      const names = Array.from(
        { length: Math.min(openTabs, visits - index) },
        (_, tab) => `${sdk.name}-${index + tab}`,
      );
      completedVisits.push(...(await Promise.all(names.map((name) => visit(sdk.name, name)))));
    }
    const ids = new Set(completedVisits.map(({ session }) => session));
    t.is(ids.size, visits);
    for (const completed of completedVisits) {
      await compare(t, sdk, completed);
      if (sdk.isRecorded) await compareRecording(t, completed);
    }
  });

walk('events are in the API once after the server was killed during the visit', async (t) => {
  const [sdk] = sdks;
  if (sdk === undefined) throw new Error('there is no SDK');
  const completed = await visit(sdk.name, 'killed', async ({ evaluate }) => {
    // The response may be lost after the events were stored.
    await evaluate('oiq.flush()');
    await running?.kill();
    running = undefined;
    void start();
  });
  await eventually('the server is ready', () => running !== undefined);
  await compare(t, sdk, completed);
});

/** Responses of all operations that read what browsers sent. */
const readEverything = async (session: string): Promise<string> => {
  const paths = [
    ...['applications', 'sessions', 'web-vitals', 'errors', 'resources', 'pages'].map(
      (name) => `/api/rum/${name}?limit=1000`,
    ),
    '/api/rum/resources?groupBy=url&limit=1000',
    '/api/logs?scope=account&limit=1000',
    '/api/traces?scope=account&limit=1000',
    '/api/errors?limit=1000',
    '/api/dead-letter?limit=200',
    `/api/rum/sessions/${session}?limit=2000`,
    ...[session, 'unmasked'].map((id) => `/api/rum/sessions/${id}/replay`),
  ];
  return (await Promise.all(paths.map(async (path) => JSON.stringify(await read(http(), path, token))))).join('\n');
};

const readFiles = (): string =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');

walk('none of 44 secrets of a page is in a file or a response, even if the page masks nothing', async (t) => {
  const tab = await chromium.open();
  const { settled } = watchRequests(tab);
  const recorder = await bundleUnmaskedRecorder(`${http()}/rum/${key}/replay`);
  await tab.go(`${origin}/private?coupon=${secretOf(44)}`);
  await tab.until(`typeof oiqRecorderHost === 'object'`);
  await tab.page.evaluate(recorder);
  await leakSecrets(tab);
  const [events, status] = (await tab.evaluate('sendRecording()')) as number[];
  t.is(status, 202);
  const session = (await tab.evaluate(`JSON.parse(localStorage.getItem('oiq-session')).id`)) as string;
  // A dead letter of a browser has its body.
  const broken = `{"resourceLogs": [{"x": "${secretOf(1)}" broken`;
  const refused = await fetch(`${http()}/rum/${key}/v1/logs`, { method: 'POST', headers: { origin }, body: broken });
  t.is(refused.status, 400);
  await tab.evaluate('hidePage(); oiq.flush()');
  await eventually('all requests have responses', settled);
  await tab.page.close();
  const countEvents = async (id: string): Promise<number> => {
    const path = `/api/rum/sessions/${id}/replay`;
    const response = await fetch(`${http()}${path}`, { headers: { authorization: `Bearer ${token}` } });
    if (response.status !== 200) return 0;
    return ((await response.json()) as { readonly events: readonly unknown[] }).events.length;
  };
  await eventually(
    'both recordings arrive',
    async () => (await countEvents('unmasked')) >= (events ?? 0) && (await countEvents(session)) > 0,
  );
  await eventually('the error arrives', async () =>
    (await readSessionEvents(session)).some(({ kind }) => kind === 'error'),
  );
  const responses = await readEverything(session);
  t.true(responses.includes('no account'));
  t.deepEqual(listSecrets(responses), []);
  await running?.kill();
  running = undefined;
  t.deepEqual(listSecrets(readFiles()), []);
});
