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

/**
 * Returns the crossing of a limit: the step at which its probability reaches 50 %, and as an interval, the steps at
 * which it reaches 5 % and 95 %. The probability never decreases from step to step.
 */
export const computeCrossing = (forecast: Forecast, limit: Threshold): Crossing => {
  const [side, value] = 'above' in limit ? ['above', limit.above] : ['below', limit.below];
  const probabilitiesAbove = forecast.probabilitiesAbove(value);
  let maxProbability = 0;
  const crossingProbabilities = probabilitiesAbove.map((share) => {
    maxProbability = Math.max(maxProbability, side === 'above' ? share : 1 - share);
    return maxProbability;
  });
  const firstStepWithProbability = (share: number): number | null => {
    const stepIndex = crossingProbabilities.findIndex((probability) => probability >= share);
    return stepIndex < 0 ? null : stepIndex + 1;
  };
  const steps = firstStepWithProbability(0.5);
  const reason =
    steps === null
      ? `it is not likely to be ${side} ${value} within ${probabilitiesAbove.length} steps: the probability is ${formatPercent(maxProbability)}`
      : null;
  return {
    steps,
    low: steps === null ? null : firstStepWithProbability(0.05),
    high: steps === null ? null : firstStepWithProbability(0.95),
    probability: maxProbability,
    reason,
  };
};
