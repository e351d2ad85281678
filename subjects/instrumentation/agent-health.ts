/** Health that agents report over OpAMP: which component fails. */
import { z } from 'zod';
import { AgentComponent, AgentHealth } from '../../schemas/fleet-agents.ts';

/** Health without the list of components. */
export const AgentHealthSummary = AgentHealth.omit({ components: true, omittedComponents: true }).extend({
  failingComponent: AgentComponent.nullable(),
  failingComponents: z.int(),
});
export type AgentHealthSummary = z.output<typeof AgentHealthSummary>;

const isWithin = (path: readonly string[], outer: readonly string[]): boolean =>
  path.length > outer.length && outer.every((name, index) => path[index] === name);

/** Returns the components that fail without a component within them that fails, those with an error first. */
const findFailingComponents = ({ components }: Pick<AgentHealth, 'components'>): AgentComponent[] => {
  const failing = components.filter(({ isHealthy }) => !isHealthy);
  return failing
    .filter(({ path }) => !failing.some((other) => isWithin(other.path, path)))
    .toSorted((left, right) => Number(left.error === '') - Number(right.error === ''));
};

export const summarizeHealth = ({ components, omittedComponents: _, ...health }: AgentHealth): AgentHealthSummary => {
  const failing = findFailingComponents({ components });
  return { ...health, failingComponent: failing[0] ?? null, failingComponents: failing.length };
};
