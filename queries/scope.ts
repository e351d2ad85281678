import { z } from 'zod';
import { invalid } from './errors.ts';

/** Query parameters that state the project scope. */
export const scopeParameters = {
  projectId: z.string().min(1).max(128).optional().describe('Only this project'),
  scope: z
    .enum(['account'])
    .optional()
    .describe('account: the whole organization; takes precedence over projectId'),
};

interface Scope {
  readonly projectId?: string | undefined;
  readonly scope?: 'account' | undefined;
}

/** Refuses a request that states no scope, where one is needed. */
export const requireScope = ({ projectId, scope }: Scope): void => {
  if (projectId === undefined && scope === undefined)
    throw invalid('projectId', 'is required: projectId=<id> for one project, or scope=account for all');
};

/** SQL of the scope: with ` AND` before it, or nothing. */
export const scopeCondition = ({ projectId, scope }: Scope): string =>
  projectId === undefined || scope === 'account' ? '' : ' AND project_id = {project:String}';

/** Parameters of that SQL. */
export const scopeValues = ({ projectId, scope }: Scope): Record<string, string> =>
  projectId === undefined || scope === 'account' ? {} : { project: projectId };
