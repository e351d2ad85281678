/**
 * `node test/bench/page-speed.ts [CASE …]`: how quick the page is in Chromium, beside the API that answers it: `logs`, `area`, `panels`,
 * `spans`, `map`, `live`, `refreshing`. What costs is the CPU of the page's main thread; times by the clock stand beside the load.
 */
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { logsOf, numbered } from '../contract/live-tail-harness.ts';
import { type Harness, startHarness } from '../end-to-end/api-harness.ts';
import { type Chromium, startChromium } from '../end-to-end/chromium.ts';
import { agentOf } from '../end-to-end/infrastructure-senders.ts';
import { landLogs } from '../end-to-end/landed-logs.ts';
import { landedIn, type SentSpan } from '../end-to-end/landed-spans.ts';
import { signedInAt } from '../end-to-end/page-walk.ts';
import { costOf, heapOf, type PageCost, shiftOf, watchShifts } from './page-cost.ts';
import { type Row, table } from './report.ts';

const ms = 1_000_000n;
const records = Number(process.env['BENCH_RECORDS'] ?? 20_000);
const spans = Number(process.env['BENCH_SPANS'] ?? 100_000);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 20);
const refreshes = Number(process.env['BENCH_REFRESHES'] ?? 360);
const rate = 2_000;
const trace = 'c'.repeat(32);
const endMs = Math.floor(Date.now() / 60_000) * 60_000 - 60_000;

interface Bench {
  readonly harness: Harness;
  readonly page: Page;
}
type Case = (bench: Bench) => Promise<Row[]>;

const rowOf = (what: string, { cpuMs, longestMs, wallMs }: PageCost, shift: number, more = ''): Row => ({
  ...{ what, 'CPU ms': cpuMs.toFixed(0), 'longest task, CPU ms': longestMs.toFixed(0) },
  ...{
    'layout shift': shift.toFixed(3),
    'ms by the clock': wallMs.toFixed(0),
    load: (loadavg()[0] ?? 0).toFixed(0),
    more,
  },
});

const first = (page: Page, rows: string): Promise<void> => page.locator(rows).first().waitFor({ timeout: 0 });

/** Goes to an address as somebody does who was never there. */
const newly = async ({ harness, page }: Bench, address: string, rows: string, what: string): Promise<Row> => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.clearBrowserCache');
  const cost = await costOf(page, async () => {
    await page.goto(harness.url + address);
    await first(page, rows);
  });
  await delay(1_000);
  return rowOf(what, cost, await shiftOf(page));
};

const logRows = '.records .extent .row';
const traceRows = '.traces .extent .row';

const landRecords = async (harness: Harness): Promise<void> => {
  for (let at = 0; at < records; at += 5_000)
    await landLogs(
      harness,
      Array.from({ length: Math.min(5_000, records - at) }, (_, index) => ({
        timeNs: BigInt(endMs) * ms - BigInt(at + index) * 100n * ms,
        body: `order ${at + index} was sold after ${index % 977} ms`,
        ...{ service: `shop-${index % 12}`, severity: [9, 9, 13, 17][index % 4] ?? 9 },
      })),
      { offset: at + 1 },
    );
};

const spanAt = (index: number): SentSpan => ({
  ...{
    trace,
    span: (index + 1).toString(16).padStart(16, '0'),
    service: `shop-${index % 12}`,
    name: `step ${index % 97}`,
  },
  ...(index === 0 ? {} : { parent: (Math.floor((index - 1) / 4) + 1).toString(16).padStart(16, '0') }),
  ...{
    start: BigInt(endMs - 600_000) * ms + BigInt(index) * 1_000n,
    duration: index === 0 ? 900n * ms : 40n * ms,
    kind: 2,
  },
});

const landSpans = async (harness: Harness, count: number): Promise<void> => {
  const landed = landedIn(harness);
  for (let at = 0; at < count; at += 10_000)
    await landed.spans(Array.from({ length: Math.min(10_000, count - at) }, (_, index) => spanAt(at + index)));
};

const logs: Case = async (bench) => {
  await landRecords(bench.harness);
  return [await newly(bench, '/logs', logRows, 'from the address to rows of logs')];
};

const area: Case = async (bench) => {
  const { harness, page } = bench;
  await landRecords(harness);
  await landSpans(harness, 1_000);
  await newly(bench, '/logs', logRows, '');
  const cost = await costOf(page, async () => {
    await page.getByRole('link', { name: 'Traces', exact: true }).click();
    await first(page, traceRows);
  });
  return [rowOf('from logs to rows of traces', cost, await shiftOf(page))];
};

