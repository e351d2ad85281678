/** The 75th percentile of samples by nearest rank, and its interval by order statistics. */

/** Numbers of samples up to which ranks are exact. Above, the binomial distribution is close to the normal one. */
const maxExact = 200;
const share = 0.75;
const tail = 0.025;
/** Quantile of the normal distribution for both tails. */
const deviations = 1.96;

/** Number of samples below which a percentile has no rating. */
export const minRatedSamples = 30;

/** Returns the rank of the 75th percentile among n samples, from 1. */
export const computeRank = (count: number): number => Math.ceil(share * count);

/** Cumulative probabilities of the number of samples below the true percentile. */
const computeCumulative = (count: number): number[] => {
  let probability = (1 - share) ** count;
  let sum = 0;
  return Array.from({ length: count + 1 }, (_, below) => {
    sum += probability;
    probability *= ((count - below) / (below + 1)) * (share / (1 - share));
    return sum;
  });
};

/**
 * Returns the ranks between which the true percentile is with a probability of at least 95 %; 0 for a bound that so few
 * samples do not have.
 */
export const computeIntervalRanks = (count: number): readonly [low: number, high: number] => {
  if (count > maxExact) {
    const spread = deviations * Math.sqrt(count * share * (1 - share));
    return [Math.floor(count * share - spread), Math.min(count, Math.ceil(count * share + spread) + 1)];
  }
  const cumulative = computeCumulative(count);
  const low = cumulative.findLastIndex((probability) => probability <= tail) + 1;
  const high = cumulative.findIndex((probability) => probability >= 1 - tail) + 1;
  return [low, high > count ? 0 : high];
};

const exactRanks = Array.from({ length: maxExact }, (_, index) => computeIntervalRanks(index + 1));
const toArraySql = (numbers: readonly number[]): string => `[${numbers.join(',')}]`;
const lowRanks = toArraySql(exactRanks.map(([low]) => low));
const highRanks = toArraySql(exactRanks.map(([, high]) => high));

/** Returns SQL of an element of a sorted array; null for the rank 0. */
const buildElementSql = (sorted: string, rank: string): string => `if(${rank} = 0, NULL, ${sorted}[${rank}])`;

/** Returns SQL of the percentile and its interval, from a sorted array of samples and their number. */
export const buildPercentileSql = (
  sorted: string,
  count: string,
): { readonly p75: string; readonly low: string; readonly high: string } => {
  const spread = `${deviations} * sqrt(${count} * ${share} * ${1 - share})`;
  const low = `if(${count} > ${maxExact}, toInt64(floor(${count} * ${share} - ${spread})), toInt64(${lowRanks}[toUInt32(${count})]))`;
  const high = `if(${count} > ${maxExact}, least(toInt64(${count}), toInt64(ceil(${count} * ${share} + ${spread})) + 1), toInt64(${highRanks}[toUInt32(${count})]))`;
  return {
    p75: `${sorted}[toUInt64(ceil(${share} * ${count}))]`,
    low: buildElementSql(sorted, low),
    high: buildElementSql(sorted, high),
  };
};
