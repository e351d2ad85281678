/** A real browser for the pages of the product. */
import {
  type Browser,
  type BrowserContextOptions,
  type Locator,
  type Page,
  chromium as playwright,
} from 'playwright-core';
import { type PageRequest, recordPageRequests } from '../page-requests.ts';
import { chromiumProgram } from '../services/chromium.ts';
import { eventually, pagePatienceMs, stretched } from '../waiting.ts';

/** One tab with its own cookies. */
export interface Tab {
  readonly page: Page;
  go(url: string): Promise<void>;
  /** The addresses in the tab's history. */
  visited(): Promise<readonly string[]>;
  /** Evaluates an expression in the page. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read values of every shape
  evaluate(expression: string): Promise<any>;
  /** Resolves once an expression is true. An expression that throws counts as false. */
  until(expression: string): Promise<void>;
  /** Types into the fields with these IDs, and presses Enter in the last one. */
  fillIn(fields: Readonly<Record<string, string>>): Promise<void>;
  /** Violations of the content security policy, exceptions of scripts, and errors in the console. */
  readonly complaints: readonly string[];
  /** Each request of the tab. */
  readonly requests: readonly {
    readonly method: string;
    readonly url: string;
    readonly body: string;
    readonly referrer: string;
  }[];
}

export interface Chromium {
  open(): Promise<Tab>;
  /** Opens a tab with the screen of a phone, and with touch instead of a mouse. */
  openOnPhone(): Promise<Tab>;
  close(): Promise<void>;
}

/** Screen of a phone */
const phone: BrowserContextOptions = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };

export const startChromium = async (): Promise<Chromium> => {
  const browser = await playwright.launch({
    executablePath: await chromiumProgram(),
    chromiumSandbox: false,
    // Unlike loopback, another host name gets no cookies marked Secure without TLS.
    args: ['--host-resolver-rules=MAP plain.example 127.0.0.1', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  const requests: PageRequest[] = [];
  return {
    open: () => openTab(browser, requests),
    openOnPhone: () => openTab(browser, requests, phone),
    async close() {
      recordPageRequests(requests);
      await browser.close();
    },
  };
};

const isLocator = (value: unknown): value is Locator =>
  typeof value === 'object' && value !== null && 'waitFor' in value && 'locator' in value;

/** Wraps a page or locator: errors of failed waits include the content of the page. */
const withShownPage = <Target extends Page | Locator>(target: Target, shown: () => Promise<unknown>): Target =>
  new Proxy(target, {
    get(own, name) {
      const value: unknown = Reflect.get(own, name, own);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]): unknown => {
        const result: unknown = value.apply(own, args);
        if (isLocator(result)) return withShownPage(result, shown);
        if (!(result instanceof Promise)) return result;
        return result.catch(async (cause: Error) => {
          if (cause.name !== 'TimeoutError') throw cause;
          throw new Error(`${cause.message}; the page shows ${await shown()}`, { cause });
        });
      };
    },
  });

/** Opens a tab that records each request, including WebSockets. */
const openTab = async (
  browser: Browser,
  walkedRequests: PageRequest[],
  options: BrowserContextOptions = {},
): Promise<Tab> => {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(stretched(pagePatienceMs));
  const complaints: string[] = [];
  const requests: { method: string; url: string; body: string; referrer: string }[] = [];
  page.on('pageerror', (error) => complaints.push(error.stack ?? error.message));
  // The browser also logs refused requests, whether or not the page expects them.
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  page.on('request', (request) => {
    const { referer = '' } = request.headers();
    // Redirects of a sign-in, here or at a provider, are not requests of the page.
    const { pathname } = new URL(request.url());
    const isLed = pathname.startsWith('/auth/sso/') || (request.isNavigationRequest() && pathname.startsWith('/auth/'));
    if (!isLed) walkedRequests.push({ method: request.method(), url: request.url() });
    requests.push({ method: request.method(), url: request.url(), body: request.postData() ?? '', referrer: referer });
  });
  // Downloads emit only this event.
  page.on('download', (file) => walkedRequests.push({ method: 'GET', url: file.url() }));
  page.on('websocket', (socket) => walkedRequests.push({ method: 'GET', url: socket.url() }));
  const evaluate = (expression: string): Promise<unknown> => page.evaluate(expression);
  const shown = (): Promise<unknown> =>
    evaluate('location.href + " " + document.body.innerText').catch(() => 'nothing: the page is being left');
  return {
    page: withShownPage(page, shown),
    complaints,
    requests,
    evaluate,
    async until(expression) {
      // A page that is navigating away has no result.
      const holds = async (): Promise<boolean> => (await evaluate(expression).catch(() => false)) === true;
      await eventually(expression, holds, pagePatienceMs).catch(async (cause: Error) => {
        throw new Error(`${cause.message}; the page shows ${await shown()}`, { cause });
      });
    },
    async go(url) {
      await page.goto(url);
    },
    async visited() {
      const session = await context.newCDPSession(page);
      const { entries } = await session.send('Page.getNavigationHistory');
      return entries.map((entry) => entry.url);
    },
    async fillIn(fields) {
      for (const [id, text] of Object.entries(fields)) await page.locator(`#${id}`).fill(text);
      await page.keyboard.press('Enter');
    },
  };
};
