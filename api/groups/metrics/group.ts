import { defineGroup } from '../define-group.ts';
import { listMetrics } from './list.ts';

export const metricsGroup = defineGroup({
  name: 'metrics',
  summary: 'Metrics: their names, series and labels.',
  entitlement: 'metrics',
  operations: [listMetrics],
  planned: [
    ['GET /api/metrics/catalogue/{name}', 'viewer', "one metric's labels and cardinality"],
    ['GET /api/metrics/catalogue/{name}/labels/{label}/values', 'viewer', 'values'],
    ['POST /api/metrics/query', 'viewer', 'builder queries or PromQL over a range, several with formulas'],
    ['GET /api/metrics/cardinality', 'viewer', 'series per metric and label, growth'],
    ['GET /api/metrics/exemplars', 'viewer', 'exemplars with trace ids'],
  ],
});
