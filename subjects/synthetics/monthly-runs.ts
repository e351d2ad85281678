/** Number of runs of checks per month, which plans limit */
import type { StoredCheck } from '../../schemas/resources/synthetic-check.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import { getCheckType } from './registry.ts';

const monthMs = 31 * 86_400_000;

type CountedCheck = Pick<StoredCheck, 'type' | 'enabled' | 'every' | 'locations'>;

/** Returns the scheduled runs in 31 days at all locations; retries and off-schedule runs are not counted. */
export const countMonthlyRuns = ({ type, enabled, every, locations }: CountedCheck): number =>
  enabled && getCheckType(type).isPassive !== true ? Math.ceil(monthMs / parseDurationMs(every)) * locations.length : 0;

/**
 * Returns why a check cannot be saved; `undefined` if it can. A change that does not increase the runs is always
 * allowed.
 */
export const findQuotaProblem = (
  after: CountedCheck,
  {
    before,
    others,
    maxRuns,
    plan,
  }: {
    readonly before: CountedCheck | undefined;
    readonly others: readonly CountedCheck[];
    /** Limit of the plan */
    readonly maxRuns: number;
    readonly plan: string;
  },
): string | undefined => {
  const checkRuns = countMonthlyRuns(after);
  if (checkRuns <= (before === undefined ? 0 : countMonthlyRuns(before))) return undefined;
  const otherRuns = others.reduce((sum, check) => sum + countMonthlyRuns(check), 0);
  if (checkRuns + otherRuns <= maxRuns) return undefined;
  const formatCount = (count: number): string => count.toLocaleString('en');
  return `it would run ${formatCount(checkRuns)} times a month, in addition to ${formatCount(otherRuns)} runs of other checks, and the plan ${plan} includes ${formatCount(maxRuns)}: increase the interval, or use fewer locations`;
};
