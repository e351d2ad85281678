/**
 * `npm run screenshots`: starts the product with demo data, and writes screenshots in both themes to `docs/images`.
 * The README shows them.
 */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { startChromium } from './end-to-end/chromium.ts';
import { owner, read, signIn, startOiq } from './end-to-end/oiq-process.ts';
import { eventually } from './waiting.ts';

const directory = fileURLToPath(new URL('../docs/images', import.meta.url));
/** Maximum size of a screenshot in bytes. */
const maxBytes = 120_000;
const size = { width: 1400, height: 900 };

interface Items<Item> {
  readonly items: readonly Item[];
}

const aggregate = (measure: object, search = 'kind:server') => ({
  kind: 'aggregate',
  signal: 'traces',
  search,
  measures: [measure],
  groupBy: ['service'],
});
const p95 = { function: 'percentile', field: 'duration', percentile: 95 };

const dashboard = {
  name: 'Shop',
  panels: [
    {
      id: 'requests',
      title: 'Requests by service',
      visual: { kind: 'time-series' },
      queries: [{ name: 'A', query: aggregate({ function: 'count' }) }],
      fields: { drawing: { area: 40, stack: 'normal' } },
      place: { width: 12, height: 8 },
    },
    {
      id: 'latency',
      title: 'Latency, p95',
      visual: { kind: 'time-series', legend: { form: 'table' } },
      queries: [{ name: 'A', query: aggregate(p95) }],
      fields: {
        thresholds: {
          steps: [
            { value: null, colour: 'green' },
            { value: 1_000_000_000, colour: 'red' },
          ],
        },
        drawing: { thresholds: 'lines-and-areas' },
      },
      place: { x: 12, width: 12, height: 8 },
    },
    {
      id: 'errors',
      title: 'Failed requests',
      visual: { kind: 'bar-gauge', reduce: { everyRow: true } },
      queries: [{ name: 'A', answers: 'table', query: aggregate({ function: 'count' }, 'status:error') }],
      place: { y: 8, width: 8, height: 8 },
    },
    {
      id: 'operations',
      title: 'Operations',
      visual: { kind: 'table' },
      queries: [
        {
          name: 'A',
          answers: 'table',
          query: { ...aggregate({ function: 'count' }), groupBy: ['service', 'name'] },
        },
      ],
      place: { x: 8, y: 8, width: 16, height: 8 },
    },
  ],
};

const post = async (http: string, token: string, path: string, body: object): Promise<string> => {
  const response = await fetch(`${http}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { readonly id?: string }).id ?? '';
};

/** Loads demo data; returns the addresses of the screenshots by name. */
const prepare = async (http: string): Promise<Readonly<Record<string, string>>> => {
  const token = await signIn(http);
  await post(http, token, '/api/onboarding/demo', {});
  const findSlowTraces = (): Promise<Items<{ readonly traceId: string }>> =>
    read(http, '/api/traces?scope=account&from=now-1h&search=duration%3A%3E2s&limit=1', token);
  // The demo data starts an hour ago and is sent in order.
  const findLatestTraces = (): Promise<Items<object>> =>
    read(http, '/api/traces?scope=account&from=now-10m&limit=1', token);
  await eventually('traces of the last minutes are stored', async () => (await findLatestTraces()).items.length > 0);
  const { items: services } = await read<Items<{ readonly name: string }>>(
    http,
    '/api/services?scope=account&from=now-1h',
    token,
  );
  const service = services.find(({ name }) => name.endsWith('checkout'))?.name ?? services[0]?.name ?? '';
  const [trace] = (await findSlowTraces()).items;
  const dashboardId = await post(http, token, '/api/dashboards', dashboard);
  return {
    overview: `/overview`,
    service: `/services/${encodeURIComponent(service)}`,
    trace: `/traces/${trace?.traceId}`,
    logs: `/logs`,
    dashboard: `/dashboards/${dashboardId}`,
    'panel-editor': `/dashboards/${dashboardId}?edit=true&panel=latency`,
  };
};

/** Takes a screenshot with the best quality within the size limit. */
const takePicture = async (page: Page): Promise<Buffer> => {
  const devtools = await page.context().newCDPSession(page);
  for (const quality of [90, 80, 65, 50, 35]) {
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality });
    const picture = Buffer.from(data, 'base64');
    if (picture.length <= maxBytes) return picture;
  }
  throw new Error(`a picture of ${page.url()} has more than ${maxBytes} bytes at the lowest quality`);
};

/** Resolves when the view has loaded. */
const waitUntilShown = async (page: Page): Promise<void> => {
  await page.waitForLoadState('networkidle');
  // A draft is queried shortly after its last edit.
  await delay(2_000);
  await page.waitForLoadState('networkidle');
  await page.locator('.skeleton, [aria-busy=true]').first().waitFor({ state: 'detached' });
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
};

const takePictures = async (http: string): Promise<void> => {
  const addresses = await prepare(http);
  const chromium = await startChromium();
  try {
    const { page, go, fillIn } = await chromium.open();
    await page.setViewportSize(size);
    await go(`${http}/login`);
    await fillIn({ email: owner.email, password: owner.password });
    await page.waitForSelector('#account');
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      for (const [name, address] of Object.entries(addresses)) {
        await go(`${http}${address}`);
        await waitUntilShown(page);
        const picture = await takePicture(page);
        await writeFile(join(directory, `${name}-${theme}.webp`), picture);
        console.log(`docs/images/${name}-${theme}.webp: ${picture.length} bytes`);
      }
    }
  } finally {
    await chromium.close();
  }
};

await mkdir(directory, { recursive: true });
for (const name of await readdir(directory)) if (name.endsWith('.webp')) await rm(join(directory, name));
const dataDirectory = await mkdtemp(join(tmpdir(), 'oiq-pictures-'));
const oiq = await startOiq({ dataDirectory });
try {
  await takePictures(oiq.http);
} finally {
  await oiq.stop();
  await rm(dataDirectory, { recursive: true, force: true });
}
