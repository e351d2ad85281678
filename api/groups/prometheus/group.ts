import { defineGroup } from '../define-group.ts';

export const prometheusGroup = defineGroup({
  name: 'prometheus',
  summary: 'The Prometheus HTTP API for PromQL.',
  entitlement: 'metrics',
  planned: [
    ['GET /api/prom/api/v1/query', 'viewer', 'instant query'],
    ['POST /api/prom/api/v1/query', 'viewer', 'the same, form-encoded'],
    ['GET /api/prom/api/v1/query_range', 'viewer', 'range query'],
    ['POST /api/prom/api/v1/query_range', 'viewer', 'the same, form-encoded'],
    ['GET /api/prom/api/v1/series', 'viewer', 'series'],
    ['POST /api/prom/api/v1/series', 'viewer', 'the same, form-encoded'],
    ['GET /api/prom/api/v1/labels', 'viewer', 'label names'],
    ['POST /api/prom/api/v1/labels', 'viewer', 'the same, form-encoded'],
    ['GET /api/prom/api/v1/label/{name}/values', 'viewer', 'label values'],
    ['GET /api/prom/api/v1/metadata', 'viewer', 'metadata'],
    ['GET /api/prom/api/v1/query_exemplars', 'viewer', 'exemplars'],
    ['GET /api/prom/api/v1/format_query', 'viewer', 'format'],
    ['GET /api/prom/api/v1/parse_query', 'viewer', 'parse'],
    ['GET /api/prom/api/v1/rules', 'viewer', "alert rules, in Prometheus' shape"],
    ['GET /api/prom/api/v1/alerts', 'viewer', "alerts, in Prometheus' shape"],
    ['GET /api/prom/api/v1/status/buildinfo', 'viewer', 'build info'],
    ['GET /api/prom/api/v1/status/tsdb', 'viewer', 'cardinality statistics'],
  ],
});
