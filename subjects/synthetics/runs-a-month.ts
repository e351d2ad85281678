/** How many runs checks make in a month, which plans limit. */
import type { StoredCheck } from '../../schemas/resources/synthetic-check.ts';
import { msOf } from '../alerts/durations.ts';
import { checkTypeOf } from './registry.ts';

const monthMs = 31 * 86_400_000;

type Counted = Pick<StoredCheck, 'type' | 'enabled' | 'every' | 'locations'>;

/** Runs of the schedule in 31 days, at all locations; retries, and what is asked for off the schedule, are not counted. */
export const runsAMonth = ({ type, enabled, every, locations }: Counted): number =>
  enabled && checkTypeOf(type).isPassive !== true ? Math.ceil(monthMs / msOf(every)) * locations.length : 0;

/** Why a check may not be written; undefined where it may. What makes no more runs than before always may. */
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
    /** Of the plan. */
    readonly maxRuns: number;
    readonly plan: string;
  },
): string | undefined => {
  const own = runsAMonth(after);
  if (own <= (before === undefined ? 0 : runsAMonth(before))) return undefined;
  const rest = others.reduce((sum, check) => sum + runsAMonth(check), 0);
  if (own + rest <= maxRuns) return undefined;
  const shown = (count: number): string => count.toLocaleString('en');
  return `it would make ${shown(own)} runs a month, beside ${shown(rest)} of other checks, and the plan ${plan} has ${shown(maxRuns)}: run it less often, or from fewer locations`;
};
