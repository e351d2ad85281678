import { z } from 'zod';
import { FieldValue, readTopValues } from '../../../queries/fields/values.ts';
import { hintField } from '../../../queries/hints/lists.ts';
import { buildRecordsHint } from '../../../queries/hints/records.ts';
import { logFilterParameters } from '../../../queries/logs/filter.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { toQueryParts } from '../../../queries/search/query-parts.ts';
import { formatTime } from '../../../queries/time.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

export const listLogFieldValues = defineOperation({
  method: 'GET',
  path: '/api/logs/fields/{name}/values',
  operationId: 'listLogFieldValues',
  summary: 'List the most frequent values of a field or attribute of log records',
  role: 'viewer',
  entitlement: 'logs',
  cache: listCache,
  params: z.strictObject({
    name: z.string().min(1).max(512).describe('As in searches, percent-encoded: http.route, resource.host.name'),
  }),
  query: z.strictObject({
    from: rangeParameters.from,
    to: rangeParameters.to,
    ...logFilterParameters,
    prefix: z.string().max(512).optional().describe('Only values with this prefix, case-sensitive'),
    limit: z.coerce.number().int().min(1).max(1000).default(10),
  }),
  response: z.strictObject({
    name: z.string(),
    from: z.string().describe('Start of the records that were read: later than requested if `partial` says so'),
    to: z.string(),
    records: z.int().describe('Number of records read, of those that match the parameters'),
    withField: z.int().describe('Number of records read that have the field; with `prefix`, a value with the prefix'),
    distinct: z.int().describe('Number of distinct values'),
    items: z.array(FieldValue).describe('Most frequent first'),
    partial: z.array(Incompleteness).describe('Empty when the response is complete'),
    ...hintField,
  }),
  async handler({ caller, params: { name }, query }, { columns, clock }) {
    const reader = createQueryReader(caller, { columns, clock });
    const { nowMs } = reader;
    const range = parseRetainedRange(query, { caller, signal: 'logs', nowMs });
    const parts = toQueryParts('logs', query);
    const { readRange, values, partial, ...counts } = await readTopValues(reader, {
      signal: 'logs',
      name,
      range,
      ...parts,
      prefix: query.prefix,
      limit: query.limit,
    });
    const hasNoValues = counts.withField === 0 && query.prefix === undefined;
    const hint = await buildRecordsHint(
      { signal: 'logs', range, ...parts, hasResults: counts.records > 0, names: hasNoValues ? [name] : [] },
      reader,
    );
    return {
      name,
      from: formatTime(readRange.from),
      to: formatTime(readRange.to),
      ...counts,
      items: [...values],
      partial: [...partial],
      ...(hint === undefined ? {} : { hint }),
    };
  },
});
