/** Cases of `page-speed`: live tail over fast and slow networks, and in two tabs, with exact counts of records. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { logsOf, numbered } from '../contract/live-tail-harness.ts';
import type { Harness } from '../end-to-end/api-harness.ts';
import { type Bench, type Case, landRecords, logRows, percentile, rowOf } from './page-bench.ts';
import { costOf, heapOf } from './page-cost.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 300);
const rate = 2_000;

const openTail = async (page: Page, { url }: Harness): Promise<void> => {
  await page.goto(`${url}/logs?view=live`);
  await page.getByText('Live.', { exact: true }).waitFor();
};

/** Sends records at a rate for some seconds. Returns their number. */
const send = async (harness: Harness, lasting: number): Promise<number> => {
  const producer = await harness.bus.producer();
  const began = performance.now();
  for (let step = 0; step < lasting * 10; step++) {
    const bodies = numbered(`order ${step}`, rate / 10);
    await producer.publish([logsOf(bodies, { tenantId: 'a', projectId: 'p1', service: 'shop' })]);
    await delay(Math.max(0, began + (step + 1) * 100 - performance.now()));
  }
  return lasting * rate;
};

/** The counts on the page: received and dropped records. */
const readCounts = async (page: Page): Promise<{ came: number; missed: number; bar: string }> => {
  const bar = (await page.locator('.live-bar').textContent()) ?? '';
  const numberIn = (expression: RegExp): number => Number((expression.exec(bar)?.[1] ?? '0').replaceAll(',', ''));
  const missed = numberIn(/([\d,]+) records were dropped/) + numberIn(/([\d,]+) records were not matched/);
  return { came: numberIn(/([\d,]+) records received/), missed, bar };
};

/** Waits until no more records arrive. Returns a summary that accounts for all sent records. */
const accountOf = async (page: Page, sent: number): Promise<string> => {
  let counts = await readCounts(page);
  for (let quiet = 0; quiet < 3; ) {
    await delay(1_000);
    const next = await readCounts(page);
    quiet = next.came === counts.came && next.missed === counts.missed ? quiet + 1 : 0;
    counts = next;
  }
  const lost = sent - counts.came - counts.missed;
  return `${sent} sent = ${counts.came} received + ${counts.missed} dropped + ${lost} lost${lost === 0 ? '' : `: ${counts.bar}`}`;
};

/** Runs in the page: collects the milliseconds between frames. */
const watchFrames = `
  window.frames_ = [];
  let before = performance.now();
  const next = (time) => {
    window.frames_.push(time - before);
    before = time;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
`;

export const live: Case = async ({ harness, page }) => {
  await openTail(page, harness);
  const devtools = await page.context().newCDPSession(page);
  let heap = 0;
  const poll = setInterval(async () => {
    heap = Math.max(heap, (await devtools.send('Runtime.getHeapUsage')).usedSize);
  }, 2_000);
  await page.evaluate(watchFrames);
  let sent = 0;
  const cost = await costOf(page, async () => {
    sent = await send(harness, seconds);
  });
  clearInterval(poll);
  const frames = (await page.evaluate('window.frames_')) as number[];
  const shown = [
    `${(cost.cpuMs / frames.length).toFixed(1)} CPU ms a frame, ${percentile(frames, 95).toFixed(0)} ms between frames (p95)`,
    `${((cost.cpuMs / cost.wallMs) * 100).toFixed(1)} % of a core`,
    await accountOf(page, sent),
    `heap ${(heap / 1e6).toFixed(0)} MB at most, ${((await heapOf(devtools)) / 1e6).toFixed(0)} in use`,
  ];
  return [await rowOf(page, `live tail of ${rate} records a second for ${seconds} s`, cost, shown.join('; '))];
};

/** Runs in the page: collects each text that is shown during loading, with the time at which it appeared. */
const watchWords = `
  window.words = [];
  const look = () => {
    const text = document.querySelector('main')?.innerText.replaceAll('\\n', ' ') ?? '';
    const said = [...text.matchAll(/[A-Z][^.…]{0,60}…/g)].map(([found]) => found).join(', ') || (text === '' ? '(nothing)' : 'all');
    if (window.words.at(-1)?.said !== said) window.words.push({ said, at: Math.round(performance.now()) });
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
`;

/** Limits the bandwidth to that of a phone with a weak signal. */
const slowly = async (page: Page, kilobytes = 50): Promise<() => Promise<void>> => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.clearBrowserCache');
  const speed = { downloadThroughput: kilobytes * 1_000, uploadThroughput: kilobytes * 1_000 };
  await devtools.send('Network.emulateNetworkConditions', { offline: false, latency: 400, ...speed });
  return async () => {
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
  };
};

export const network: Case = async ({ harness, page }: Bench) => {
  await landRecords(harness);
  await page.context().addInitScript(watchWords);
  const restore = await slowly(page);
  const cost = await costOf(page, async () => {
    await page.goto(`${harness.url}/logs`);
    await page.locator(logRows).first().waitFor({ timeout: 0 });
  });
  const words = (await page.evaluate('window.words')) as { text: string; at: number }[];
  const opened = await rowOf(
    ...([page, '/logs over 50 kB/s and 400 ms, nothing cached', cost] as const),
    words.map(({ text, at }) => `${at} ms: ${text}`).join('; '),
  );
  await openTail(page, harness);
  let sent = 0;
  const tail = await costOf(page, async () => {
    sent = await send(harness, Math.min(seconds, 30));
  });
  await restore();
  return [
    opened,
    await rowOf(page, `live tail of ${rate} records a second over that network`, tail, await accountOf(page, sent)),
  ];
};

export const tabs: Case = async ({ harness, page }) => {
  const other = await page.context().newPage();
  await openTail(page, harness);
  await openTail(other, harness);
  let sent = 0;
  const cost = await costOf(page, async () => {
    sent = await send(harness, Math.min(seconds, 30));
  });
  const both = `${await accountOf(page, sent)}; the other tab: ${await accountOf(other, sent)}`;
  return [await rowOf(page, 'live tail in two tabs, CPU of both', cost, both)];
};
