const intervalMs = 3_600_000;
/** A start is busy enough without it. */
const firstMs = 60_000;

/** Runs `work` a minute after the start and then once an hour, one run at a time. What it throws goes to `failed`. `stop` waits for a run under way. */
export const hourly = (work: () => Promise<void>, failed: (error: unknown) => void): { stop(): Promise<void> } => {
  let run = Promise.resolve();
  const tick = (): void => {
    run = run.then(work).catch(failed);
  };
  const first = setTimeout(tick, firstMs);
  const timer = setInterval(tick, intervalMs);
  first.unref();
  timer.unref();
  return {
    stop() {
      clearTimeout(first);
      clearInterval(timer);
      return run;
    },
  };
};
