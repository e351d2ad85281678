/** The windows of a run: steps go on in the one that a step opened, and in the one before it when that is closed. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { BrowserStep } from '../../subjects/synthetics/types/browser-steps.ts';

/** At once, with the first. */
const maxWindows = 5;
const pollMs = 20;

/** What a person does to open one. */
const opening: ReadonlySet<BrowserStep['action']> = new Set(['click', 'choose', 'press']);
/** What a script opens after these is nobody's. */
const leading: ReadonlySet<BrowserStep['action']> = new Set(['goto', 'fill']);

export class Windows {
  /** Those that the browser has, by its ids: it tells of one before its page has come. */
  readonly #targets = new Set<string>();
  /** In the order in which they were opened. */
  readonly #pages: Page[] = [];
  readonly #onPage: (page: Page) => Promise<void>;
  #isActive = true;

  private constructor(onPage: (page: Page) => Promise<void>) {
    this.#onPage = onPage;
  }

  /** Opens the first. `onPage` is told each that steps may go on in, before they do. */
  static async open(
    browser: Browser,
    context: BrowserContext,
    onPage: (page: Page) => Promise<void>,
  ): Promise<Windows> {
    const windows = new Windows(onPage);
    const first = await context.newPage();
    await windows.#addPage(first);
    windows.#isActive = false;
    const own = (await (await context.newCDPSession(first)).send('Target.getTargetInfo')).targetInfo.browserContextId;
    const session = await browser.newBrowserCDPSession();
    session.on('Target.targetCreated', ({ targetInfo: { type, targetId, browserContextId } }) => {
      if (type === 'page' && browserContextId === own) windows.#targets.add(targetId);
    });
    session.on('Target.targetDestroyed', ({ targetId }) => void windows.#targets.delete(targetId));
    context.on('page', (page) => void windows.#addPage(page));
    await session.send('Target.setDiscoverTargets', { discover: true });
    return windows;
  }

  /** Where steps are taken. Throws where all are closed. */
  get current(): Page {
    const last = this.#pages.at(-1);
    if (last === undefined) throw new Error('the page is closed');
    return last;
  }

  async #addPage(page: Page): Promise<void> {
    if (!this.#isActive || this.#pages.length >= maxWindows) return void page.close().catch(() => undefined);
    page.once('close', () => {
      const at = this.#pages.indexOf(page);
      if (at >= 0) this.#pages.splice(at, 1);
    });
    // One that is closed meanwhile is none.
    await this.#onPage(page).catch(() => undefined);
    if (!page.isClosed()) this.#pages.push(page);
  }

  /** Told what step begins: it says whether windows that come are its own. */
  begin({ action }: BrowserStep): void {
    if (opening.has(action)) this.#isActive = true;
    else if (leading.has(action)) this.#isActive = false;
  }

  /** Resolves when each window that was opened has its page, or is closed; to false where that takes longer. */
  async settled(withinMs: number): Promise<boolean> {
    const endMs = performance.now() + withinMs;
    while (this.#targets.size > this.#pages.length) {
      if (performance.now() > endMs) return false;
      await pause(pollMs);
    }
    return true;
  }
}
