import type { Access } from '../../../callers/rights.ts';

interface AuditedOperation {
  readonly role: Access;
  readonly audit: readonly string[];
}

/** Resource types whose changes are already events */
const resourceTypesWithEvents: readonly string[] = ['event', 'deployment'];

/**
 * Audited actions that change configuration and that every Viewer may read: those that an Editor may perform. Actions
 * that need an Admin (users, keys, retention) or no role (sign-ins, passwords) are visible in the audit log only.
 */
export const listConfigurationActions = (operations: readonly AuditedOperation[]): readonly string[] => {
  const actionsOfOtherRoles = new Set(operations.filter(({ role }) => role !== 'editor').flatMap(({ audit }) => audit));
  const actions = operations.filter(({ role }) => role === 'editor').flatMap(({ audit }) => audit);
  return [...new Set(actions)].filter(
    (action) =>
      !actionsOfOtherRoles.has(action) && !resourceTypesWithEvents.includes(action.slice(0, action.indexOf('.'))),
  );
};
