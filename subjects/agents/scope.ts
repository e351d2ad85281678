/** Scope of a read of events of agents: range, project and filters. */
import { z } from 'zod';
import { projectScopeParameters } from '../../queries/project-scope.ts';
import { parseRetainedRange, type Range, requireRetained } from '../../queries/range.ts';
import { buildRangeParameters, buildRecordsCondition } from '../../queries/records.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { QueryParameters } from '../../schemas/ports/columns.ts';

const Id = z.string().min(1).max(128).optional();

/** Query parameters that select events of agents. */
export const agentFilterParameters = {
  ...projectScopeParameters,
  agentId: Id.describe('Agent'),
  agent: z.string().min(1).max(256).optional().describe('Name of the agent, such as claude-code'),
  host: z.string().min(1).max(256).optional().describe('Host'),
  sessionId: Id.describe('Session'),
  search: z
    .string()
    .max(4_096)
    .optional()
    .describe('Search over events, such as `kind:file link:unexplained path:*.env`'),
};

export interface AgentFilter {
  readonly projectId?: string | undefined;
  readonly scope?: 'account' | undefined;
  readonly agentId?: string | undefined;
  readonly agent?: string | undefined;
  readonly host?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly search?: string | undefined;
}

/** Condition on events of agents, and its parameters with the range. */
export interface AgentScope {
  readonly range: Range;
  readonly condition: string;
  readonly parameters: QueryParameters;
}

const filterColumns = { agentId: 'agent_id', agent: 'agent', host: 'host', sessionId: 'session_id' } as const;

/** Returns the range of a request, within the retention of the plan. */
export const parseAgentRange = (
  query: { readonly from?: string | undefined; readonly to?: string | undefined },
  reader: TenantReader,
): Range => parseRetainedRange(query, { caller: reader, signal: 'agents', nowMs: reader.nowMs });

/** Checks a range from a cursor. */
export const requireAgentRange = (range: Range, reader: TenantReader): void =>
  requireRetained(range, { caller: reader, signal: 'agents', nowMs: reader.nowMs, isFromCursor: true });

/** Returns the scope of events, also those of processes outside of agents. */
export const createAgentScope = (filter: AgentFilter, range: Range): AgentScope => {
  const projectId = filter.scope === 'account' ? undefined : filter.projectId;
  const condition = buildRecordsCondition({ signal: 'agents', search: filter.search, projectId });
  const names = (Object.keys(filterColumns) as (keyof typeof filterColumns)[]).filter(
    (name) => filter[name] !== undefined,
  );
  return {
    range,
    condition: [condition.sql, ...names.map((name) => `${filterColumns[name]} = {${name}:String}`)].join(' AND '),
    parameters: {
      ...condition.parameters,
      ...buildRangeParameters(range),
      ...Object.fromEntries(names.map((name) => [name, filter[name] as string])),
    },
  };
};
