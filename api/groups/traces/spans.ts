import { z } from 'zod';
import { aggregateParameters, groupsOf, measuresOf } from '../../../queries/aggregate/written.ts';
import { invalid } from '../../../queries/errors.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters, serviceParameter } from '../../../queries/range.ts';
import type { Reading } from '../../../queries/reading.ts';
import { Result } from '../../../queries/result.ts';
import { run } from '../../../queries/run.ts';
import { parseSearch } from '../../../queries/search/parse.ts';
import { stepOf } from '../../../queries/steps.ts';
import { Span } from '../../../queries/traces/span.ts';
import { listSpans, spanOrders } from '../../../queries/traces/spans.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';

const Query = z.strictObject({
  ...rangeParameters,
  ...serviceParameter,
  ...projectScopeParameters,
  ...aggregateParameters,
  search: z
    .string()
    .max(1024)
    .optional()
    .describe('A search of spans (`queries/search/README.md`): status:error duration:>100ms http.route:/cart/*'),
  order: z.enum(spanOrders).default('newest').describe('slowest: by their own duration'),
});

export const searchSpans = defineOperation({
  method: 'GET',
  path: '/api/spans',
  operationId: 'searchSpans',
  summary: 'Search spans, or with measure= count and measure those that match',
  role: 'viewer',
  cache: listCache,
  query: Query,
  response: z.strictObject({
    items: z.array(Span).describe('Empty with measure='),
    nextCursor: z.string().nullable(),
    aggregate: Result.nullable().describe('Null without measure='),
  }),
  async handler({ caller, query, signal }, { columns, clock }) {
    const reading = { plan: caller.plan, columns: columns.of(caller.tenantId), nowMs: clock.now() };
    const projectId = query.scope === 'account' ? undefined : query.projectId;
    if (query.measure !== undefined)
      return { items: [], nextCursor: null, aggregate: await aggregate({ ...query, projectId }, reading, signal) };
    for (const name of ['groupBy', 'step'] as const)
      if (query[name] !== undefined) throw invalid(name, 'needs a measure, such as measure=count');
    const { items, nextCursor } = await listSpans({ ...query, projectId }, reading);
    return { items: [...items], nextCursor, aggregate: null };
  },
});

const aggregate = (
  { measure = '', groupBy, step, service, search, projectId, ...query }: z.output<typeof Query>,
  reading: Reading,
  signal: AbortSignal,
): Promise<Result> => {
  if (query.cursor !== undefined) throw invalid('cursor', 'is for lists: an aggregate has one page');
  const ofService = service === undefined ? [] : [`service:"${service.replace(/[\\"]/g, '\\$&')}"`];
  // By itself first: its errors name its columns.
  if (search !== undefined) parseSearch(search, 'traces');
  const ofSearch = search === undefined || search.trim() === '' ? [] : [`(${search})`];
  const conditions = [...ofService, ...ofSearch].join(' ');
  const range = rangeOf(query, { caller: reading, signal: 'traces', nowMs: reading.nowMs });
  return run(
    {
      ...{ kind: 'aggregate', signal: 'traces', measures: measuresOf(measure), groupBy: groupsOf(groupBy) },
      ...{ projectId, limit: query.limit, ...(conditions === '' ? {} : { search: conditions }) },
    },
    reading,
    {
      range,
      ...(step === undefined ? {} : { stepMs: stepOf(step, range) }),
      signal,
    },
  );
};
