import { z } from 'zod';
import { CatalogueMetric } from '../../../queries/metrics/catalogue.ts';
import { listLabels, MetricLabel } from '../../../queries/metrics/labels.ts';
import { findMetricUses, MetricUses } from '../../../queries/metrics/uses.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { requireMetric } from './require-metric.ts';

export const showMetric = defineOperation({
  method: 'GET',
  path: '/api/metrics/catalogue/{name}',
  operationId: 'showMetric',
  summary: 'Get a metric: type, unit, and its labels with the number of their values',
  role: 'viewer',
  cache: listCache,
  params: z.strictObject({ name: z.string().min(1).max(1024) }),
  query: z.strictObject({ from: rangeParameters.from, to: rangeParameters.to, ...projectScopeParameters }),
  response: CatalogueMetric.omit({ labels: true }).extend({
    labels: z.array(MetricLabel).describe('By name, labels of the series before those of resources'),
    used: MetricUses,
  }),
  async handler({ caller, params: { name }, query }, { columns, clock, documents, promql }) {
    const nowMs = clock.now();
    const range = parseRetainedRange(query, { caller, signal: 'metrics', nowMs });
    const reader = { columns: columns.forTenant(caller.tenantId) };
    const scope = { projectId: query.projectId, scope: query.scope };
    const metric = await requireMetric(reader, name, { ...scope, range });
    const [labels, used] = await Promise.all([
      listLabels(reader, { ...scope, metric: name, range }),
      findMetricUses(
        { ...reader, documents: documents.forTenant(caller.tenantId), translation: promql.translation },
        name,
      ),
    ]);
    return { ...metric, labels, used };
  },
});
