/** The process that drives a browser through one run. It ends with its parent process, and the browser with it. */
import { rmSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { parseDurationMs } from '../../subjects/alerts/durations.ts';
import { truncate } from '../../subjects/synthetics/cut.ts';
import type { BrowserStep } from '../../subjects/synthetics/types/browser-steps.ts';
import type { BoundHosts } from '../bound-secrets.ts';
import { BoundSecrets } from '../bound-secrets.ts';
import { userAgent } from '../own-headers.ts';
import { removeBrackets } from '../reach.ts';
import type { BrowserOptions, FromDriver, Stepped, ToDriver } from './driver-messages.ts';
import { passed, performStep, type StepOutcome, toMessage } from './page-steps.ts';
import { PageWatch } from './page-watch.ts';
import { takeScreenshot } from './picture.ts';
import { killAllNow } from './processes.ts';
import { createRunDirectory } from './run-directory.ts';
import { Windows } from './windows.ts';

/** Memory limit of a page's scripts in megabytes */
const scriptMemory = 512;
/** The error of `launch` for a browser that does not start is long. */
const maxErrorLength = 1000;

const browserArguments = [
  // Only pages have a proxy that leads out. Chromium’s own services find none: they would look up names of Google.
  ...['--proxy-server=http://none.invalid:1', '--proxy-bypass-list=<-loopback>'],
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  // Traffic that cannot use a proxy is blocked.
  ...['--disable-quic', '--webrtc-ip-handling-policy=disable_non_proxied_udp'],
  // The name in older versions
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  ...['--disable-gpu', '--disable-dev-shm-usage', '--no-pings'],
  ...['--renderer-process-limit=4', `--js-flags=--max-old-space-size=${scriptMemory}`],
];

/** Types of requests that carry the headers of the run */
const identifiedTypes = ['Document', 'XHR', 'Fetch'] as const;

const postedText = ({ postData, postDataEntries = [] }: PausedRequest): string =>
  postData ?? Buffer.concat(postDataEntries.map(({ bytes = '' }) => Buffer.from(bytes, 'base64'))).toString('utf8');

/**
 * Adds headers that identify the run to requests to the page's origin. Other requests stay unchanged: the headers would
 * require a preflight. Blocks requests that would take a secret to a host to which it is not bound.
 */
const controlRequests = async (page: Page, opening: BrowserOptions, watch: PageWatch): Promise<void> => {
  const session = await page.context().newCDPSession(page);
  const runHeaders = Object.entries(opening.headers).map(([name, value]) => ({ name, value }));
  const secrets = new BoundSecrets(opening.secrets);
  session.on('Fetch.requestPaused', ({ requestId, request, resourceType }) => {
    const rendered = [request.url, ...Object.values(request.headers).map(String), postedText(request)];
    const host = removeBrackets(URL.parse(request.url)?.hostname ?? '');
    if (secrets.isUnbound({ rendered, values: [] }, host)) {
      watch.addBlocked(host, resourceType === 'Document');
      session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }).catch(() => undefined);
      return;
    }
    const isOwn =
      resourceType === 'Document' ||
      (identifiedTypes.some((type) => type === resourceType) &&
        URL.parse(request.url)?.origin === URL.parse(page.url())?.origin);
    const originalHeaders = Object.entries(request.headers).map(([name, value]) => ({ name, value: String(value) }));
    const override = isOwn ? { headers: [...originalHeaders, ...runHeaders] } : {};
    session.send('Fetch.continueRequest', { requestId, ...override }).catch(() => undefined);
  });
  const patterns = opening.secrets.length > 0 ? [{}] : identifiedTypes.map((resourceType) => ({ resourceType }));
  await session.send('Fetch.enable', { patterns });
};

interface PausedRequest {
  readonly postData?: string | undefined;
  readonly postDataEntries?: readonly { readonly bytes?: string | undefined }[] | undefined;
}

interface BrowserSession {
  readonly browser: Browser;
  readonly windows: Windows;
  readonly watch: PageWatch;
}

