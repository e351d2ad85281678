/**
 * The speed of the page in Chromium: CPU time of the main thread, and wall-clock times with the load of the machine.
 * Without a CASE all of `cases` run.
 *
 *     node bin/node.mjs test/bench/page-speed.ts [CASE …]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startChromium } from '../end-to-end/chromium.ts';
import { agentOf } from '../end-to-end/infrastructure-senders.ts';
import {
  type Bench,
  type Case,
  endMs,
  first,
  landRecords,
  landSpans,
  logRows,
  measureCase,
  openUncached,
  percentile,
  rowOf,
  trace,
  traceRows,
} from './page-bench.ts';
import { costOf, heapOf } from './page-cost.ts';
import { areas, input } from './page-input.ts';
import { large } from './page-large.ts';
import { live, network, tabs } from './page-live.ts';
import { type Row, table } from './report.ts';

const spans = Number(process.env['BENCH_SPANS'] ?? 100_000);
const refreshes = Number(process.env['BENCH_REFRESHES'] ?? 360);
/** The interval between refreshes; 10 results in 360 per hour. */
const refreshSeconds = Number(process.env['BENCH_REFRESH_SECONDS'] ?? 0);

const logs: Case = async (bench) => {
  await landRecords(bench.harness);
  return [await openUncached(bench, '/logs', logRows, 'from the address to rows of logs')];
};

const area: Case = async (bench) => {
  const { harness, page } = bench;
  await landRecords(harness);
  await landSpans(harness, 1_000);
  await openUncached(bench, '/logs', logRows, '');
  const cost = await costOf(page, async () => {
    await page.getByRole('link', { name: 'Traces', exact: true }).click();
    await first(page, traceRows);
  });
  return [await rowOf(page, 'from logs to rows of traces', cost)];
};

/** Panels with one metric each, of 100 series and 300 points. */
const panels: Case = async (bench) => {
  const { harness, page } = bench;
  const times = Array.from({ length: 300 }, (_, index) => endMs - (300 - index) * 15_000);
  for (let host = 0; host < 100; host++)
    await agentOf(harness.columns, 'a').metrics({ 'service.name': 'shop', 'host.name': `host-${host}` }, [
      {
        name: 'load',
        unit: 'By',
        kind: 'gauge',
        points: [{ values: times.map((time, index) => [time, host * 1e6 + (index % 37) * 1e4] as const) }],
      },
    ]);
  const created = await harness.request('POST', '/api/dashboards', {
    body: {
      name: 'thirty',
      panels: Array.from({ length: 30 }, (_, index) => ({
        id: `p${index}`,
        title: `Panel ${index}`,
        visual: { kind: 'time-series' },
        maxDataPoints: 301,
        place: { x: (index % 3) * 8, y: Math.floor(index / 3) * 8, width: 8, height: 8 },
        queries: [
          {
            name: 'A',
            minStep: '15s',
            query: { kind: 'metric', metric: 'load', overTime: 'last', across: 'avg', groupBy: ['host.name'] },
          },
        ],
      })),
    },
  });
  if (created.status !== 200) throw new Error(JSON.stringify(created.body));
  await page.setViewportSize({ width: 1440, height: 4_000 });
  const { from = 0, to = 0 } = { from: times[0], to: times.at(-1) };
  const address = `/dashboards/${created.body.id}?from=${from}&to=${to}`;
  const response = await harness.request('POST', `/api/dashboards/${created.body.id}/query`, {
    body: { from: `${from}`, to: `${to}`, panels: ['p0'] },
  });
  // Without `maxDataPoints` there would be half as many.
  const [series] = response.body.items[0].results.A.series;
  if (series.points.length !== 300) throw new Error(`${series.points.length} points in place of 300`);
  const rows = [await openUncached(bench, address, lastChart, '30 panels, 100 series × 300 points each')];
  for (let round = 0; round < 3; round++) rows.push(await afterData(bench, address));
  return rows;
};

const lastChart = '.panel canvas >> nth=29';

