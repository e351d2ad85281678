import { z } from 'zod';
import { projectScopeParameters, requireProjectScope } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters, serviceParameter } from '../../../queries/range.ts';
import { compareTraces as compare, TraceComparison } from '../../../queries/traces/comparison/comparison.ts';
import { parseDurationParameter } from '../../../queries/traces/list.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const { from, to } = rangeParameters;
const SearchText = z.string().max(1024).optional();
const DurationParameter = z.string().max(64).optional();

export const compareTraces = defineOperation({
  method: 'GET',
  path: '/api/traces/compare',
  operationId: 'compareTraces',
  summary: 'Compare slow or failed spans or traces with the rest: the attributes that distinguish them',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    from,
    to,
    ...serviceParameter,
    ...projectScopeParameters,
    by: z
      .enum(['spans', 'traces'])
      .default('spans')
      .describe('spans: each individually; traces: each with the values of all its spans'),
    search: SearchText.describe(
      'Condition for both sides, as a search of spans, such as kind:server http.route:/cart; for traces, at least one span must match',
    ),
    selection: SearchText.describe('Selected spans, as a search of spans. Its own fields are not reported as causes'),
    minDuration: DurationParameter.describe('Selects spans or traces with at least this duration, such as 500ms'),
    maxDuration: DurationParameter.describe('Selects spans or traces with at most this duration'),
    status: z.enum(['error', 'ok', 'unset']).optional().describe('Selects spans or traces with this status'),
    limit: z.coerce.number().int().min(1).max(100).default(20),
  }),
  response: TraceComparison,
  async handler({ caller, query }, ports) {
    requireProjectScope(query);
    const reader = createQueryReader(caller, ports);
    const { minDuration, maxDuration, limit, ...selection } = query;
    return compare(
      {
        ...selection,
        minDurationNs: parseDurationParameter('minDuration', minDuration),
        maxDurationNs: parseDurationParameter('maxDuration', maxDuration),
      },
      reader,
      { range: parseRetainedRange(query, { caller: reader, signal: 'traces', nowMs: reader.nowMs }), limit },
    );
  },
});
