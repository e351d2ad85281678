/** Number of requests in a range, and of failed requests */
interface RequestCounts {
  readonly all: number;
  readonly failed: number;
}

/** Minimum deviations for a significant growth; the false positive rate is less than 1 in 1,000 ranges */
const minDeviations = 3.1;
/** Minimum number of failed requests for a result */
const minFailed = 5;

/** Returns whether the share of failures grew significantly: a one-sided test of two proportions. */
export const hasGrownSignificantly = (before: RequestCounts, now: RequestCounts): boolean => {
  if (now.failed < minFailed || before.all === 0 || now.all === 0) return false;
  const pooled = (before.failed + now.failed) / (before.all + now.all);
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / before.all + 1 / now.all));
  // If all requests fail in both ranges, nothing grew.
  return deviation > 0 && (now.failed / now.all - before.failed / before.all) / deviation >= minDeviations;
};
