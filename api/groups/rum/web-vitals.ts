import { z } from 'zod';
import { resolveStepMs, stepParameter } from '../../../queries/steps.ts';
import { readVitalTrend, readWebVitals, VitalTrend, vitalGroups, WebVital } from '../../../subjects/rum/web-vitals.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { getPage, listFields, listParameters, parseListRange } from './lists.ts';

const cursorKind = 'rum-web-vitals';

export const listWebVitals = defineOperation({
  method: 'GET',
  path: '/api/rum/web-vitals',
  operationId: 'listWebVitals',
  summary:
    'Get LCP, INP, CLS, FCP and TTFB of a time range: percentile, rating, distribution and interval, also by group',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters,
    ...stepParameter,
    groupBy: z.enum(vitalGroups).optional().describe('Also return the vitals of each value of this field'),
    trend: z.enum(['true']).optional().describe('true: also return the percentiles over time'),
  }),
  response: z.strictObject({
    ...listFields,
    vitals: z.array(WebVital).describe('Of all samples'),
    items: z
      .array(z.strictObject({ value: z.string(), vitals: z.array(WebVital) }))
      .describe('Vitals of each group, those with the most samples first; empty without `groupBy`'),
    trend: VitalTrend.nullable().describe('`null` if not requested'),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const { range, after } = parseListRange(cursorKind, query, reader);
    const { groupBy } = query;
    const [overall, groups, trend] = await Promise.all([
      readWebVitals(reader, range, query, undefined),
      groupBy === undefined ? [] : readWebVitals(reader, range, query, groupBy),
      query.trend === undefined ? null : readVitalTrend(reader, range, query, resolveStepMs(query.step, range)),
    ]);
    const page = getPage(groups, {
      kind: cursorKind,
      range,
      sort: '-samples',
      limit: query.limit,
      after,
      getName: ({ value }) => value,
      getSortValue: ({ vitals }) => vitals.reduce((sum, { samples }) => sum + samples, 0),
    });
    return { vitals: overall[0]?.vitals ?? [], ...page, trend };
  },
});
