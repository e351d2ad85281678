import { z } from 'zod';
import { renamePathOnError } from '../../../queries/errors.ts';
import { buildListHint, hintField } from '../../../queries/hints/lists.ts';
import { parseMeasures, parseNames } from '../../../queries/names.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters, serviceParameter } from '../../../queries/range.ts';
import { Result } from '../../../queries/result.ts';
import { run } from '../../../queries/run.ts';
import { toQueryParts } from '../../../queries/search/query-parts.ts';
import { Span } from '../../../queries/signals/span-record.ts';
import { parseSort, sortDescription } from '../../../queries/sort.ts';
import { resolveStepMs, stepParameter } from '../../../queries/steps.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { listSpans, spanOrders } from '../../../queries/traces/spans.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const Query = z.strictObject({
  ...rangeParameters,
  ...serviceParameter,
  ...projectScopeParameters,
  search: z
    .string()
    .max(1024)
    .optional()
    .describe(
      'A search of spans (`docs/reference/search-language.md`): status:error duration:>100ms http.route:/cart/*',
    ),
  order: z
    .enum(spanOrders)
    .optional()
    .describe('Order of spans, without measure: newest (the default), oldest, or slowest by their own duration'),
  measure: z
    .string()
    .max(4096)
    .optional()
    .describe(
      'Returns aggregations instead of spans. One or several measures, comma-separated: count, rate, distinct(user.id), sum(bytes), avg(duration), min(duration), max(duration), p95(duration). Each can be limited to matches of a search and can have a name (count where "duration:>1s" as slow)',
    ),
  groupBy: z
    .string()
    .max(4096)
    .optional()
    .describe('With measure: fields or attributes, comma-separated, as in searches: service,http.route'),
  sort: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .describe(
      `With measure: a measure (count, p95_duration, or its name) or field of groupBy. ${sortDescription}; default: the first measure, descending`,
    ),
  step: stepParameter.step.describe(
    'With measure: length of a step, such as 5m, or auto; the response contains series. Default: a table',
  ),
});
type Query = z.output<typeof Query>;

export const searchSpans = defineOperation({
  method: 'GET',
  path: '/api/spans',
  operationId: 'searchSpans',
  summary: 'Search spans, or with measure= aggregate the matches',
  role: 'viewer',
  cache: listCache,
  query: Query,
  response: z.strictObject({
    items: z.array(Span).describe('Empty with measure='),
    nextCursor: z.string().nullable(),
    aggregate: Result.nullable().describe('null without measure='),
    ...hintField,
  }),
  async handler({ caller, query, signal }, ports) {
    const reader = createQueryReader(caller, ports);
    if (query.measure !== undefined)
      return { items: [], nextCursor: null, aggregate: await aggregateSpans(query, query.measure, reader, signal) };
    for (const name of ['groupBy', 'sort', 'step'] as const)
      if (query[name] !== undefined) throw createFieldError(name, 'needs a measure, such as measure=count');
    const { order = 'newest' } = query;
    const { items, nextCursor } = await listSpans({ ...query, projectId: getEffectiveProjectId(query), order }, reader);
    const hint = await buildListHint('traces', query, items, reader);
    return { items: [...items], nextCursor, aggregate: null, ...hint };
  },
});

const getEffectiveProjectId = ({ scope, projectId }: Query): string | undefined =>
  scope === 'account' ? undefined : projectId;

const aggregateSpans = (query: Query, measure: string, reader: TenantReader, signal: AbortSignal): Promise<Result> => {
  const { sort, step, limit } = query;
  if (query.cursor !== undefined)
    throw createFieldError('cursor', 'applies to lists only: aggregations are returned in one response');
  if (query.order !== undefined) throw createFieldError('order', 'is for spans: groups are sorted by sort');
  const queryParts = toQueryParts('traces', query);
  const range = parseRetainedRange(query, { caller: reader, signal: 'traces', nowMs: reader.nowMs });
  const stepMs = step === undefined ? undefined : resolveStepMs(step === 'auto' ? undefined : step, range);
  const measures = parseMeasures('measure', measure);
  return renamePathOnError(
    {
      'order.by': 'sort',
      ...Object.fromEntries(measures.map((_, index) => [`measures.${index}.search`, 'measure'])),
    },
    run(
      {
        kind: 'aggregate',
        signal: 'traces',
        measures,
        limit,
        ...queryParts,
        groupBy: query.groupBy === undefined ? [] : parseNames('groupBy', query.groupBy),
        ...(sort !== undefined && { order: parseSort(sort) }),
      },
      reader,
      { range, stepMs, signal },
    ),
  );
};
