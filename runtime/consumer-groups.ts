/** Names of consumer groups. What a group is called is said here and nowhere else. */

export type ConsumingRole = 'processors' | 'sinks';

/** The group of a component. No two components have the same, for names are unique within a role. */
export const consumerGroup = (role: ConsumingRole, component: string): string => `${role}.${component}`;

/**
 * What a group was called before names carried the role, when sinks were the only components. A group that stands nowhere
 * yet goes on where that one stood. To be removed with the first version that need not take over from those.
 */
export const formerGroup = (group: string): string | undefined =>
  group.startsWith('sinks.') ? group.slice('sinks.'.length) : undefined;

/** Replays of a consumer's dead letter name the only group that takes them again, or what that one was called. */
export const isForAnother = (headers: Readonly<Record<string, string>>, group: string): boolean => {
  const only = headers['only-group'];
  return only !== undefined && only !== group && only !== formerGroup(group);
};
