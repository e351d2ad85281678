import { defineGroup } from '../define-group.ts';
import { formatQuery, parseQuery } from './expressions.ts';
import { showLabels, showLabelValues, showSeries } from './labels.ts';
import { showExemplars, showMetadata } from './metadata.ts';
import { listAlerts, listRules, showBuild, showCardinality } from './status.ts';

export const prometheusGroup = defineGroup({
  name: 'prometheus',
  summary: 'The Prometheus HTTP API for PromQL.',
  entitlement: 'metrics',
  operations: [
    ...showSeries,
    ...showLabels,
    showLabelValues,
    showMetadata,
    showExemplars,
    formatQuery,
    parseQuery,
    listRules,
    listAlerts,
    showBuild,
    showCardinality,
  ],
  planned: [
    ['GET /api/prom/api/v1/query', 'viewer', 'instant query'],
    ['POST /api/prom/api/v1/query', 'viewer', 'the same, form-encoded'],
    ['GET /api/prom/api/v1/query_range', 'viewer', 'range query'],
    ['POST /api/prom/api/v1/query_range', 'viewer', 'the same, form-encoded'],
  ],
});
