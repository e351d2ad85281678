/** Scope of a read of calls: range, project and search. */
import { z } from 'zod';
import { requireReadAccess } from '../../queries/entitlement.ts';
import { projectScopeParameters } from '../../queries/project-scope.ts';
import { parseRetainedRange, type Range, rangeParameters, requireRetained } from '../../queries/range.ts';
import { buildRangeParameters, buildRecordsCondition } from '../../queries/records.ts';
import { parseSearch } from '../../queries/search/parse.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { QueryParameters } from '../../schemas/ports/columns.ts';
import { hasOnlySummedFields } from './summed-fields.ts';

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
  /** Whether sums by hour have all fields of the condition. */
  readonly isSummable: boolean;
  /** Number of changes from which sums are read, if it is not the default. */
  readonly minSummedChanges?: number;
  /** Number of changes above which a statement reads only part of the calls, if it is not the default. */
  readonly maxPartChanges?: number;
}

/** Returns the requested range. Access to calls equals access to traces. */
export const parseLlmRange = (query: LlmScopeQuery, reader: TenantReader): Range => {
  requireReadAccess(reader, 'traces');
  return parseRetainedRange(query, { caller: reader, signal: 'llm', nowMs: reader.nowMs });
};

/** Checks a range from a cursor. */
export const requireLlmRange = (range: Range, reader: TenantReader): void => {
  requireReadAccess(reader, 'traces');
  requireRetained(range, { caller: reader, signal: 'llm', nowMs: reader.nowMs, isFromCursor: true });
};

export const createLlmScope = (query: LlmScopeQuery, range: Range): LlmScope => {
  const projectId = query.scope === 'account' ? undefined : query.projectId;
  const condition = buildRecordsCondition({ signal: 'llm', search: query.search, projectId });
  return {
    range,
    condition: condition.sql,
    isSummable: query.search === undefined || hasOnlySummedFields(parseSearch(query.search, 'llm')),
    parameters: { ...condition.parameters, ...buildRangeParameters(range) },
  };
};
