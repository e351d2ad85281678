/**
 * Scrolls a long list of logs in Chromium: the cost of each frame on the page's main thread. It is CPU time, so other
 * load on the machine has little effect; the time between frames is printed as well.
 */
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { CDPSession, Page } from 'playwright-core';
import type { PageDocument } from '../../web/index.ts';
import { type Harness, startHarness } from '../end-to-end/api-harness.ts';
import { type Chromium, startChromium } from '../end-to-end/chromium.ts';
import { landLogs } from '../end-to-end/landed-logs.ts';
import { signInAndOpen } from '../end-to-end/page-walk.ts';
import type { Row } from './report.ts';

const records = Number(process.env['BENCH_RECORDS'] ?? 100_000);
/** Frames in each direction, each scrolls one screen. */
const frames = Number(process.env['BENCH_FRAMES'] ?? 500);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 2);
/** Another checkout. Its page is measured alternately with this one. */
const peer = process.env['BENCH_PAGE'];
const batch = 5_000;

const words = ['declined', 'sold', 'shipped', 'returned', 'refunded', 'paid', 'queued', 'retried'];

const land = async (harness: Harness): Promise<void> => {
  const startNs = BigInt(Date.now() - 50 * 60_000) * 1_000_000n;
  for (let first = 0; first < records; first += batch) {
    const logs = Array.from({ length: Math.min(batch, records - first) }, (_, at) => {
      const number = first + at;
      const word = words[number % words.length] ?? '';
      return {
        timeNs: startNs + BigInt(number) * 20_000_000n,
        body: `order ${number} was ${word} after ${number % 977} ms by the worker that ${word} the one before, request ${number * 7919}`,
        service: `shop-${number % 12}`,
        severity: [9, 9, 9, 13, 17][number % 5] ?? 9,
      };
    });
    await landLogs(harness, logs, { offset: first / batch });
  }
};

/** Serves another version of the page over the same API. */
const serve = async (
  page: Page,
  { renderDocument, body, policy, files }: PageDocument & { readonly body?: string },
) => {
  await page.route('**/logs?*', (route) =>
    route.request().resourceType() === 'document'
      ? route.fulfill({
          body: body ?? renderDocument([]),
          contentType: 'text/html; charset=utf-8',
          headers: { 'content-security-policy': policy },
        })
      : route.fallback(),
  );
  await page.route('**/assets/*', (route) => {
    const file = files.get(route.request().url().split('/').at(-1) ?? '');
    if (file === undefined) return route.fulfill({ status: 404 });
    return route.fulfill({ body: gunzipSync(file.content), contentType: file.contentType });
  });
};

/** Runs in the page: scrolls one screen per frame, down and up. Returns the milliseconds between frames. */
const scrolled = `async (count) => {
  const place = document.querySelector('.rows');
  const step = place.clientHeight;
  const times = [];
  place.scrollTop = place.scrollHeight / 2 - count * step / 2;
  for (let wait = 0; wait < 30; wait++) await new Promise(requestAnimationFrame);
  for (const by of [step, -step])
    for (let frame = 0; frame < count; frame++) {
      place.scrollTop += by;
      times.push(await new Promise(requestAnimationFrame));
    }
  return times.slice(1).map((time, at) => time - times[at]);
}`;

type Costs = Readonly<Record<string, number>>;
const costs = async (devtools: CDPSession): Promise<Costs> => {
  const { metrics } = await devtools.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
};

const measured = async (name: string, harness: Harness, chromium: Chromium, built?: PageDocument): Promise<Row> => {
  const tab = await chromium.open();
  const { page } = tab;
  await page.setViewportSize({ width: 1440, height: 900 });
  if (built !== undefined) await serve(page, built);
  await signInAndOpen(tab, harness.url, '/logs?from=now-1h&to=now');
  await page.locator('.records .extent .row').first().waitFor();
  page.setDefaultTimeout(0);
  await page.evaluate(`(async (wanted) => {
    const place = document.querySelector('.rows');
    while (Number(place.getAttribute('aria-rowcount')) <= wanted) {
      place.scrollTop = place.scrollHeight;
      await new Promise(requestAnimationFrame);
    }
  })(${records})`);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const before = await costs(devtools);
  const times = (await page.evaluate(`(${scrolled})(${frames})`)) as number[];
  const after = await costs(devtools);
  const aFrame = (metric: string): string =>
    ((1000 * ((after[metric] ?? 0) - (before[metric] ?? 0))) / (2 * frames)).toFixed(1);
  const row = {
    page: name,
    'CPU ms a frame': aFrame('TaskDuration'),
    script: aFrame('ScriptDuration'),
    style: aFrame('RecalcStyleDuration'),
    layout: aFrame('LayoutDuration'),
    'p95 between frames, ms': (times.toSorted((l, r) => l - r)[Math.floor(times.length * 0.95)] ?? 0).toFixed(0),
    'heap MB': ((after['JSHeapUsedSize'] ?? 0) / 1e6).toFixed(0),
  };
  await page.context().close();
  return row;
};

/** Rows of this page, alternating with those of the other one. */
export const pageScrolling = async (): Promise<Row[]> => {
  const [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  try {
    await land(harness);
    const other =
      peer === undefined
        ? undefined
        : await ((await import(join(resolve(peer), 'web/index.ts'))) as typeof import('../../web/index.ts')).openPage();
    const rows: Row[] = [];
    for (let round = 1; round <= rounds; round++) {
      if (other !== undefined) rows.push(await measured(`other ${round}`, harness, chromium, other));
      rows.push(await measured(`this ${round}`, harness, chromium));
    }
    return rows;
  } finally {
    await chromium.close();
    await harness.close();
  }
};