const open = async (opening: BrowserOptions): Promise<BrowserSession> => {
  const browser: Browser = await chromium.launch({
    executablePath: opening.program,
    chromiumSandbox: opening.hasSandbox,
    args: browserArguments,
    // The parent process determines when it ends.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    timeout: 0,
  });
  const major = browser.version().split('.')[0];
  const context = await browser.newContext({
    // All requests go to the proxy, which enforces the egress policy, also for loopback and names.
    proxy: { server: `http://127.0.0.1:${opening.proxyPort}` },
    viewport: opening.viewport,
    ignoreHTTPSErrors: !opening.verifyCertificate,
    acceptDownloads: false,
    serviceWorkers: 'block',
    locale: 'en-US',
    timezoneId: 'UTC',
    userAgent: `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36 ${userAgent}`,
  });
  const watch = new PageWatch(context);
  const windows = await Windows.open(browser, context, (page) => controlRequests(page, opening, watch));
  return { browser, windows, watch };
};

const [directory = ''] = process.argv.slice(2);
if (directory === '') throw new Error('the directory of the run is missing');

let opened: BrowserSession | undefined;

/** Runs a step in the right window: a step that waits or checks continues in a window that opens in the meantime. */
const runStep = async (windows: Windows, browserStep: BrowserStep, boundHosts: BoundHosts): Promise<StepOutcome> => {
  windows.beginStep(browserStep);
  const page = windows.current;
  try {
    const result = await performStep(() => windows.current, browserStep, boundHosts);
    if (
      result.outcome === 'failed' ||
      browserStep.action === 'goto' ||
      (await windows.waitUntilSettled(parseDurationMs(browserStep.within)))
    )
      return result;
    return { outcome: 'failed', message: 'the window that the step opened did not appear' };
  } catch (error) {
    // The step itself closed the window.
    if (browserStep.action === 'click' && page.isClosed() && windows.current !== page) return passed;
    return { outcome: 'failed', message: toMessage(error) };
  }
};

const handleStep = async ({
  handleStep: browserStep,
  boundHosts,
}: Extract<ToDriver, { handleStep: unknown }>): Promise<Stepped> => {
  if (opened === undefined) throw new Error('there is no page');
  const { windows, watch } = opened;
  const result = await runStep(windows, browserStep, boundHosts);
  const page = windows.current;
  const blockedHost = watch.drainBlockedHost();
  if (blockedHost !== undefined) {
    const message = `a secret of the check is not bound to ${blockedHost}`;
    return { outcome: 'failed', message, page: await watch.snapshot(page) };
  }
  const unreachableUrl = watch.getUnreachableUrl(page);
  return { ...result, ...(unreachableUrl !== undefined && { unreachableUrl }), page: await watch.snapshot(page) };
};

const handleMessage = async (message: ToDriver): Promise<FromDriver> => {
  try {
    if ('handleStep' in message) return { stepped: await handleStep(message) };
    if ('hiddenTexts' in message)
      return { picture: opened && (await takeScreenshot(opened.windows.current, message.hiddenTexts)) };
    await createRunDirectory(directory);
    opened = await open(message.open);
    return { opened: true };
  } catch (error) {
    return { error: truncate(toMessage(error), maxErrorLength) };
  }
};

const shutDown = (): void => {
  // After Playwright, which kills its child processes on exit. Remaining processes would write into the directory
  // during its removal.
  process.once('exit', () => {
    killAllNow(directory);
    rmSync(directory, { recursive: true, force: true, maxRetries: 2 });
  });
  process.exit();
};

process.on('message', (message: ToDriver) => {
  void handleMessage(message).then((answer) => {
    // The result of a step is unknown if its browser ended, and a later picture does not show the page.
    if (opened?.browser.isConnected() === false) shutDown();
    process.send?.(answer);
  });
});
process.on('disconnect', shutDown);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
// The parent ended before this point.
if (!process.connected) shutDown();
