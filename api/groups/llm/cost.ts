import { z } from 'zod';
import { parseNames } from '../../../queries/names.ts';
import { resolveStepMs, stepParameter } from '../../../queries/steps.ts';
import { formatTime } from '../../../queries/time.ts';
import { Amounts, TokenSums } from '../../../subjects/llm/calls.ts';
import { readCosts } from '../../../subjects/llm/costs.ts';
import { createLlmScope, llmPricesParameter, llmScopeParameters, parseLlmRange } from '../../../subjects/llm/scope.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { readStoredPrices } from './stored-prices.ts';

const sums = {
  requests: z.int(),
  unpricedRequests: z.int(),
  tokens: TokenSums,
  costs: Amounts,
};

export const groupByParameter = {
  groupBy: z
    .string()
    .max(1_024)
    .default('model')
    .describe(
      'Up to four names, separated by commas: `model`, `provider`, `service`, `userId`, `conversationId`, `agent`, `prompt`, `promptVersion`, or any other field or attribute',
    ),
};

const maxNames = 4;
/** Returns the names by which a request groups. */
export const parseGroupBy = (text: string): string[] =>
  (text === '' ? [] : parseNames('groupBy', text)).slice(0, maxNames);

export const getLlmCost = defineOperation({
  method: 'GET',
  path: '/api/llm/cost',
  operationId: 'getLlmCost',
  summary: 'Get costs and tokens of model requests by fields or attributes, and over time; groups add up to the total',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...llmScopeParameters,
    ...llmPricesParameter,
    ...groupByParameter,
    ...stepParameter,
    over: z.enum(['range', 'time']).default('range').describe('`time`: each group has points, one for each step'),
    limit: z.coerce.number().int().min(1).max(1_000).default(100).describe('Maximum number of groups'),
  }),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    groupBy: z.array(z.string()),
    stepMs: z.int().nullable(),
    items: z.array(
      z.strictObject({
        group: z.record(z.string(), z.string()).describe('Values by name; empty if a request has none'),
        ...sums,
        points: z.array(z.strictObject({ time: z.string(), ...sums })),
      }),
    ),
    omittedGroups: z.int().describe('Groups beyond the limit, which `total` contains'),
    total: z.strictObject(sums),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const range = parseLlmRange(query, reader);
    const groupBy = parseGroupBy(query.groupBy);
    const stepMs = query.over === 'time' ? resolveStepMs(query.step, range) : undefined;
    const storedPrices = await readStoredPrices(ports.documents, caller.tenantId);
    const { groups, total } = await readCosts(reader, createLlmScope(query, range), {
      prices: query.prices,
      storedPrices,
      groupBy,
      stepMs,
    });
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      groupBy,
      stepMs: stepMs ?? null,
      items: groups.slice(0, query.limit).map(({ points, ...group }) => ({
        ...group,
        points:
          stepMs === undefined
            ? []
            : points.map(({ timeMs, ...point }) => ({ time: new Date(timeMs).toISOString(), ...point })),
      })),
      omittedGroups: Math.max(0, groups.length - query.limit),
      total,
    };
  },
});
