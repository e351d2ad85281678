/** Simple forecast models that `forecast.ts` combines by weights. Each uses only the values before its origin. */

/** Forecasts the next `horizon` values from these; `undefined` if there are too few. */
export type Model = (values: Float64Array, horizon: number) => Float64Array | undefined;

const ridge = 1e-3;
const maxLagFits = 2000;

const computeMean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns a model that forecasts the mean of the same slot in the last seasons. */
export const createSeasonalModel =
  (period: number, seasons: number): Model =>
  (values, horizon) => {
    if (values.length < period * seasons) return undefined;
    return Float64Array.from({ length: horizon }, (_, lead) => {
      let sum = 0;
      for (let season = 1; season <= seasons; season++)
        sum += values[values.length - season * period + (lead % period)] ?? 0;
      return sum / seasons;
    });
  };

/**
 * Returns a model that forecasts the exponentially smoothed value; the weight of a value halves after `halfLife` steps.
 */
export const createLevelModel =
  (halfLife: number): Model =>
  (values, horizon) => {
    const decay = 0.5 ** (1 / halfLife);
    let smoothedValue = values[0] ?? 0;
    for (const value of values) smoothedValue = decay * smoothedValue + (1 - decay) * value;
    return new Float64Array(horizon).fill(smoothedValue);
  };

/**
 * Returns a model that fits a line to the last share of values. The line continues for as many steps as were fitted,
 * then stays level.
 */
export const createTrendModel =
  (share: number): Model =>
  (values, horizon) => {
    const count = Math.floor(values.length * share);
    if (count < 8) return undefined;
    const lastValues = values.subarray(values.length - count);
    const middle = (count - 1) / 2;
    const mean = computeMean(lastValues);
    let [covariance, variance] = [0, 0];
    for (const [index, value] of lastValues.entries()) {
      covariance += (index - middle) * (value - mean);
      variance += (index - middle) ** 2;
    }
    const slope = covariance / variance;
    return Float64Array.from({ length: horizon }, (_, lead) => mean + slope * (middle + Math.min(lead + 1, count)));
  };

/**
 * Returns a model that fits a line to the means of seasons, and the mean deviation of each slot from it. The line
 * continues for as many steps as were fitted, then stays level.
 */
export const createSeasonalTrendModel =
  (period: number): Model =>
  (values, horizon) => {
    const seasons = Math.floor(values.length / period);
    if (seasons < 3) return undefined;
    const count = seasons * period;
    const lastValues = values.subarray(values.length - count);
    const means = Array.from({ length: seasons }, (_, season) =>
      computeMean(lastValues.subarray(season * period, (season + 1) * period)),
    );
    const middle = (seasons - 1) / 2;
    let [covariance, variance] = [0, 0];
    for (const [season, mean] of means.entries()) {
      covariance += (season - middle) * mean;
      variance += (season - middle) ** 2;
    }
    const slope = covariance / variance / period;
    const center = (count - 1) / 2;
    const mean = computeMean(lastValues);
    const slots = new Float64Array(period);
    for (const [index, value] of lastValues.entries())
      slots[index % period] = (slots[index % period] ?? 0) + (value - mean - slope * (index - center)) / seasons;
    return Float64Array.from(
      { length: horizon },
      (_, lead) => mean + slope * (center + Math.min(lead + 1, count)) + (slots[lead % period] ?? 0),
    );
  };

/** Replaces a symmetric positive matrix, stored by rows in one array, by its lower triangular factor (Cholesky). */
const factorize = (matrix: Float64Array, size: number): void => {
  const at = (row: number, column: number): number => matrix[row * size + column] ?? 0;
  for (let column = 0; column < size; column++)
    for (let row = column; row < size; row++) {
      let sum = at(row, column);
      for (let k = 0; k < column; k++) sum -= at(row, k) * at(column, k);
      matrix[row * size + column] = row === column ? Math.sqrt(Math.max(sum, 1e-12)) : sum / at(column, column);
    }
};

