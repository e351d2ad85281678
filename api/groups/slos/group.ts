import { defineGroup } from '../define-group.ts';
import { exportSlo, importSlos } from './openslo.ts';
import { getSloBurnRate, getSloForecast } from './over-time.ts';
import { sloResource } from './slo.ts';
import { getSloStatus } from './status.ts';

export const slosGroup = defineGroup({
  name: 'slos',
  summary: 'Service level objectives, their error budgets and reports.',
  resources: [sloResource],
  operations: [getSloStatus, getSloBurnRate, getSloForecast, importSlos, exportSlo],
  planned: [
    ['GET /api/slos/{id}/policy', 'viewer', 'error-budget policy'],
    ['PUT /api/slos/{id}/policy', 'editor', 'set thresholds and what happens at each'],
    ['GET /api/slos/{id}/report', 'viewer', 'SLA report per calendar period (JSON, CSV)'],
  ],
});
