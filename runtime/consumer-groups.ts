/** Names of consumer groups. Only this file builds them. */

export type ConsumingRole = 'processors' | 'sinks';

/**
 * Returns the consumer group of a component. Each component has its own group, since names are unique within a role.
 */
export const toConsumerGroup = (role: ConsumingRole, component: string): string => `${role}.${component}`;

/**
 * Returns the name that a sink's group had before names contained the role, when only sinks were consumers. A group
 * without committed offsets continues from the offsets of the former name. Remove this once no upgrade from those
 * versions is supported.
 */
export const getFormerGroup = (group: string): string | undefined =>
  group.startsWith('sinks.') ? group.slice('sinks.'.length) : undefined;

/**
 * Returns whether a message replays a dead letter of another group, whose name or former name is in the header
 * `only-group`.
 */
export const isReplayForAnotherGroup = (headers: Readonly<Record<string, string>>, group: string): boolean => {
  const targetGroup = headers['only-group'];
  return targetGroup !== undefined && targetGroup !== group && targetGroup !== getFormerGroup(group);
};
