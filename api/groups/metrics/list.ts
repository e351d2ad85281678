import { z } from 'zod';
import {
  decodeCursor,
  decodeText,
  encodeCursor,
  encodeText,
  int64Pattern,
  textPattern,
} from '../../../queries/cursor.ts';
import { CatalogueMetric, listCatalogue } from '../../../queries/metrics/catalogue.ts';
import { readSeries, Series } from '../../../queries/metrics/series.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { buildLabelName, buildMetricName, type TranslationStrategy } from '../../../queries/promql/otlp/names.ts';
import { parseRetainedRange, rangeParameters, requireRetained, serviceParameter } from '../../../queries/range.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'metrics';

/** Names with which PromQL reads a metric */
const promqlNames = {
  promqlName: z.string().describe('Name in PromQL, without the suffixes of histograms; empty if it has none'),
  promqlLabels: z.array(z.string()).describe('Names of `labels` in PromQL, in their order'),
};

const buildPromqlNames = ({ name, type, unit, monotonic, labels }: CatalogueMetric, strategy: TranslationStrategy) => ({
  promqlName: buildMetricName({ metric: name, kind: type, unit, monotonic }, strategy),
  promqlLabels: labels.map((label) => buildLabelName(label, strategy)),
});

export const listMetrics = defineOperation({
  method: 'GET',
  path: '/api/metrics',
  operationId: 'listMetrics',
  summary: 'List metrics of a time range by name; with `name`, the points of one metric',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    ...serviceParameter,
    ...projectScopeParameters,
    search: z.string().max(1024).optional().describe('Words that must all occur in the name or the description'),
    name: z.string().max(512).optional().describe('Name of one metric, to get its series and points'),
  }),
  response: z.strictObject({
    items: z.array(
      CatalogueMetric.extend({
        ...promqlNames,
        series: z.array(Series).optional().describe('With `name`: its series with their points in the range'),
      }),
    ),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, query }, { columns, clock, promql }) {
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const range = page ?? parseRetainedRange(query, { caller, signal: 'metrics', nowMs });
    if (page !== undefined) requireRetained(range, { caller, signal: 'metrics', nowMs, isFromCursor: true });
    const reader = { columns: columns.forTenant(caller.tenantId) };
    const { items, nextName } = await listCatalogue(reader, { ...query, range, after: page?.name });
    const series = query.name === undefined ? undefined : await readSeries(reader.columns, query.name, range, query);
    return {
      items: items.map((item) => ({
        ...item,
        ...buildPromqlNames(item, promql.translation.strategy),
        ...(series && { series }),
      })),
      nextCursor:
        nextName === undefined ? null : encodeCursor(cursorKind, [range.from, range.to, encodeText(nextName)]),
    };
  },
});

const parseCursor = (cursor: string): { from: bigint; to: bigint; name: string } => {
  const [from = '', to = '', name = ''] = decodeCursor(cursorKind, cursor, [int64Pattern, int64Pattern, textPattern]);
  return { from: BigInt(from), to: BigInt(to), name: decodeText(name) };
};
