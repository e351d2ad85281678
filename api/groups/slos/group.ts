import { sloBurnNotifications } from '../../../schemas/resources/slo-burn-notification.ts';
import { sloPolicies } from '../../../schemas/resources/slo-policy.ts';
import { sloReports } from '../../../schemas/resources/slo-report.ts';
import { defineGroup } from '../define-group.ts';
import { exportSlo, importSlos } from './openslo.ts';
import { getSloBurnRate, getSloForecast } from './over-time.ts';
import { getSloPolicy, setSloPolicy } from './policy.ts';
import { getSloReport } from './report.ts';
import { sloResource } from './slo.ts';
import { getSloStatus } from './status.ts';

export const slosGroup = defineGroup({
  name: 'slos',
  summary: 'Service level objectives, their error budgets and reports.',
  resources: [sloResource],
  operations: [
    getSloStatus,
    getSloBurnRate,
    getSloForecast,
    getSloPolicy,
    setSloPolicy,
    getSloReport,
    importSlos,
    exportSlo,
  ],
  collections: [sloPolicies, sloReports, sloBurnNotifications],
});
