/** Scope of a read of calls: range, project and search. */
import { z } from 'zod';
import { requireReadAccess } from '../../queries/entitlement.ts';
import { projectScopeParameters } from '../../queries/project-scope.ts';
import { parseRetainedRange, type Range, rangeParameters, requireRetained } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/reading.ts';
import { buildRangeParameters, buildRecordsCondition } from '../../queries/records.ts';
import type { QueryParameters } from '../../schemas/ports/columns.ts';

export const llmScopeParameters = {
  from: rangeParameters.from,
  to: rangeParameters.to,
  ...projectScopeParameters,
  search: z
    .string()
    .max(4_096)
    .optional()
    .describe('Search over requests, such as `provider:openai status:error tokens:>1000`'),
};

export const llmPricesParameter = {
  prices: z
    .enum(['call', 'today'])
    .default('call')
    .describe('`call`: the prices at the time of each request. `today`: what the same requests would cost now'),
};

export interface LlmScopeQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly projectId?: string | undefined;
  readonly scope?: 'account' | undefined;
  readonly search?: string | undefined;
}

/** Condition on calls, and its parameters with the range. */
export interface LlmScope {
  readonly range: Range;
  readonly condition: string;
  readonly parameters: QueryParameters;
}

/** Returns the requested range. Access to calls equals access to traces. */
export const parseLlmRange = (query: LlmScopeQuery, reading: TenantReader): Range => {
  requireReadAccess(reading, 'traces');
  return parseRetainedRange(query, { caller: reading, signal: 'llm', nowMs: reading.nowMs });
};

/** Checks a range from a cursor. */
export const requireLlmRange = (range: Range, reading: TenantReader): void => {
  requireReadAccess(reading, 'traces');
  requireRetained(range, { caller: reading, signal: 'llm', nowMs: reading.nowMs, isFromCursor: true });
};

export const createLlmScope = (query: LlmScopeQuery, range: Range): LlmScope => {
  const projectId = query.scope === 'account' ? undefined : query.projectId;
  const condition = buildRecordsCondition({ signal: 'llm', search: query.search, projectId });
  return {
    range,
    condition: condition.sql,
    parameters: { ...condition.parameters, ...buildRangeParameters(range) },
  };
};
