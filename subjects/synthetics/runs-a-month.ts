/** Number of runs of checks per month, which plans limit */
import type { StoredCheck } from '../../schemas/resources/synthetic-check.ts';
import { msOf } from '../alerts/durations.ts';
import { checkTypeOf } from './registry.ts';

const monthMs = 31 * 86_400_000;

type Counted = Pick<StoredCheck, 'type' | 'enabled' | 'every' | 'locations'>;

/** Returns the scheduled runs in 31 days at all locations; retries and off-schedule runs are not counted. */
export const runsAMonth = ({ type, enabled, every, locations }: Counted): number =>
  enabled && checkTypeOf(type).isPassive !== true ? Math.ceil(monthMs / msOf(every)) * locations.length : 0;

/**
 * Returns why a check cannot be saved; `undefined` if it can. A change that does not increase the runs is always
 * allowed.
 */
export const monthProblem = (
  after: Counted,
  {
    before,
    others,
    maxRuns,
    plan,
  }: {
    readonly before: Counted | undefined;
    readonly others: readonly Counted[];
    /** Limit of the plan */
    readonly maxRuns: number;
    readonly plan: string;
  },
): string | undefined => {
  const own = runsAMonth(after);
  if (own <= (before === undefined ? 0 : runsAMonth(before))) return undefined;
  const rest = others.reduce((sum, check) => sum + runsAMonth(check), 0);
  if (own + rest <= maxRuns) return undefined;
  const shown = (count: number): string => count.toLocaleString('en');
  return `it would run ${shown(own)} times a month, in addition to ${shown(rest)} runs of other checks, and the plan ${plan} includes ${shown(maxRuns)}: increase the interval, or use fewer locations`;
};
