import { z } from 'zod';
import { anyText, decodeCursor, encodeCursor, integer, textIn, textPart } from '../../../queries/cursor.ts';
import {
  cardinalitySorts,
  LabelCardinality,
  labelCardinality,
  MetricCardinality,
  metricCardinality,
  SeriesCounts,
  seriesCounts,
} from '../../../queries/metrics/cardinality.ts';
import { MetricUses, usesOfMetrics } from '../../../queries/metrics/uses.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters, refuseBeyondRetention } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'cardinality';

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
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor);
    const range = page?.range ?? rangeOf(query, { caller, signal: 'metrics', nowMs });
    if (page !== undefined) refuseBeyondRetention(range, { caller, signal: 'metrics', nowMs, wasListed: true });
    const reading = { columns: columns.of(caller.tenantId) };
    const { projectId, scope, sort, limit, metric } = query;
    const question = { range, projectId, scope };
    const [total, { items, more }, labels] = await Promise.all([
      seriesCounts(reading, question),
      metricCardinality(reading, { ...question, sort, limit, metric, after: page?.after }),
      metric === undefined ? undefined : labelCardinality(reading, { ...question, metric }),
    ]);
    const used = await usesOfMetrics(
      { ...reading, documents: documents.of(caller.tenantId), translation: promql.translation },
      items.map((item) => item.metric),
    );
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      total,
      items: items.flatMap((item) => {
        const found = used.get(item.metric);
        return found === undefined ? [] : [{ ...item, used: found }];
      }),
      ...(labels && { labels }),
      nextCursor:
        more === undefined ? null : encodeCursor(kind, [range.from, range.to, more.size, textPart(more.metric)]),
    };
  },
});

const pageOf = (cursor: string) => {
  const [from = '', to = '', size = '', metric = ''] = decodeCursor(kind, cursor, [integer, integer, integer, anyText]);
  return { range: { from: BigInt(from), to: BigInt(to) }, after: { size, metric: textIn(metric) } };
};
