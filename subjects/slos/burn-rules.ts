/** When a budget burns too fast: the rules of the SRE workbook, scaled to a window, and whether one holds. */

import { burnRateOf, type Objective, type Sums } from './figures.ts';
import { compared, decimal, dividedBy, type Fraction, fraction, minus, times } from './fraction.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const one = fraction(1n);

/** Both windows must burn at the rate or faster. The short one ends the alert soon after the burning does. */
export interface BurnRule {
  readonly severity: 'page' | 'ticket';
  readonly longMs: number;
  readonly shortMs: number;
  readonly rate: Fraction;
}

/** Share of the budget that is spent in the long window at that rate. */
const workbook = [
  { severity: 'page', share: 0.02, longMs: hourMs, shortMs: 5 * minuteMs },
  { severity: 'page', share: 0.05, longMs: 6 * hourMs, shortMs: 30 * minuteMs },
  { severity: 'ticket', share: 0.1, longMs: dayMs, shortMs: 2 * hourMs },
  { severity: 'ticket', share: 0.1, longMs: 3 * dayMs, shortMs: 6 * hourMs },
] as const;

/**
 * The rules of the SRE workbook for a window: the rate at which that share of the budget is spent in the long window.
 * Left out are rates below 1, at which a budget lasts longer than its window.
 */
export const usualBurnRules = (windowMs: number): BurnRule[] =>
  workbook
    .map(({ share, ...rule }) => ({
      ...rule,
      rate: times(decimal(share), fraction(BigInt(windowMs), BigInt(rule.longMs))),
    }))
    .filter(({ rate }) => compared(rate, one) >= 0);

/** Whether the rate can be reached at all: with a target of 90 % everything bad burns at 10. */
export const isReachable = ({ rate }: Pick<BurnRule, 'rate'>, { target }: Pick<Objective, 'target'>): boolean =>
  compared(rate, dividedBy(one, minus(one, target))) <= 0;

/** Why a rule holds or does not; `unknown` leaves a state as it is. */
export type BurnVerdict =
  | { readonly holds: boolean; readonly reason: 'burning' | 'slower' | 'few-events' }
  | { readonly holds: 'unknown'; readonly reason: 'low-coverage' | 'no-events' };

/** What a rule looks at. Coverage is that of the long window. */
export interface Burning {
  readonly long: Sums;
  readonly short: Sums;
  readonly coverage: number;
  /** Events or slices that the long window must have; without it, more than one bad. */
  readonly minimumEvents?: number | undefined;
}

/** The lower burn rate of the two windows; `undefined` where one of them knows nothing. */
export const lowerBurnRate = ({ long, short }: Burning, objective: Objective): Fraction | undefined => {
  const [one, other] = [burnRateOf(long, objective), burnRateOf(short, objective)];
  if (one === undefined || other === undefined) return undefined;
  return compared(one, other) <= 0 ? one : other;
};

/** Whether a rule holds. */
export const judgeBurn = (rule: Pick<BurnRule, 'rate'>, burning: Burning, objective: Objective): BurnVerdict => {
  if (burning.coverage < 0.5) return { holds: 'unknown', reason: 'low-coverage' };
  const rate = lowerBurnRate(burning, objective);
  if (rate === undefined) return { holds: 'unknown', reason: 'no-events' };
  if (compared(rate, rule.rate) < 0) return { holds: false, reason: 'slower' };
  const { bad, total } = burning.long;
  const enough =
    burning.minimumEvents === undefined
      ? compared(bad, one) > 0
      : compared(total, fraction(BigInt(burning.minimumEvents))) >= 0;
  return enough ? { holds: true, reason: 'burning' } : { holds: false, reason: 'few-events' };
};
