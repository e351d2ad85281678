/**
 * Divides an integer in proportion to weights. The shares are integers with exactly that sum. If all weights are 0, the
 * first share is the total.
 */
export const distributeByWeight = (whole: number, weights: readonly number[]): number[] => {
  let total = 0;
  for (const weight of weights) total += weight;
  let passed = 0;
  let given = 0;
  return weights.map((weight) => {
    passed += weight;
    const upTo = total === 0 ? whole : Math.round(whole * (passed / total));
    const share = upTo - given;
    given = upTo;
    return share;
  });
};
