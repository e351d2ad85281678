import { z } from 'zod';
import { invalid } from './errors.ts';

/** Query parameters that state the project scope. */
export const projectScopeParameters = {
  projectId: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('Only this project; 404 if the organization has no project with this id'),
  scope: z.enum(['account']).optional().describe('account: the whole organization; takes precedence over `projectId`'),
};

export interface ProjectScope {
  readonly projectId?: string | undefined;
  readonly scope?: 'account' | undefined;
}

/** Throws if a request states no scope where one is required. */
export const requireProjectScope = ({ projectId, scope }: ProjectScope): void => {
  if (projectId === undefined && scope === undefined)
    throw invalid('projectId', 'is required: projectId=<id> for one project, or scope=account for all');
};

/** Returns SQL of the scope: with ` AND` before it, or empty. Among several columns, a match in one is sufficient. */
export const projectScopeCondition = (
  { projectId, scope }: ProjectScope,
  columns: readonly string[] = ['project_id'],
): string => {
  if (projectId === undefined || scope === 'account') return '';
  const conditions = columns.map((column) => `${column} = {project:String}`).join(' OR ');
  return ` AND ${columns.length > 1 ? `(${conditions})` : conditions}`;
};

/** Returns the parameters of that SQL. */
export const projectScopeParameterValues = ({ projectId, scope }: ProjectScope): Record<string, string> =>
  projectId === undefined || scope === 'account' ? {} : { project: projectId };
