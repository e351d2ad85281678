/** Computes when a forecast crosses a limit, with the probability. */
import type { Forecast } from './forecast.ts';

export type Threshold = { readonly above: number } | { readonly below: number };

/**
 * Number of steps from the last value to the crossing, with the bounds of an interval; `null` if beyond the horizon.
 */
export interface Crossing {
  readonly steps: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** Probability that the limit is crossed within the horizon. */
  readonly probability: number;
  /** Reason why `steps` is `null`; `null` if there is a crossing. */
  readonly reason: string | null;
}

const formatPercent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

/** Returns words for a probability below 50 %. */
const describeProbability = (probability: number): string =>
  probability >= 0.25 ? 'may' : probability >= 0.1 ? 'will probably not' : 'is not likely to';

/**
 * Returns the crossing of a limit: the step at which its probability reaches 50 %, and as an interval, the steps at
 * which it reaches 5 % and 95 %. The probability never decreases from step to step.
 */
export const computeCrossing = (forecast: Forecast, limit: Threshold): Crossing => {
  const [side, value] = 'above' in limit ? ['above', limit.above] : ['below', limit.below];
  const probabilitiesAbove = forecast.probabilitiesAbove(value);
  // Independent errors are chances of their own, so the limit may be crossed before it is likely at one step. The end of
  // the interval does not count on that.
  let [maxProbability, maxProbabilityAtStep, uncrossed] = [0, 0, 1];
  const crossingProbabilities = probabilitiesAbove.map((share) => {
    const probability = side === 'above' ? share : 1 - share;
    uncrossed *= (1 - probability) ** forecast.independence;
    maxProbabilityAtStep = Math.max(maxProbabilityAtStep, probability);
    maxProbability = Math.max(maxProbabilityAtStep, 1 - uncrossed);
    return { probability: maxProbability, atStep: maxProbabilityAtStep };
  });
  const findStep = (isReached: (step: (typeof crossingProbabilities)[number]) => boolean): number | null => {
    const stepIndex = crossingProbabilities.findIndex(isReached);
    return stepIndex < 0 ? null : stepIndex + 1;
  };
  const steps = findStep(({ probability }) => probability >= 0.5);
  const reason =
    steps === null
      ? `it ${describeProbability(maxProbability)} be ${side} ${value} within ${probabilitiesAbove.length} steps: the probability is ${formatPercent(maxProbability)}`
      : null;
  return {
    steps,
    low: findStep(({ probability }) => probability >= 0.05),
    high: steps === null ? null : findStep(({ atStep }) => atStep >= 0.95),
    probability: maxProbability,
    reason,
  };
};