/** Solves a factorized system; the result replaces the right side. */
const solveFactorized = (factor: Float64Array, right: Float64Array): Float64Array => {
  const size = right.length;
  const at = (row: number, column: number): number => factor[row * size + column] ?? 0;
  for (let row = 0; row < size; row++) {
    let sum = right[row] ?? 0;
    for (let k = 0; k < row; k++) sum -= at(row, k) * (right[k] ?? 0);
    right[row] = sum / at(row, row);
  }
  for (let row = size - 1; row >= 0; row--) {
    let sum = right[row] ?? 0;
    for (let k = row + 1; k < size; k++) sum -= at(k, row) * (right[k] ?? 0);
    right[row] = sum / at(row, row);
  }
  return right;
};

/** Adds the products of one row's lags with each other, and with its value. */
const addProducts = (matrix: Float64Array, right: Float64Array, row: Float64Array, value: number): void => {
  const size = row.length;
  for (let i = 0; i < size; i++) {
    const one = row[i] ?? 0;
    right[i] = (right[i] ?? 0) + one * value;
    for (let j = 0; j <= i; j++) matrix[i * size + j] = (matrix[i * size + j] ?? 0) + one * (row[j] ?? 0);
  }
};

/** Returns the weights of each lag for values with mean 0 and deviation 1 (ridge regression). */
const fitLagWeights = (values: Float64Array, lags: readonly number[]): Float64Array => {
  const size = lags.length;
  const [matrix, right, row] = [new Float64Array(size * size), new Float64Array(size), new Float64Array(size)];
  const first = Math.max(lags.at(-1) ?? 0, values.length - maxLagFits);
  for (let index = first; index < values.length; index++) {
    for (const [i, lag] of lags.entries()) row[i] = values[index - lag] ?? 0;
    addProducts(matrix, right, row, values[index] ?? 0);
  }
  const penalty = ridge * (values.length - first) + 1e-9;
  for (let i = 0; i < size; i++) matrix[i * size + i] = (matrix[i * size + i] ?? 0) + penalty;
  factorize(matrix, size);
  return solveFactorized(matrix, right);
};

const forecastByLags = (values: Float64Array, horizon: number, lags: readonly number[]): Float64Array | undefined => {
  if (values.length < (lags.at(-1) ?? 0) + 3 * lags.length) return undefined;
  const mean = computeMean(values);
  const deviation = Math.sqrt(computeMean(values.map((value) => (value - mean) ** 2)));
  if (!(deviation > 0)) return new Float64Array(horizon).fill(mean);
  const extended = new Float64Array(values.length + horizon);
  for (const [index, value] of values.entries()) extended[index] = (value - mean) / deviation;
  const history = extended.subarray(0, values.length);
  const weights = fitLagWeights(history, lags);
  const [low, high] = [history.reduce((a, b) => Math.min(a, b)), history.reduce((a, b) => Math.max(a, b))];
  const margin = (high - low) / 2;
  for (let index = values.length; index < extended.length; index++) {
    let sum = 0;
    for (let i = 0; i < lags.length; i++) sum += (weights[i] ?? 0) * (extended[index - (lags[i] ?? 0)] ?? 0);
    // An unstable regression amplifies its own output, so it is limited to the historic range plus half.
    extended[index] = Math.min(high + margin, Math.max(low - margin, sum));
  }
  return extended.subarray(values.length).map((value) => mean + deviation * value);
};

/** Returns a model that forecasts step by step, by regression on earlier values. */
export const createRegressionModel =
  (lags: readonly number[]): Model =>
  (values, horizon) =>
    forecastByLags(values, horizon, lags);

/** As the regression model, but on logarithms, for values that grow and shrink proportionally. */
export const createLogRegressionModel =
  (lags: readonly number[]): Model =>
  (values, horizon) =>
    values.some((value) => value <= 0)
      ? undefined
      : forecastByLags(values.map(Math.log), horizon, lags)?.map((value) => Math.exp(value));
