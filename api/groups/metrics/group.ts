import { defineGroup } from '../define-group.ts';
import { showCardinality } from './cardinality.ts';
import { listExemplars } from './exemplars.ts';
import { listMetricLabelValues } from './label-values.ts';
import { listMetrics } from './list.ts';
import { queryMetrics } from './query.ts';
import { showMetric } from './show.ts';

export const metricsGroup = defineGroup({
  name: 'metrics',
  summary: 'Metrics: catalog, labels, queries, exemplars, and numbers of series.',
  entitlement: 'metrics',
  operations: [listMetrics, showMetric, listMetricLabelValues, queryMetrics, showCardinality, listExemplars],
});
