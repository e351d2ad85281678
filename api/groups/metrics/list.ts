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
import { parseRetainedRange, rangeParameters, requireRetained, serviceParameter } from '../../../queries/range.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'metrics';

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
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const range = page ?? parseRetainedRange(query, { caller, signal: 'metrics', nowMs });
    if (page !== undefined) requireRetained(range, { caller, signal: 'metrics', nowMs, isFromCursor: true });
    const reading = { columns: columns.forTenant(caller.tenantId) };
    const { items, nextName } = await listCatalogue(reading, { ...query, range, after: page?.name });
    const series = query.name === undefined ? undefined : await readSeries(reading.columns, query.name, range, query);
    return {
      items: items.map((item) => ({ ...item, ...(series && { series }) })),
      nextCursor:
        nextName === undefined ? null : encodeCursor(cursorKind, [range.from, range.to, encodeText(nextName)]),
    };
  },
});

const parseCursor = (cursor: string): { from: bigint; to: bigint; name: string } => {
  const [from = '', to = '', name = ''] = decodeCursor(cursorKind, cursor, [int64Pattern, int64Pattern, textPattern]);
  return { from: BigInt(from), to: BigInt(to), name: decodeText(name) };
};
