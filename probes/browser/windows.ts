/** The windows of a run: steps continue in a window that a step opened, and in the previous one after it is closed. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { BrowserStep } from '../../subjects/synthetics/types/browser-steps.ts';

/** Maximum number of open windows, including the first */
const maxWindows = 5;
const pollMs = 20;

/** Actions by which a person opens a window */
const userActions: ReadonlySet<BrowserStep['action']> = new Set(['click', 'choose', 'press']);
/** Windows that scripts open after these actions belong to no step. */
const scriptActions: ReadonlySet<BrowserStep['action']> = new Set(['goto', 'fill']);

export class Windows {
  /** Target ids of the browser: it reports a window before its page exists. */
  readonly #targets = new Set<string>();
  /** In the order in which they were opened */
  readonly #pages: Page[] = [];
  readonly #onPage: (page: Page) => Promise<void>;
  #isActive = true;

  private constructor(onPage: (page: Page) => Promise<void>) {
    this.#onPage = onPage;
  }

  /** Opens the first window. `onPage` is called for each page before steps use it. */
  static async open(
    browser: Browser,
    context: BrowserContext,
    onPage: (page: Page) => Promise<void>,
  ): Promise<Windows> {
    const windows = new Windows(onPage);
    const first = await context.newPage();
    await windows.#addPage(first);
    windows.#isActive = false;
    const contextId = (await (await context.newCDPSession(first)).send('Target.getTargetInfo')).targetInfo
      .browserContextId;
    const session = await browser.newBrowserCDPSession();
    session.on('Target.targetCreated', ({ targetInfo: { type, targetId, browserContextId } }) => {
      if (type === 'page' && browserContextId === contextId) windows.#targets.add(targetId);
    });
    session.on('Target.targetDestroyed', ({ targetId }) => void windows.#targets.delete(targetId));
    context.on('page', (page) => void windows.#addPage(page));
    await session.send('Target.setDiscoverTargets', { discover: true });
    return windows;
  }

  /** The current window of the steps. Throws if all are closed. */
  get current(): Page {
    const last = this.#pages.at(-1);
    if (last === undefined) throw new Error('the page is closed');
    return last;
  }

  async #addPage(page: Page): Promise<void> {
    if (!this.#isActive || this.#pages.length >= maxWindows) return void page.close().catch(() => undefined);
    page.once('close', () => {
      const index = this.#pages.indexOf(page);
      if (index >= 0) this.#pages.splice(index, 1);
    });
    // Ignore a window that closed in the meantime.
    await this.#onPage(page).catch(() => undefined);
    if (!page.isClosed()) this.#pages.push(page);
  }

  /** Called at the beginning of a step, which determines whether new windows belong to it. */
  beginStep({ action }: BrowserStep): void {
    if (userActions.has(action)) this.#isActive = true;
    else if (scriptActions.has(action)) this.#isActive = false;
  }

  /** Resolves to true when each opened window has its page or is closed; to false if that takes longer. */
  async waitUntilSettled(withinMs: number): Promise<boolean> {
    const endMs = performance.now() + withinMs;
    while (this.#targets.size > this.#pages.length) {
      if (performance.now() > endMs) return false;
      await pause(pollMs);
    }
    return true;
  }
}
