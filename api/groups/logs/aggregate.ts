import { z } from 'zod';
import { renamePathOnError } from '../../../queries/errors.ts';
import { logFilterParameters } from '../../../queries/logs/filter.ts';
import { parseMeasures, parseNames } from '../../../queries/names.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { Result } from '../../../queries/result.ts';
import { run } from '../../../queries/run.ts';
import { toQueryParts } from '../../../queries/search/query-parts.ts';
import { parseSort, sortDescription } from '../../../queries/sort.ts';
import { resolveStepMs, stepParameter } from '../../../queries/steps.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const maxMeasures = 16;
const maxGroups = 8;

export const aggregateLogs = defineOperation({
  method: 'GET',
  path: '/api/logs/aggregate',
  operationId: 'aggregateLogs',
  summary: 'Aggregate log records by fields: count, rate, distinct, sum, avg, min, max and percentiles',
  role: 'viewer',
  entitlement: 'logs',
  cache: listCache,
  query: z.strictObject({
    from: rangeParameters.from,
    to: rangeParameters.to,
    ...logFilterParameters,
    measure: z
      .string()
      .max(4096)
      .default('count')
      .describe(
        'One or several measures, comma-separated: count, rate, distinct(user.id), sum(bytes), avg(bytes), min(bytes), max(bytes), p95(took). Each can be limited to matches of a search and can have a name (count where "took:>5" as slow). A field with a comma or a parenthesis must be quoted',
      ),
    groupBy: z
      .string()
      .max(4096)
      .optional()
      .describe('Fields or attributes, comma-separated, as in searches: service,severity,"a,b"'),
    sort: z
      .string()
      .min(1)
      .max(512)
      .optional()
      .describe(
        `A measure (count, p95_took, or its name) or field of groupBy. ${sortDescription}; the default is the first measure in this form`,
      ),
    limit: z.coerce.number().int().min(1).max(1000).default(100).describe('Maximum number of groups'),
    step: stepParameter.step.describe(
      'Length of a step, such as 5m, or auto: the response contains series. By default, a table',
    ),
  }),
  response: Result,
  async handler({ caller, query }, { columns, clock }) {
    const reader = createQueryReader(caller, { columns, clock });
    const { nowMs } = reader;
    const range = parseRetainedRange(query, { caller, signal: 'logs', nowMs });
    const measures = parseMeasures('measure', query.measure);
    if (measures.length > maxMeasures)
      throw createFieldError('measure', `names ${measures.length} measures, at most ${maxMeasures} are allowed`);
    const groupBy = query.groupBy === undefined ? [] : parseNames('groupBy', query.groupBy);
    if (groupBy.length > maxGroups)
      throw createFieldError('groupBy', `names ${groupBy.length} fields, at most ${maxGroups} are allowed`);
    const { step } = query;
    const stepMs = step === undefined ? undefined : resolveStepMs(step === 'auto' ? undefined : step, range);
    return renamePathOnError(
      { 'order.by': 'sort' },
      run(
        {
          kind: 'aggregate',
          signal: 'logs',
          ...toQueryParts('logs', query),
          measures,
          groupBy,
          limit: query.limit,
          ...(query.sort !== undefined && { order: parseSort(query.sort) }),
        },
        reader,
        { range, stepMs },
      ),
    );
  },
});
