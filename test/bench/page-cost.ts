/** What the page's main thread computes, as Chromium traces it: CPU time, so that other work on the machine does not change it much. */
import type { CDPSession, Page } from 'playwright-core';

export interface PageCost {
  /** Of the main thread. */
  readonly cpuMs: number;
  /** CPU of the task that computed longest. */
  readonly longestMs: number;
  readonly wallMs: number;
}

interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of CPU. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

const taskCategory = 'disabled-by-default-devtools.timeline';

/** What was done costs, in all pages that this browser has open: one at a time. */
export const costOf = async (page: Page, what: () => Promise<unknown>): Promise<PageCost> => {
  const browser = page.context().browser();
  if (browser === null) throw new Error('the page belongs to no browser that can be traced');
  const devtools = await browser.newBrowserCDPSession();
  const events: TraceEvent[] = [];
  devtools.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await devtools.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: [taskCategory, '__metadata'], excludedCategories: ['*'] },
  });
  const started = performance.now();
  await what();
  const wallMs = performance.now() - started;
  const complete = new Promise<void>((resolve) => {
    devtools.once('Tracing.tracingComplete', () => resolve());
  });
  await devtools.send('Tracing.end');
  await complete;
  await devtools.detach();
  const mainThreads = new Set(
    events
      .filter(({ ph, name, args }) => ph === 'M' && name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = events.filter(
    ({ ph, name, pid, tid }) => ph === 'X' && name === 'RunTask' && mainThreads.has(`${pid} ${tid}`),
  );
  const cpu = tasks.map(({ tdur = 0 }) => tdur / 1000);
  return { cpuMs: cpu.reduce((sum, ms) => sum + ms, 0), longestMs: Math.max(0, ...cpu), wallMs };
};

/** From now on pages of the context count how far their parts move without anybody having asked for it. */
export const watchShifts = (page: Page): Promise<unknown> =>
  page.context().addInitScript(`
    window.shifted = 0;
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifted += value;
    }).observe({ type: 'layout-shift', buffered: true });
  `);

export const shiftOf = (page: Page): Promise<number> => page.evaluate('window.shifted') as Promise<number>;

/** Bytes that scripts keep, once what nobody needs is collected. */
export const heapOf = async (devtools: CDPSession): Promise<number> => {
  await devtools.send('HeapProfiler.collectGarbage');
  return (await devtools.send('Runtime.getHeapUsage')).usedSize;
};
