/** Throttles logs of failures. In a store outage, many parts fail at once and again and again; they share lines. */

/** Failures of other parts follow the first one within this time. */
const firstDelayMs = 500;
const intervalMs = 60_000;

/**
 * Returns a function that logs the failure of a part. Failures within half a second of the first share one line with
 * the number of parts and the last error. Those of each further minute share one line, until a minute has no failure.
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
      scheduleReport(intervalMs);
    }, ms).unref();
  };
  return (part, error) => {
    parts.add(part);
    lastError = error;
    if (timer === undefined) scheduleReport(firstDelayMs);
  };
};
