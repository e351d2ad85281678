import type { Role } from '../../schemas/resources/user.ts';

/** What an operation asks of its caller: nothing, any session, or at least a role. */
export type Access = Role | 'none' | 'session';

/** Viewer < Editor < Admin < Owner. Auditor is no rung: it reads what a Viewer reads, and the audit log. */
const rungs = { viewer: 0, editor: 1, admin: 2, owner: 3 } as const;

/** Whether `role` satisfies `access`. */
export const mayCall = (role: Role, access: Access): boolean => {
  if (access === 'none' || access === 'session') return true;
  if (role === 'auditor') return access === 'auditor' || access === 'viewer';
  if (access === 'auditor') return rungs[role] >= rungs.admin;
  return rungs[role] >= rungs[access];
};
