/** Builds filters on counts of services: project scope, minutes, service and environment */
import { z } from 'zod';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import { minutesCondition, toMinutesParameters } from './minutes.ts';

/** Returns SQL of the environment's name, from the current or former attribute. */
export const buildEnvironmentSql = (attributes: string): string =>
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
  filter: ActivityFilter,
): { readonly where: string; readonly parameters: Record<string, string> } => {
  const conditions = [`tenant_id = {tenant:String} AND ${minutesCondition}${buildProjectScopeCondition(filter)}`];
  const parameters: Record<string, string> = {
    ...toMinutesParameters(filter.minutes),
    ...toProjectScopeParameters(filter),
  };
  if (filter.service !== undefined) {
    conditions.push('service = {service:String}');
    parameters['service'] = filter.service;
  }
  if (filter.environment !== undefined) {
    conditions.push(
      `resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND ${buildEnvironmentSql('attributes')} = {environment:String})`,
    );
    parameters['environment'] = filter.environment;
  }
  return { where: conditions.join(' AND '), parameters };
};