/** The cost of panels after their responses, which are held back until the rest of the page is loaded. */
const afterData = async ({ harness, page }: Bench, address: string): Promise<Row> => {
  const isQueryRequest = (url: URL): boolean => /\/api\/dashboards\/[^/]+\/query$/.test(url.pathname);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(isQueryRequest, async (route) => {
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
  return rowOf(page, 'the same, once their answers come', cost);
};

/** Runs in the page: scrolls one screen per frame. Returns the milliseconds between frames. */
const scrolled = `async (frames) => {
  const place = document.querySelector('.rows');
  const times = [await new Promise(requestAnimationFrame)];
  for (let frame = 0; frame < frames; frame++) {
    place.scrollTop += place.clientHeight;
    times.push(await new Promise(requestAnimationFrame));
  }
  return times.slice(1).map((time, at) => time - times[at]);
}`;

/** Runs in each page from its start: records when the first rows are painted after the first response of a trace. */
const watchFirstRows = `
  const look = () => {
    if (document.querySelector('.waterfall .extent .row') === null) return requestAnimationFrame(look);
    requestAnimationFrame((painted) => {
      const [page] = performance.getEntriesByType('resource').filter(({ name }) => /\\/api\\/traces\\/[0-9a-f]+(\\?|$)/.test(name));
      window.afterFirstPage = painted - page.responseEnd;
    });
  };
  requestAnimationFrame(look);
`;

const ofSpans: Case = async (bench) => {
  const { harness, page } = bench;
  await landSpans(harness, spans);
  await page.context().addInitScript(watchFirstRows);
  const opened = await openUncached(
    bench,
    `/traces/${trace}`,
    '.waterfall .extent .row',
    `first rows of ${spans} spans`,
  );
  const after = (await page.evaluate('window.afterFirstPage')) as number;
  const rest = await costOf(page, () =>
    page.locator(`.waterfall[aria-rowcount="${spans + 1}"]`).waitFor({ timeout: 0 }),
  );
  const frames = 200;
  let times: number[] = [];
  const scroll = await costOf(page, async () => {
    times = (await page.evaluate(`(${scrolled})(${frames})`)) as number[];
  });
  return [
    { ...opened, more: `${after.toFixed(0)} ms after the first page` },
    await rowOf(page, 'all of them', rest),
    await rowOf(
      page,
      `${frames} screens of them scrolled`,
      scroll,
      `${(scroll.cpuMs / frames).toFixed(1)} a frame, ${percentile(times, 95).toFixed(0)} ms between frames (p95)`,
    ),
  ];
};

const services = 300;

/** Layers of services. Each service calls three of the layer below. */
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
  const opened = await openUncached(bench, '/services?view=map', '.graph .node', `the map of ${services} services`);
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
    await rowOf(page, 'one of them chosen', move),
    await rowOf(page, '100 steps of it scrolled', scroll, `${(scroll.cpuMs / 100).toFixed(1)} a frame`),
  ];
};

const refreshing: Case = async (bench) => {
  const { harness, page } = bench;
  await landRecords(harness);
  await openUncached(bench, '/logs', logRows, '');
  const devtools = await page.context().newCDPSession(page);
  const refresh = async (): Promise<void> => {
    // With an expired token there is first a response whose body the page does not read, so it never finishes.
    const apiResponse = page.waitForResponse((response) => response.ok() && response.url().includes('/api/logs?'));
    await page.locator('#refresh').click();
    await (await apiResponse).finished();
  };
  // Warms up everything that is created only once.
  for (let count = 0; count < 10; count++) await refresh();
  const before = await heapOf(devtools);
  const cost = await costOf(page, async () => {
    for (let count = 0; count < refreshes; count++) {
      await refresh();
      await delay(refreshSeconds * 1_000);
    }
  });
  const more = ((await heapOf(devtools)) - before) / 1e6;
  const summary = `${(cost.cpuMs / refreshes).toFixed(1)} each; heap ${more.toFixed(1)} MB more`;
  return [await rowOf(page, `${refreshes} refreshes of logs`, cost, summary)];
};

/** With a CPU slowdown of four. */
const slow: Case = async (bench) => {
  await landRecords(bench.harness);
  const devtools = await bench.page.context().newCDPSession(bench.page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  const rows: Row[] = [];
  for (let round = 0; round < 5; round++)
    rows.push(await openUncached(bench, '/logs', logRows, 'to rows of logs, the processor slowed four times'));
  return rows;
};

const cases: Readonly<Record<string, Case>> = {
  logs,
  slow,
  area,
  areas,
  input,
  panels,
  spans: ofSpans,
  map,
  live,
  network,
  tabs,
  large,
  refreshing,
};

const chosen = process.argv.slice(2);
const chromium = await startChromium();
const rows: Row[] = [];
for (const name of chosen.length > 0 ? chosen : Object.keys(cases)) {
  const of = cases[name];
  if (of === undefined) throw new Error(`no case is called ${name}; there are: ${Object.keys(cases).join(', ')}`);
  rows.push(...(await measureCase(chromium, of)));
}
console.log(table(rows));
await chromium.close();
process.exit(0);
