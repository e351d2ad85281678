/** Requests and errors of a page, step by step */
import type { BrowserContext, Page, Request } from 'playwright-core';
import { z } from 'zod';
import { type StepPage, webVitals } from '../../schemas/synthetic-runs.ts';

type PageRequest = StepPage['requests'][number];

/** Maximum requests for all steps */
const maxRequests = 100;
/** Maximum errors per step */
const maxErrors = 20;
/** Maximum length of a reported text, whatever the page sends. */
const maxTextLength = 8192;
/** Timeout for a page that does not respond */
const timeoutMs = 1000;

const Vitals = z.partialRecord(z.enum(webVitals), z.number().min(0)).catch({});

/**
 * Runs in the page. Layout shifts are reported as the largest session window: gaps of at most one second, five seconds
 * in total.
 */
const vitalsScript = `(() => {
  const entries = (type) => {
    const observer = new PerformanceObserver(() => undefined);
    observer.observe({ type, buffered: true });
    const found = observer.takeRecords();
    observer.disconnect();
    return found;
  };
  const [navigation] = performance.getEntriesByType('navigation');
  const fcp = entries('paint').find(({ name }) => name === 'first-contentful-paint')?.startTime;
  const lcp = entries('largest-contentful-paint').at(-1)?.startTime;
  const ttfb = navigation === undefined || navigation.responseStart === 0 ? undefined : navigation.responseStart;
  let [cls, sum, first, last] = [0, 0, 0, 0];
  for (const { value, startTime, hadRecentInput } of entries('layout-shift')) {
    if (hadRecentInput) continue;
    const joins = startTime - last < 1000 && startTime - first < 5000;
    if (!joins) first = startTime;
    sum = joins ? sum + value : value;
    last = startTime;
    cls = Math.max(cls, sum);
  }
  const all = { lcp, fcp, ttfb, cls };
  return Object.fromEntries(Object.entries(all).flatMap(([name, value]) =>
    typeof value === 'number' ? [[name, Math.round(value * 1000) / 1000]] : []));
})()`;

/** Returns undefined if the page does not respond in time. */
export const awaitOrUndefined = async <Value>(promise: Promise<Value>, ms = timeoutMs): Promise<Value | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((end) => {
    timer = setTimeout(() => end(undefined), ms);
  });
  return Promise.race([promise.catch(() => undefined), timeout]).finally(() => clearTimeout(timer));
};

/** Chromium's error page */
const isErrorPage = (url: string): boolean => url.startsWith('chrome-error:');

/**
 * Returns the page whose main frame a request navigates, or `to come` if its window is not open yet; undefined if the request does not navigate a main frame.
 */
const findNavigatedPage = (request: Request): Page | 'pending' | undefined => {
  if (!request.isNavigationRequest()) return undefined;
  try {
    const frame = request.frame();
    return frame.parentFrame() === null ? frame.page() : undefined;
  } catch {
    return 'pending';
  }
};

/** Watches all windows of a run. */
export class PageWatch {
  readonly #pendingRequests = new Map<Request, { -readonly [Name in keyof PageRequest]: PageRequest[Name] }>();
  readonly #sizes = new Set<Promise<void>>();
  /** Failed navigation targets of pages */
  readonly #failedUrlByPage = new WeakMap<Page, string>();
  /** Target of the last window that failed before it opened */
  #failedWindowUrl: string | undefined;
  #blockedHost: string | undefined;
  #requestCount = 0;
  #requests: PageRequest[] = [];
  #omittedCount = 0;
  #errors: string[] = [];
  #stepStartMs = Date.now();

  constructor(context: BrowserContext) {
    context.on('request', (request) => this.#startRequest(request));
    context.on('response', (response) => {
      const entry = this.#pendingRequests.get(response.request());
      if (entry !== undefined) entry.status = response.status();
    });
    context.on('requestfinished', (request) => this.#endRequest(request));
    context.on('requestfailed', (request) => this.#endRequest(request, request.failure()?.errorText ?? 'failed'));
    context.on('framenavigated', (frame) => {
      if (frame.parentFrame() === null && !isErrorPage(frame.url())) this.#failedUrlByPage.delete(frame.page());
    });
    context.on('weberror', (error) => this.#addError(error.error().message));
    context.on('console', (message) => {
      if (message.type() === 'error') this.#addConsoleError(message.text(), message.location().url);
    });
  }

  /** The failed navigation target of a page, until a navigation succeeds. */
  getUnreachableUrl(page: Page): string | undefined {
    return this.#failedUrlByPage.get(page) ?? (isErrorPage(page.url()) ? this.#failedWindowUrl : undefined);
  }

  /** Reports a request that was blocked because of a secret; `isDocument`: that of a page or a frame. */
  addBlocked(host: string, isDocument: boolean): void {
    this.#addError(`a request to ${host} was blocked: a secret of the check is not bound to this host`);
    if (isDocument) this.#blockedHost = host;
  }

  /** The host of the last document that was blocked since the previous call */
  drainBlockedHost(): string | undefined {
    const host = this.#blockedHost;
    this.#blockedHost = undefined;
    return host;
  }

  /** Chromium's message about a failed request does not contain its URL. Chromium requests favicons on its own. */
  #addConsoleError(text: string, url: string): void {
    if (!text.startsWith('Failed to load resource')) this.#addError(text);
    else if (URL.parse(url)?.pathname !== '/favicon.ico') this.#addError(`${text} ${url}`.trim());
  }

  #addError(text: string): void {
    if (this.#errors.length < maxErrors) this.#errors.push(text.slice(0, maxTextLength));
  }

  #startRequest(request: Request): void {
    if (this.#requestCount >= maxRequests) {
      this.#omittedCount++;
      return;
    }
    this.#requestCount++;
    const entry = {
      method: request.method().slice(0, 32),
      url: request.url().slice(0, maxTextLength),
      type: request.resourceType(),
      status: null,
      startMs: Date.now() - this.#stepStartMs,
      durationMs: null,
      bytes: null,
    };
    this.#pendingRequests.set(request, entry);
    this.#requests.push(entry);
  }

  #endRequest(request: Request, failure?: string): void {
    const page = failure === undefined ? undefined : findNavigatedPage(request);
    if (page === 'pending') this.#failedWindowUrl = request.url();
    else if (page !== undefined) this.#failedUrlByPage.set(page, request.url());
    const entry = this.#pendingRequests.get(request);
    if (entry === undefined) return;
    this.#pendingRequests.delete(request);
    entry.durationMs = Math.max(0, Date.now() - this.#stepStartMs - entry.startMs);
    if (failure !== undefined) {
      entry.failure = failure.slice(0, 256);
      return;
    }
    const size = request.sizes().then(
      ({ responseBodySize }) => {
        entry.bytes = Math.max(0, responseBodySize);
      },
      () => undefined,
    );
    this.#sizes.add(size);
    void size.finally(() => this.#sizes.delete(size));
  }

  /** Events since the end of the previous step, and the current state of a page. */
  async snapshot(page: Page): Promise<StepPage> {
    const vitals = Vitals.parse((await awaitOrUndefined(page.evaluate(vitalsScript))) ?? {});
    await awaitOrUndefined(Promise.all(this.#sizes));
    const requests = this.#requests.map((entry) => ({ ...entry }));
    const basics = { url: page.url().slice(0, maxTextLength), vitals, requests };
    const stepPage = { ...basics, leftOut: this.#omittedCount, errors: this.#errors };
    [this.#requests, this.#omittedCount, this.#errors, this.#stepStartMs] = [[], 0, [], Date.now()];
    this.#pendingRequests.clear();
    return stepPage;
  }
}
