import type { Operation } from '../../kernel/operation.ts';
import { getBilling } from './billing.ts';
import { changePlan } from './change-plan.ts';
import { getEntitlements } from './entitlements.ts';
import { listPlans } from './plans.ts';
import { getQuotas, setQuotas } from './quotas.ts';
import { getUsage } from './show.ts';
import { getUsageTimeSeries } from './timeseries.ts';

export const usageOperations: readonly Operation[] = [
  getUsage,
  getUsageTimeSeries,
  getQuotas,
  setQuotas,
  getEntitlements,
  listPlans,
  getBilling,
  changePlan,
];
