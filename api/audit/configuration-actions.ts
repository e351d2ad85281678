import type { Access } from '../callers/rights.ts';

interface Audited {
  readonly role: Access;
  readonly audit: readonly string[];
}

/** Groups whose changes are events themselves. */
const groupsWithEvents: readonly string[] = ['event', 'deployment'];

/**
 * Actions of the audit log that are changes of configuration which every Viewer may read: those that an Editor may cause. What needs
 * an Admin (users, keys, retention) or no role (sign-ins, passwords) stays in the audit log.
 */
export const configurationActionsOf = (operations: readonly Audited[]): readonly string[] => {
  const beyond = new Set(operations.filter(({ role }) => role !== 'editor').flatMap(({ audit }) => audit));
  const actions = operations.filter(({ role }) => role === 'editor').flatMap(({ audit }) => audit);
  return [...new Set(actions)].filter(
    (action) => !beyond.has(action) && !groupsWithEvents.includes(action.slice(0, action.indexOf('.'))),
  );
};
