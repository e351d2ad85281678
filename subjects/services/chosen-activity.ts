/** Which counts of services are read: scope, minutes, environment, and what more is asked. */
import { z } from 'zod';
import { type ProjectScope, projectScopeCondition, projectScopeValues } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import { minutesCondition, minutesValues } from './minutes.ts';

/** The name of the environment as senders of all ages give it. */
export const environmentOf = (attributes: string): string =>
  `if(${attributes}['deployment.environment.name'] != '', ${attributes}['deployment.environment.name'], ${attributes}['deployment.environment'])`;

/** Parameters that choose which requests count. */
export const choiceParameters = {
  environment: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .describe('Only what resources of this deployment environment sent (deployment.environment.name)'),
};

/** Parameter by which another threshold than the one that is set can be tried. */
export const apdexParameter = {
  apdexThresholdMs: z.coerce
    .number()
    .min(1)
    .max(3_600_000)
    .optional()
    .describe('Threshold of the Apdex in this answer, instead of the one that is set (`/api/service-settings`)'),
};

export interface Choice extends ProjectScope {
  readonly minutes: Range;
  readonly environment?: string | undefined;
  readonly service?: string | undefined;
}

/** SQL of a choice over `resource_activity`, and its parameters. */
export const chosenActivity = (
  choice: Choice,
): { readonly where: string; readonly parameters: Record<string, string> } => {
  const conditions = [`tenant_id = {tenant:String} AND ${minutesCondition}${projectScopeCondition(choice)}`];
  const parameters: Record<string, string> = { ...minutesValues(choice.minutes), ...projectScopeValues(choice) };
  if (choice.service !== undefined) {
    conditions.push('service = {service:String}');
    parameters['service'] = choice.service;
  }
  if (choice.environment !== undefined) {
    conditions.push(
      `resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND ${environmentOf('attributes')} = {environment:String})`,
    );
    parameters['environment'] = choice.environment;
  }
  return { where: conditions.join(' AND '), parameters };
};