/** Panels of one metric each, of 100 series and 300 points. */
const panels: Case = async (bench) => {
  const { harness, page } = bench;
  const times = Array.from({ length: 300 }, (_, index) => endMs - (300 - index) * 15_000);
  for (let host = 0; host < 100; host++)
    await agentOf(harness.columns, 'a').metrics({ 'service.name': 'shop', 'host.name': `host-${host}` }, [
      {
        ...{ name: 'load', unit: 'By', kind: 'gauge' },
        points: [{ values: times.map((time, index) => [time, host * 1e6 + (index % 37) * 1e4] as const) }],
      },
    ]);
  const made = await harness.ask('POST', '/api/dashboards', {
    body: {
      name: 'thirty',
      panels: Array.from({ length: 30 }, (_, index) => ({
        ...{ id: `p${index}`, title: `Panel ${index}`, visual: { kind: 'time-series' }, mostPoints: 301 },
        place: { x: (index % 3) * 8, y: Math.floor(index / 3) * 8, width: 8, height: 8 },
        queries: [
          {
            name: 'A',
            shortestStep: '15s',
            query: { kind: 'metric', metric: 'load', overTime: 'last', across: 'avg', groupBy: ['host.name'] },
          },
        ],
      })),
    },
  });
  if (made.status !== 200) throw new Error(JSON.stringify(made.body));
  await page.setViewportSize({ width: 1440, height: 4_000 });
  const { from = 0, to = 0 } = { from: times[0], to: times.at(-1) };
  const address = `/dashboards/${made.body.id}?from=${from}&to=${to}`;
  const asked = await harness.ask('POST', `/api/dashboards/${made.body.id}/query`, {
    body: { from: `${from}`, to: `${to}`, panels: ['p0'] },
  });
  // Without `mostPoints` there would be half as many.
  const [series] = asked.body.items[0].results.A.series;
  if (series.points.length !== 300) throw new Error(`${series.points.length} points in place of 300`);
  const rows = [await newly(bench, address, lastChart, '30 panels, 100 series × 300 points each')];
  for (let round = 0; round < 3; round++) rows.push(await afterData(bench, address));
  return rows;
};

const lastChart = '.panel canvas >> nth=29';

