import { z } from 'zod';
import {
  decodeCursor,
  decodeText,
  encodeCursor,
  encodeText,
  int64Pattern,
  textPattern,
} from '../../../queries/cursor.ts';
import {
  cardinalitySorts,
  countSeries,
  LabelCardinality,
  listLabelCardinality,
  listMetricCardinality,
  MetricCardinality,
  SeriesCounts,
} from '../../../queries/metrics/cardinality.ts';
import { findMetricsUses, MetricUses } from '../../../queries/metrics/uses.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters, requireRetained } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'cardinality';

export const showCardinality = defineOperation({
  method: 'GET',
  path: '/api/metrics/cardinality',
  operationId: 'showCardinality',
  summary:
    'Count series by metric at both ends of a range, with growth, churn and the users of each; with `metric`, by its labels',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    ...projectScopeParameters,
    sort: z
      .enum(cardinalitySorts)
      .default('-series')
      .describe('Largest first: series at `to`, growth, or number of appeared and disappeared series'),
    metric: z.string().min(1).max(1024).optional().describe('One metric, with its labels'),
  }),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    total: SeriesCounts,
    items: z.array(MetricCardinality.extend({ used: MetricUses })),
    labels: z
      .array(LabelCardinality)
      .optional()
      .describe('With `metric`: its labels, those with the most values first'),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, query }, { columns, clock, documents, promql }) {
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const range = page?.range ?? parseRetainedRange(query, { caller, signal: 'metrics', nowMs });
    if (page !== undefined) requireRetained(range, { caller, signal: 'metrics', nowMs, isFromCursor: true });
    const reader = { columns: columns.forTenant(caller.tenantId) };
    const { projectId, scope, sort, limit, metric } = query;
    const countQuery = { range, projectId, scope };
    const [total, { items, nextPosition }, labels] = await Promise.all([
      countSeries(reader, countQuery),
      listMetricCardinality(reader, { ...countQuery, sort, limit, metric, after: page?.after }),
      metric === undefined ? undefined : listLabelCardinality(reader, { ...countQuery, metric }),
    ]);
    const usesByMetric = await findMetricsUses(
      { ...reader, documents: documents.forTenant(caller.tenantId), translation: promql.translation },
      items.map((item) => item.metric),
    );
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      total,
      items: items.flatMap((item) => {
        const metricUses = usesByMetric.get(item.metric);
        return metricUses === undefined ? [] : [{ ...item, used: metricUses }];
      }),
      ...(labels && { labels }),
      nextCursor:
        nextPosition === undefined
          ? null
          : encodeCursor(cursorKind, [range.from, range.to, nextPosition.size, encodeText(nextPosition.metric)]),
    };
  },
});

const parseCursor = (cursor: string) => {
  const [from = '', to = '', size = '', metric = ''] = decodeCursor(cursorKind, cursor, [
    int64Pattern,
    int64Pattern,
    int64Pattern,
    textPattern,
  ]);
  return { range: { from: BigInt(from), to: BigInt(to) }, after: { size, metric: decodeText(metric) } };
};
