/**
 * Divides an integer in proportion to weights. The shares are integers with exactly that sum. If all weights are 0, the
 * first share is the total.
 */
export const distributeByWeight = (amount: number, weights: readonly number[]): number[] => {
  let totalWeight = 0;
  for (const weight of weights) totalWeight += weight;
  let cumulativeWeight = 0;
  let distributedAmount = 0;
  return weights.map((weight) => {
    cumulativeWeight += weight;
    const cumulativeShare = totalWeight === 0 ? amount : Math.round(amount * (cumulativeWeight / totalWeight));
    const share = cumulativeShare - distributedAmount;
    distributedAmount = cumulativeShare;
    return share;
  });
};
