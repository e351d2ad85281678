import { quotas } from '../../../schemas/resources/quota.ts';
import { defineGroup } from '../define-group.ts';
import { getBilling } from './billing.ts';
import { changePlan } from './change-plan.ts';
import { getEntitlements, listPlans } from './plans.ts';
import { getQuotas, setQuotas } from './quotas.ts';
import { getUsage } from './show.ts';
import { getUsageTimeSeries } from './timeseries.ts';

export const usageGroup = defineGroup({
  name: 'usage',
  summary: 'Ingested volume, quotas, plans and cost.',
  operations: [getUsage, getUsageTimeSeries, getQuotas, setQuotas, getEntitlements, listPlans, getBilling, changePlan],
  collections: [quotas],
});
