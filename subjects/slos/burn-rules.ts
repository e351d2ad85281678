/** Burn rate rules of the SRE workbook, scaled to a window */

import type { Objective } from './slices/error-budget.ts';
import {
  compare,
  createFraction,
  decimalToFraction,
  divide,
  type Fraction,
  multiply,
  subtract,
} from './slices/fraction.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const one = createFraction(1n);

/**
 * A burn rate rule. Both windows must burn at the rate or faster; the short window ends the alert soon after the burn
 * ends
 */
export interface BurnRule {
  readonly severity: 'page' | 'ticket';
  readonly longMs: number;
  readonly shortMs: number;
  readonly rate: Fraction;
}

/** Share of the budget that is consumed in the long window at the rate */
const workbookRules = [
  { severity: 'page', share: 0.02, longMs: hourMs, shortMs: 5 * minuteMs },
  { severity: 'page', share: 0.05, longMs: 6 * hourMs, shortMs: 30 * minuteMs },
  { severity: 'ticket', share: 0.1, longMs: dayMs, shortMs: 2 * hourMs },
  { severity: 'ticket', share: 0.1, longMs: 3 * dayMs, shortMs: 6 * hourMs },
] as const;

/**
 * Returns the rules of the SRE workbook for a window: the rate that consumes the given share of the budget in the long
 * window. Rates below 1 are omitted, because the budget then lasts longer than its window.
 */
export const createDefaultBurnRules = (windowMs: number): BurnRule[] =>
  workbookRules
    .map(({ share, ...rule }) => ({
      ...rule,
      rate: multiply(decimalToFraction(share), createFraction(BigInt(windowMs), BigInt(rule.longMs))),
    }))
    .filter(({ rate }) => compare(rate, one) >= 0);

/** Returns whether a rate can be reached: with a target of 90%, a full outage burns at 10. */
export const isReachable = ({ rate }: Pick<BurnRule, 'rate'>, { target }: Pick<Objective, 'target'>): boolean =>
  compare(rate, divide(one, subtract(one, target))) <= 0;
