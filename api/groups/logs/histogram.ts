import { z } from 'zod';
import { hintField } from '../../../queries/hints/lists.ts';
import { logFilterParameters } from '../../../queries/logs/filter.ts';
import { countLogs } from '../../../queries/logs/histogram.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { toQueryParts } from '../../../queries/search/query-parts.ts';
import { resolveStepMs, stepParameter } from '../../../queries/steps.ts';
import { formatTime } from '../../../queries/time.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const StepCounts = z.array(z.int()).describe('One count per step');
const sum = (numbers: readonly number[]): number => numbers.reduce((all, value) => all + value, 0);
const formatMilliseconds = (milliseconds: number): string => formatTime(BigInt(milliseconds) * 1_000_000n);

export const showLogHistogram = defineOperation({
  method: 'GET',
  path: '/api/logs/histogram',
  operationId: 'getLogHistogram',
  summary: 'Count log records by time, split by the values of a field',
  role: 'viewer',
  entitlement: 'logs',
  cache: listCache,
  query: z.strictObject({
    from: rangeParameters.from,
    to: rangeParameters.to,
    ...logFilterParameters,
    ...stepParameter,
    groupBy: z
      .string()
      .min(1)
      .max(512)
      .optional()
      .describe('A field or attribute, as in searches: severity, service, http.route'),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(100)
      .default(10)
      .describe('Maximum number of values; all others count as the rest'),
  }),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    stepMs: z.int(),
    steps: z
      .array(z.strictObject({ start: z.string(), isPartial: z.boolean() }))
      .describe(
        'Steps that are only partly in the range are marked partial: the first and the last, unless the range is aligned',
      ),
    records: z.int().describe('Number of records in the range: the sum of all counts'),
    series: z
      .array(z.strictObject({ value: z.string(), records: z.int(), counts: StepCounts }))
      .describe(
        'Values with the most records first. The empty value means records without a value, or all records if no field is requested',
      ),
    rest: z
      .strictObject({ records: z.int(), counts: StepCounts })
      .nullable()
      .describe('Records of all other values; null if there are none'),
    partial: z.array(Incompleteness).describe('Empty when the response is complete'),
    ...hintField,
  }),
  async handler({ caller, query }, { columns, clock }) {
    const reader = createQueryReader(caller, { columns, clock });
    const { nowMs } = reader;
    const range = parseRetainedRange(query, { caller, signal: 'logs', nowMs });
    const stepMs = resolveStepMs(query.step, range);
    const { starts, partialSteps, series, otherCounts, partial, hint } = await countLogs(reader, {
      records: toQueryParts('logs', query),
      range,
      stepMs,
      groupBy: query.groupBy,
      maxGroups: query.limit,
    });
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      stepMs,
      steps: starts.map((start) => ({ start: formatMilliseconds(start), isPartial: partialSteps.includes(start) })),
      records: sum(series.flatMap((histogramSeries) => histogramSeries.counts)) + sum(otherCounts),
      series: series.map((histogramSeries) => ({
        value: histogramSeries.value,
        records: sum(histogramSeries.counts),
        counts: [...histogramSeries.counts],
      })),
      rest: otherCounts.length === 0 ? null : { records: sum(otherCounts), counts: [...otherCounts] },
      partial: [...partial],
      ...(hint === undefined ? {} : { hint }),
    };
  },
});
