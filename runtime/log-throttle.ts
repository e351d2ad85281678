/** Throttles logs of failures. In a store outage, many parts fail at once; they are logged in one line. */

const firstDelayMs = 500;
const maxDelayMs = 60_000;

/**
 * Returns a function that logs the failure of a part. Failures within half a second of the first share one line with
 * the number of parts and the last error. Further lines follow less and less often, up to a minute apart. The throttle
 * resets after a minute without failures.
 */
export const throttleFailures = (
  report: (error: unknown, parts: number) => void,
): ((part: string, error: unknown) => void) => {
  const parts = new Set<string>();
  let lastError: unknown;
  let timer: NodeJS.Timeout | undefined;
  const scheduleReport = (ms: number): void => {
    timer = setTimeout(() => {
      timer = undefined;
      if (parts.size === 0) return;
      report(lastError, parts.size);
      parts.clear();
      scheduleReport(Math.min(2 * ms, maxDelayMs));
    }, ms).unref();
  };
  return (part, error) => {
    parts.add(part);
    lastError = error;
    if (timer === undefined) scheduleReport(firstDelayMs);
  };
};
