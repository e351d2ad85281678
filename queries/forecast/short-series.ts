/**
 * Forecasts short series, which have too few values for a backtest. The methods are the last value, the mean and a
 * line, each with its theoretical variance. Their one-step errors determine their weights. Intervals use Student's t
 * distribution.
 */

/** Forecast of one lead: the central value, and the scale of a Student's t distribution around it. */
interface LeadForecast {
  readonly value: number;
  readonly scale: number;
}

interface Estimate {
  readonly value: number;
  readonly variance: number;
}

/** A forecast method with the number of its parameters. */
interface Method {
  readonly parameters: number;
  readonly estimate: (
    values: Float64Array,
    lead: number,
  ) => { readonly value: number; readonly varianceFactor: number };
}

const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const lastValueMethod: Method = {
  parameters: 1,
  estimate: (values, lead) => ({ value: values.at(-1) ?? 0, varianceFactor: lead }),
};
const meanMethod: Method = {
  parameters: 1,
  estimate: (values) => ({ value: mean(values), varianceFactor: 1 + 1 / values.length }),
};
/** The line continues for as many steps as it was fitted to, then stays level. */
const lineMethod: Method = {
  parameters: 2,
  estimate: (values, lead) => {
    const [middle, level] = [(values.length - 1) / 2, mean(values)];
    let [covariance, variance] = [0, 0];
    for (const [index, value] of values.entries()) {
      covariance += (index - middle) * (value - level);
      variance += (index - middle) ** 2;
    }
    const distance = middle + Math.min(lead, values.length);
    return {
      value: level + (covariance / variance) * distance,
      varianceFactor: 1 + 1 / values.length + distance ** 2 / variance,
    };
  },
};
const methods = [lastValueMethod, meanMethod, lineMethod];
/** Factor that widens intervals, which are slightly too narrow because the same errors determine the weights. */
const intervalWidening = 1.1;

/** Returns the mean squared one-step error over all origins of a method. */
const computeErrorVariance = ({ parameters, estimate }: Method, values: Float64Array): number => {
  let [sum, count] = [0, 0];
  for (let origin = parameters; origin < values.length; origin++) {
    const { value, varianceFactor } = estimate(values.subarray(0, origin), 1);
    sum += ((values[origin] ?? 0) - value) ** 2 / varianceFactor;
    count++;
  }
  return sum / count;
};

/** Returns the forecast of each lead from at least three values, and the degrees of freedom. */
export const forecastFromFewValues = (
  values: Float64Array,
  horizon: number,
): { readonly leads: readonly LeadForecast[]; readonly degreesOfFreedom: number } => {
  const variances = methods.map((method) => computeErrorVariance(method, values));
  const minVariance = Math.max(Math.min(...variances), 1e-24);
  const weights = variances.map((variance) => (minVariance / Math.max(variance, minVariance)) ** (values.length / 2));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const leads = Array.from({ length: horizon }, (_, index) => {
    const estimates = methods.map((method, methodIndex): Estimate => {
      const { value, varianceFactor } = method.estimate(values, index + 1);
      return { value, variance: (variances[methodIndex] ?? 0) * varianceFactor };
    });
    const weightedMean = (getValue: (one: Estimate) => number): number =>
      estimates.reduce((sum, estimate, methodIndex) => sum + (weights[methodIndex] ?? 0) * getValue(estimate), 0) /
      total;
    const value = weightedMean((estimate) => estimate.value);
    return {
      value,
      scale:
        intervalWidening * Math.sqrt(weightedMean((estimate) => estimate.variance + (estimate.value - value) ** 2)),
    };
  });
  return { leads, degreesOfFreedom: Math.max(1.5, values.length - 2) };
};

/** Returns the standard normal distribution function (Abramowitz and Stegun 26.2.17). */
const computeNormalCdf = (value: number): number => {
  const k = 1 / (1 + 0.2316419 * Math.abs(value));
  const tail =
    (Math.exp((-value * value) / 2) / Math.sqrt(2 * Math.PI)) *
    k *
    (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
  return value > 0 ? 1 - tail : tail;
};

/** Returns Student's t distribution function, approximated by the normal one. */
export const computeStudentCdf = (value: number, degreesOfFreedom: number): number =>
  computeNormalCdf(
    Math.sign(value) *
      ((8 * degreesOfFreedom + 1) / (8 * degreesOfFreedom + 3)) *
      Math.sqrt(degreesOfFreedom * Math.log(1 + (value * value) / degreesOfFreedom)),
  );

/** Returns the quantile of Student's t distribution, from 0.5 up, by bisection. */
export const computeStudentQuantile = (share: number, degreesOfFreedom: number): number => {
  let [low, high] = [0, 1e4];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (computeStudentCdf(middle, degreesOfFreedom) < share) low = middle;
    else high = middle;
  }
  return high;
};
