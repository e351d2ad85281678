/**
 * Divides a whole number in proportion to weights. The shares are whole numbers that add up to it exactly; without any
 * weight the first share is all of it.
 */
export const sharesOf = (whole: number, weights: readonly number[]): number[] => {
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
