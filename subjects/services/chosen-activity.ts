/** Filters counts of services by scope, minutes, environment, and further conditions */
import { z } from 'zod';
import { type ProjectScope, projectScopeCondition, projectScopeParameterValues } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import { minutesCondition, minutesParameters } from './minutes.ts';

/** Returns SQL of the environment's name, from the current or former attribute. */
export const environmentSql = (attributes: string): string =>
  `if(${attributes}['deployment.environment.name'] != '', ${attributes}['deployment.environment.name'], ${attributes}['deployment.environment'])`;

/** Query parameters that select requests */
export const filterParameters = {
  environment: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .describe('Deployment environment of the resources (`deployment.environment.name`)'),
};

/** Query parameter that overrides the Apdex threshold */
export const apdexParameter = {
  apdexThresholdMs: z.coerce
    .number()
    .min(1)
    .max(3_600_000)
    .optional()
    .describe('Apdex threshold of this response, instead of the configured one (`/api/service-settings`)'),
};

export interface ActivityFilter extends ProjectScope {
  readonly minutes: Range;
  readonly environment?: string | undefined;
  readonly service?: string | undefined;
}

/** Returns the SQL condition of a filter on `resource_activity`, and its parameters. */
export const buildActivityFilter = (
  choice: ActivityFilter,
): { readonly where: string; readonly parameters: Record<string, string> } => {
  const conditions = [`tenant_id = {tenant:String} AND ${minutesCondition}${projectScopeCondition(choice)}`];
  const parameters: Record<string, string> = {
    ...minutesParameters(choice.minutes),
    ...projectScopeParameterValues(choice),
  };
  if (choice.service !== undefined) {
    conditions.push('service = {service:String}');
    parameters['service'] = choice.service;
  }
  if (choice.environment !== undefined) {
    conditions.push(
      `resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND ${environmentSql('attributes')} = {environment:String})`,
    );
    parameters['environment'] = choice.environment;
  }
  return { where: conditions.join(' AND '), parameters };
};
