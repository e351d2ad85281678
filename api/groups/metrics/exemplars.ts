import { z } from 'zod';
import { decodeCursor, encodeCursor, int64Pattern, uint64Pattern } from '../../../queries/cursor.ts';
import { type ExemplarPosition, listMetricExemplars, SeriesExemplar } from '../../../queries/metrics/exemplars.ts';
import { maxSeries } from '../../../queries/metrics/selection.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters, requireRetained } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'exemplars';

export const listExemplars = defineOperation({
  method: 'GET',
  path: '/api/metrics/exemplars',
  operationId: 'listExemplars',
  summary: 'List exemplars of a metric, newest first: individual measurements with their traces',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    metric: z.string().min(1).max(1024),
    search: z.string().max(1024).optional().describe('A condition on series: labels and resource attributes'),
    ...rangeParameters,
    ...projectScopeParameters,
  }),
  response: z.strictObject({
    items: z.array(SeriesExemplar),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness).describe('Empty when the list is complete'),
  }),
  async handler({ caller, query }, { columns, clock }) {
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const range = page?.range ?? parseRetainedRange(query, { caller, signal: 'metrics', nowMs });
    if (page !== undefined) requireRetained(range, { caller, signal: 'metrics', nowMs, isFromCursor: true });
    const { metric, search, limit } = query;
    const projectId = query.scope === 'account' ? undefined : query.projectId;
    const { items, nextPosition, hasOmittedSeries } = await listMetricExemplars(
      { columns: columns.forTenant(caller.tenantId) },
      { metric, search, projectId, range, limit, after: page?.after },
    );
    return {
      items,
      nextCursor:
        nextPosition === undefined
          ? null
          : encodeCursor(cursorKind, [range.from, range.to, nextPosition.time, nextPosition.id, nextPosition.hash]),
      partial: hasOmittedSeries
        ? [
            {
              code: 'rows' as const,
              message: `${metric} has more than ${maxSeries} series here: exemplars cover only these`,
            },
          ]
        : [],
    };
  },
});

const parseCursor = (cursor: string): { range: { from: bigint; to: bigint }; after: ExemplarPosition } => {
  const [from = '', to = '', time = '', id = '', hash = ''] = decodeCursor(cursorKind, cursor, [
    ...[int64Pattern, int64Pattern, int64Pattern],
    ...[uint64Pattern, uint64Pattern],
  ]);
  return { range: { from: BigInt(from), to: BigInt(to) }, after: { time, id, hash } };
};