/** What panels cost once their answers come: those are held back until everything else of the page is there. */
const afterData = async ({ harness, page }: Bench, address: string): Promise<Row> => {
  const asks = (url: URL): boolean => /\/api\/dashboards\/[^/]+\/query$/.test(url.pathname);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(asks, async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(harness.url + address);
  await first(page, '.panel >> nth=29');
  await delay(1_000);
  const cost = await costOf(page, async () => {
    release();
    await first(page, lastChart);
    await delay(500);
  });
  await page.unrouteAll();
  return rowOf('the same, once their answers come', cost, await shiftOf(page));
};

const scrolled = `async (frames) => {
  const place = document.querySelector('.rows');
  for (let frame = 0; frame < frames; frame++) {
    place.scrollTop += place.clientHeight;
    await new Promise(requestAnimationFrame);
  }
}`;

const ofSpans: Case = async (bench) => {
  const { harness, page } = bench;
  await landSpans(harness, spans);
  const opened = await newly(bench, `/traces/${trace}`, '.waterfall .extent .row', `first rows of ${spans} spans`);
  const rest = await costOf(page, () =>
    page.locator(`.waterfall[aria-rowcount="${spans + 1}"]`).waitFor({ timeout: 0 }),
  );
  const frames = 200;
  const scroll = await costOf(page, () => page.evaluate(`(${scrolled})(${frames})`));
  return [
    opened,
    rowOf('all of them', rest, await shiftOf(page)),
    rowOf(
      `${frames} screens of them scrolled`,
      scroll,
      await shiftOf(page),
      `${(scroll.cpuMs / frames).toFixed(1)} a frame`,
    ),
  ];
};

const services = 300;

/** Services of some layers, each of which calls three of the layer below. */
const map: Case = async (bench) => {
  const { harness, page } = bench;
  const [layers, calls] = [6, 3];
  const each = services / layers;
  await harness.columns.execute(
    `INSERT INTO service_edges (received_at, minute, tenant_id, project_id, server_project_id, connection, client, client_kind, server, server_kind, requests, errors)
    SELECT now64(3), toDateTime(${endMs / 1000 - 600}), 'a', 'p1', 'p1', 'request',
      concat('team-', toString(calling % 17), '-service-', toString(calling)), 'service',
      concat('team-', toString(called % 17), '-service-', toString(called)), 'service',
      1 + number * number % 100000, if(number % 40 = 0, number % 100, 0)
    FROM (SELECT number, intDiv(number, ${each * calls}) AS layer, layer * ${each} + number % ${each} AS calling,
        (layer + 1) * ${each} + (number * 7 + intDiv(number, ${each}) * 11) % ${each} AS called
      FROM numbers(${each * calls * (layers - 1)}))`,
  );
  const opened = await newly(bench, '/services?view=map', '.graph .node', `the map of ${services} services`);
  const nodes = await page.locator('.graph .node').count();
  const move = await costOf(page, async () => {
    await page.locator('.graph .node').nth(150).click();
    await page.locator('.graph .node.faint').first().waitFor();
  });
  const scroll = await costOf(page, () =>
    page.evaluate(`(${scrolled.replace('.rows', '.graph').replace('place.clientHeight', '60')})(100)`),
  );
  return [
    { ...opened, more: `${nodes} nodes, ${await page.locator('.graph path').count()} ways` },
    rowOf('one of them chosen', move, await shiftOf(page)),
    rowOf('100 steps of it scrolled', scroll, await shiftOf(page), `${(scroll.cpuMs / 100).toFixed(1)} a frame`),
  ];
};

const live: Case = async ({ harness, page }) => {
  const producer = await harness.bus.producer();
  await page.goto(`${harness.url}/logs?view=live`);
  await page.getByText('Live.', { exact: true }).waitFor();
  const steps = seconds * 10;
  const cost = await costOf(page, async () => {
    const began = performance.now();
    for (let step = 0; step < steps; step++) {
      await producer.publish([
        logsOf(numbered(`order ${step}`, rate / 10), { tenantId: 'a', projectId: 'p1', service: 'shop' }),
      ]);
      await delay(Math.max(0, began + (step + 1) * 100 - performance.now()));
    }
  });
  await delay(2_000);
  const came = await page.locator('#came').textContent();
  const told = await page.locator('.live-bar').textContent();
  const row = rowOf(`live tail of ${rate} records a second for ${seconds} s`, cost, await shiftOf(page));
  return [
    {
      ...row,
      more: `${((cost.cpuMs / cost.wallMs) * 100).toFixed(1)} % of a core; ${came} of ${steps * (rate / 10)} came; ${told}`,
    },
  ];
};

const refreshing: Case = async (bench) => {
  const { harness, page } = bench;
  await landRecords(harness);
  await newly(bench, '/logs', logRows, '');
  const devtools = await page.context().newCDPSession(page);
  const refresh = async (): Promise<void> => {
    const answered = page.waitForResponse((response) => response.url().includes('/api/logs?'));
    await page.locator('#refresh').click();
    await (await answered).finished();
  };
  // What is made once is there after some.
  for (let count = 0; count < 10; count++) await refresh();
  const before = await heapOf(devtools);
  const cost = await costOf(page, async () => {
    for (let count = 0; count < refreshes; count++) await refresh();
  });
  const more = ((await heapOf(devtools)) - before) / 1e6;
  const row = rowOf(`${refreshes} refreshes of logs`, cost, await shiftOf(page));
  return [{ ...row, more: `${(cost.cpuMs / refreshes).toFixed(1)} each; heap ${more.toFixed(1)} MB more` }];
};

const cases: Readonly<Record<string, Case>> = { logs, area, panels, spans: ofSpans, map, live, refreshing };

const run = async (chromium: Chromium, name: string): Promise<Row[]> => {
  const of = cases[name];
  if (of === undefined) throw new Error(`no case is called ${name}; there are: ${Object.keys(cases).join(', ')}`);
  const harness = await startHarness({ checkResponses: false });
  try {
    const tab = await chromium.open();
    const { page } = tab;
    page.setDefaultTimeout(0);
    await page.setViewportSize({ width: 1440, height: 900 });
    await watchShifts(page);
    await signedInAt(tab, harness.url, '/settings');
    return await of({ harness, page });
  } finally {
    await harness.close();
  }
};

const chosen = process.argv.slice(2);
const chromium = await startChromium();
const rows: Row[] = [];
for (const name of chosen.length > 0 ? chosen : Object.keys(cases)) rows.push(...(await run(chromium, name)));
console.log(table(rows));
await chromium.close();
process.exit(0);
