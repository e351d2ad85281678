/** CPU time of the page's main thread from a Chromium trace, so other load on the machine has little effect. */
import type { CDPSession, Page } from 'playwright-core';

export interface PageCost {
  /** CPU time of the main thread. */
  readonly cpuMs: number;
  /** CPU time of the longest task. */
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

/** The cost of an action in all open pages of this browser. Run one at a time. */
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
  return {
    cpuMs: cpu.reduce((sum, ms) => sum + ms, 0),
    longestMs: cpu.reduce((max, ms) => Math.max(max, ms), 0),
    wallMs,
  };
};

/** Observations of a page since it was loaded. */
export interface Seen {
  /** Layout shift without user input. */
  readonly shifted: number;
  /** The longest task above 50 ms, in milliseconds of wall-clock time. */
  readonly longest: number;
  /** Milliseconds from each input to its paint, if above 16. */
  readonly inputs: readonly number[];
  /** The number of all inputs, including fast ones. */
  readonly interactions: number;
}

/** Installs observers in all pages of the context that load later. */
export const watchPage = (page: Page): Promise<unknown> =>
  page.context().addInitScript(`
    window.seen = { shifted: 0, longest: 0, byInput: {} };
    const watch = (options, take) =>
      new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ buffered: true, ...options });
    watch({ type: 'layout-shift' }, ({ value, hadRecentInput }) => {
      if (!hadRecentInput) window.seen.shifted += value;
    });
    watch({ type: 'longtask' }, ({ duration }) => {
      window.seen.longest = Math.max(window.seen.longest, duration);
    });
    watch({ type: 'event', durationThreshold: 16 }, ({ interactionId, duration }) => {
      const { byInput } = window.seen;
      if (interactionId > 0) byInput[interactionId] = Math.max(byInput[interactionId] ?? 0, duration);
    });
  `);

export const seenIn = (page: Page): Promise<Seen> =>
  page.evaluate(`({
    ...window.seen,
    inputs: Object.values(window.seen.byInput),
    interactions: performance.interactionCount,
  })`) as Promise<Seen>;

/** Resets the longest task. */
export const forgetLongest = (page: Page): Promise<unknown> => page.evaluate('window.seen.longest = 0');

/** Bytes on the heap of scripts after a garbage collection. */
export const heapOf = async (devtools: CDPSession): Promise<number> => {
  await devtools.send('HeapProfiler.collectGarbage');
  return (await devtools.send('Runtime.getHeapUsage')).usedSize;
};
