/** Failures of many parts of one thing, which a store that is away brings all at once: one line for all of them. */

const firstMs = 500;
const maxDelayMs = 60_000;

/**
 * Makes a function that takes the failure of a part. Failures that come within half a second of the first are told together, with the
 * number of parts and the last error; further ones less and less often, a minute apart at last, until none comes for that long.
 */
export const throttleFailures = (
  report: (error: unknown, parts: number) => void,
): ((part: string, error: unknown) => void) => {
  const parts = new Set<string>();
  let last: unknown;
  let timer: NodeJS.Timeout | undefined;
  const gather = (ms: number): void => {
    timer = setTimeout(() => {
      timer = undefined;
      if (parts.size === 0) return;
      report(last, parts.size);
      parts.clear();
      gather(Math.min(2 * ms, maxDelayMs));
    }, ms).unref();
  };
  return (part, error) => {
    parts.add(part);
    last = error;
    if (timer === undefined) gather(firstMs);
  };
};
