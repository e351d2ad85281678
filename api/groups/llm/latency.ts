import { z } from 'zod';
import { resolveStepMs, stepParameter } from '../../../queries/steps.ts';
import { formatTime } from '../../../queries/time.ts';
import { LatencyGroup, readLlmLatency } from '../../../subjects/llm/latency.ts';
import { createLlmScope, llmScopeParameters, parseLlmRange } from '../../../subjects/llm/scope.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { groupByParameter, parseGroupBy } from './cost.ts';

export const getLlmLatency = defineOperation({
  method: 'GET',
  path: '/api/llm/latency',
  operationId: 'getLlmLatency',
  summary: 'Get durations, times to first token and tokens per second of model requests by fields or attributes',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...llmScopeParameters,
    ...groupByParameter,
    ...stepParameter,
    over: z
      .enum(['range', 'time'])
      .default('range')
      .describe('`time`: also the steps of the range, of all groups together'),
    limit: z.coerce.number().int().min(1).max(1_000).default(100).describe('Maximum number of groups'),
  }),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    groupBy: z.array(z.string()),
    stepMs: z.int().nullable(),
    total: LatencyGroup.omit({ group: true }).nullable().describe('All requests; `null` if there are none'),
    items: z.array(LatencyGroup),
    points: z.array(LatencyGroup.omit({ group: true }).extend({ time: z.string() })),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const range = parseLlmRange(query, reader);
    const scope = createLlmScope(query, range);
    const groupBy = parseGroupBy(query.groupBy);
    const stepMs = query.over === 'time' ? resolveStepMs(query.step, range) : undefined;
    const [total, groups, steps] = await Promise.all([
      readLlmLatency(reader, scope, { groupBy: [] }),
      groupBy.length === 0 ? [] : readLlmLatency(reader, scope, { groupBy }),
      stepMs === undefined ? [] : readLlmLatency(reader, scope, { groupBy: [], stepMs }),
    ]);
    const [all] = total.map(({ group: _, timeMs: __, ...figures }) => figures);
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      groupBy,
      stepMs: stepMs ?? null,
      total: all ?? null,
      items: groups.slice(0, query.limit).map(({ timeMs: _, ...group }) => group),
      points: steps
        .toSorted((left, right) => left.timeMs - right.timeMs)
        .map(({ group: _, timeMs, ...figures }) => ({ time: new Date(timeMs).toISOString(), ...figures })),
    };
  },
});
