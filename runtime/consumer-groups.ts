/** Names of consumer groups. Only this file makes them. */

export type ConsumingRole = 'processors' | 'sinks';

/** The group of a component. Each component has its own, since names are unique within a role. */
export const consumerGroup = (role: ConsumingRole, component: string): string => `${role}.${component}`;

/**
 * The name of a sink's group in versions before names carried the role; only sinks were consumers then. A group without
 * committed offsets continues from those of the former name. Remove this when no upgrade from those versions is supported.
 */
export const formerGroup = (group: string): string | undefined =>
  group.startsWith('sinks.') ? group.slice('sinks.'.length) : undefined;

/** Whether a message is the replay of a dead letter of another group, whose name or former name `only-group` holds. */
export const isForAnotherGroup = (headers: Readonly<Record<string, string>>, group: string): boolean => {
  const only = headers['only-group'];
  return only !== undefined && only !== group && only !== formerGroup(group);
};
