/** Number of requests in a range, and of failed requests */
interface RequestCounts {
  readonly all: number;
  readonly failed: number;
}

/**
 * Minimum number of standard deviations for significant growth; the false positive rate is less than 1 in 1,000
 * ranges
 */
const minDeviations = 3.1;
/** Minimum number of failed requests for a result */
const minFailedRequests = 5;

/** Returns whether the share of failures grew significantly: a one-sided test of two proportions. */
export const hasGrownSignificantly = (before: RequestCounts, now: RequestCounts): boolean => {
  if (now.failed < minFailedRequests || before.all === 0 || now.all === 0) return false;
  const pooledShare = (before.failed + now.failed) / (before.all + now.all);
  const deviation = Math.sqrt(pooledShare * (1 - pooledShare) * (1 / before.all + 1 / now.all));
  // If all requests fail in both ranges, nothing grew.
  return deviation > 0 && (now.failed / now.all - before.failed / before.all) / deviation >= minDeviations;
};
