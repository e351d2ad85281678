import { z } from 'zod';
import { invalid } from './errors.ts';

/** Query parameters that state the project scope. */
export const projectScopeParameters = {
  projectId: z.string().min(1).max(128).optional().describe('Only this project'),
  scope: z.enum(['account']).optional().describe('account: the whole organization; takes precedence over projectId'),
};

interface ProjectScope {
  readonly projectId?: string | undefined;
  readonly scope?: 'account' | undefined;
}

/** Refuses a request that states no scope, where one is needed. */
export const requireProjectScope = ({ projectId, scope }: ProjectScope): void => {
  if (projectId === undefined && scope === undefined)
    throw invalid('projectId', 'is required: projectId=<id> for one project, or scope=account for all');
};

/** SQL of the scope: with ` AND` before it, or nothing. */
export const projectScopeCondition = ({ projectId, scope }: ProjectScope): string =>
  projectId === undefined || scope === 'account' ? '' : ' AND project_id = {project:String}';

/** Parameters of that SQL. */
export const projectScopeValues = ({ projectId, scope }: ProjectScope): Record<string, string> =>
  projectId === undefined || scope === 'account' ? {} : { project: projectId };
