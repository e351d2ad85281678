import { z } from 'zod';
import { anyText, decodeCursor, encodeCursor, integer, textIn, textPart } from '../../../queries/cursor.ts';
import { CatalogueMetric, listCatalogue } from '../../../queries/metrics/catalogue.ts';
import { readSeries, Series } from '../../../queries/metrics/series.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters, refuseBeyondRetention, serviceParameter } from '../../../queries/range.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'metrics';

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
        series: z.array(Series).optional().describe('With `name`: its series with their points in the range'),
      }),
    ),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, query }, { columns, clock }) {
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor);
    const range = page ?? rangeOf(query, { caller, signal: 'metrics', nowMs });
    if (page !== undefined) refuseBeyondRetention(range, { caller, signal: 'metrics', nowMs, wasListed: true });
    const reading = { columns: columns.of(caller.tenantId) };
    const { items, more } = await listCatalogue(reading, { ...query, range, after: page?.name });
    const series = query.name === undefined ? undefined : await readSeries(reading.columns, query.name, range, query);
    return {
      items: items.map((item) => ({ ...item, ...(series && { series }) })),
      nextCursor: more === undefined ? null : encodeCursor(kind, [range.from, range.to, textPart(more)]),
    };
  },
});

const pageOf = (cursor: string): { from: bigint; to: bigint; name: string } => {
  const [from = '', to = '', name = ''] = decodeCursor(kind, cursor, [integer, integer, anyText]);
  return { from: BigInt(from), to: BigInt(to), name: textIn(name) };
};
