/** Requests of a time, and how many of them failed. */
interface Counts {
  readonly all: number;
  readonly failed: number;
}

/** Of as many ranges that are alike, fewer than one in a thousand is said to have grown. */
const minDeviations = 3.1;
/** What a handful of requests does says nothing. */
const minFailed = 5;

/** Whether a larger share fails than before, and chance does not explain it: the test of two shares, one-sided. */
export const grew = (before: Counts, now: Counts): boolean => {
  if (now.failed < minFailed || before.all === 0 || now.all === 0) return false;
  const pooled = (before.failed + now.failed) / (before.all + now.all);
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / before.all + 1 / now.all));
  // Where all fail in both, nothing grew.
  return deviation > 0 && (now.failed / now.all - before.failed / before.all) / deviation >= minDeviations;
};
