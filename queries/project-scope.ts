import { z } from 'zod';
import { createValidationError } from './errors.ts';

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
    throw createValidationError('projectId', 'is required: projectId=<id> for one project, or scope=account for all');
};

/**
 * Returns the SQL condition of the scope with a leading ` AND`, or an empty text. If there are several columns, a
 * match in one of them is sufficient.
 */
export const buildProjectScopeCondition = (
  { projectId, scope }: ProjectScope,
  columns: readonly string[] = ['project_id'],
): string => {
  if (projectId === undefined || scope === 'account') return '';
  const conditions = columns.map((column) => `${column} = {project:String}`).join(' OR ');
  return ` AND ${columns.length > 1 ? `(${conditions})` : conditions}`;
};

/** Returns the parameters of `buildProjectScopeCondition`. */
export const toProjectScopeParameters = ({ projectId, scope }: ProjectScope): Record<string, string> =>
  projectId === undefined || scope === 'account' ? {} : { project: projectId };
