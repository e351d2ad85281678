/** The process that drives a browser through one run. It ends with the process that started it, and the browser with it. */
import { rmSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { msOf } from '../../subjects/alerts/durations.ts';
import { cut } from '../../subjects/synthetics/cut.ts';
import type { BrowserStep } from '../../subjects/synthetics/types/browser-steps.ts';
import { userAgent } from '../own-headers.ts';
import type { FromDriver, Opening, Stepped, ToDriver } from './driver-messages.ts';
import { type Bound, passed, performStep, type StepOutcome, toMessage } from './page-steps.ts';
import { PageWatch } from './page-watch.ts';
import { pictureOf } from './picture.ts';
import { killAllNow } from './processes.ts';
import { makeDirectory } from './run-directory.ts';
import { Windows } from './windows.ts';

/** Megabytes of a page's scripts. */
const scriptMemory = 512;
/** What `launch` says of a browser that does not start is long. */
const maxErrorLength = 1000;

const argumentsFor = ({ proxyPort }: Opening): string[] => [
  // All that it asks for goes to the proxy, which knows what may be reached: loopback and names as well.
  ...[`--proxy-server=http://127.0.0.1:${proxyPort}`, '--proxy-bypass-list=<-loopback>'],
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  // What cannot go through a proxy stays at home.
  ...['--disable-quic', '--webrtc-ip-handling-policy=disable_non_proxied_udp'],
  // As older ones call it.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  ...['--disable-gpu', '--disable-dev-shm-usage', '--no-pings'],
  ...['--renderer-process-limit=4', `--js-flags=--max-old-space-size=${scriptMemory}`],
];

/** Requests to where the page is from name the run. Others are left as they are: with such headers they would have to ask first. */
const nameRequests = async (page: Page, headers: Opening['headers']): Promise<void> => {
  const session = await page.context().newCDPSession(page);
  const own = Object.entries(headers).map(([name, value]) => ({ name, value }));
  session.on('Fetch.requestPaused', ({ requestId, request, resourceType }) => {
    const isOwn = resourceType === 'Document' || URL.parse(request.url)?.origin === URL.parse(page.url())?.origin;
    const before = Object.entries(request.headers).map(([name, value]) => ({ name, value: String(value) }));
    const named = isOwn ? { headers: [...before, ...own] } : {};
    session.send('Fetch.continueRequest', { requestId, ...named }).catch(() => undefined);
  });
  const patterns = (['Document', 'XHR', 'Fetch'] as const).map((resourceType) => ({ resourceType }));
  await session.send('Fetch.enable', { patterns });
};

interface Opened {
  readonly browser: Browser;
  readonly windows: Windows;
  readonly watch: PageWatch;
}

const open = async (opening: Opening): Promise<Opened> => {
  const browser: Browser = await chromium.launch({
    executablePath: opening.program,
    chromiumSandbox: opening.hasSandbox,
    args: argumentsFor(opening),
    // The process that started this one says when it is over.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    timeout: 0,
  });
  const major = browser.version().split('.')[0];
  const context = await browser.newContext({
    viewport: opening.viewport,
    ignoreHTTPSErrors: !opening.verifyCertificate,
    acceptDownloads: false,
    serviceWorkers: 'block',
    locale: 'en-US',
    timezoneId: 'UTC',
    userAgent: `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36 ${userAgent}`,
  });
  const watch = new PageWatch(context);
  const windows = await Windows.open(browser, context, (page) => nameRequests(page, opening.headers));
  return { browser, windows, watch };
};

const [directory = ''] = process.argv.slice(2);
if (directory === '') throw new Error('the directory of the run is missing');

let opened: Opened | undefined;

/** Takes a step where the window is that it is about: what waits, or looks, goes on in one that comes meanwhile. */
const runStep = async (windows: Windows, browserStep: BrowserStep, bound: Bound): Promise<StepOutcome> => {
  windows.begin(browserStep);
  const page = windows.current;
  try {
    const result = await performStep(() => windows.current, browserStep, bound);
    if (
      result.outcome === 'failed' ||
      browserStep.action === 'goto' ||
      (await windows.settled(msOf(browserStep.within)))
    )
      return result;
    return { outcome: 'failed', message: 'the window that it opened did not come up' };
  } catch (error) {
    // A window that the step itself closed.
    if (browserStep.action === 'click' && page.isClosed() && windows.current !== page) return passed;
    return { outcome: 'failed', message: toMessage(error) };
  }
};

const step = async ({ step: browserStep, bound }: ToDriver & { step: unknown }): Promise<Stepped> => {
  if (opened === undefined) throw new Error('there is no page');
  const { windows, watch } = opened;
  const result = await runStep(windows, browserStep, bound);
  const page = windows.current;
  const unreached = watch.unreached(page);
  return { ...result, ...(unreached !== undefined && { unreached }), page: await watch.snapshot(page) };
};

const answerTo = async (message: ToDriver): Promise<FromDriver> => {
  try {
    if ('step' in message) return { stepped: await step(message) };
    if ('hidden' in message) return { picture: opened && (await pictureOf(opened.windows.current, message.hidden)) };
    await makeDirectory(directory);
    opened = await open(message.open);
    return { opened: true };
  } catch (error) {
    return { error: cut(toMessage(error), maxErrorLength) };
  }
};

const leave = (): void => {
  // After Playwright, which kills what it started when its process exits. What still runs would write into what is removed.
  process.once('exit', () => {
    killAllNow(directory);
    rmSync(directory, { recursive: true, force: true, maxRetries: 2 });
  });
  process.exit();
};

process.on('message', (message: ToDriver) => {
  void answerTo(message).then((answer) => {
    // What came of a step is not known where its browser ended, and what it looks like then says nothing of the page.
    if (opened?.browser.isConnected() === false) leave();
    process.send?.(answer);
  });
});
process.on('disconnect', leave);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
// Who started it ended before this was reached.
if (!process.connected) leave();
