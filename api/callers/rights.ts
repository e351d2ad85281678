import type { Role } from '../../schemas/resources/user.ts';
import { ApiError } from '../errors.ts';

/** What an operation requires of its caller: nothing, any session, or at least a role. */
export type Access = Role | 'none' | 'session';

/** Viewer < Editor < Admin < Owner. Auditor is no rung: it reads what a Viewer reads, and the audit log. */
const ranks = { viewer: 0, editor: 1, admin: 2, owner: 3 } as const;

/** Whether `role` satisfies `access`. */
export const mayCall = (role: Role, access: Access): boolean => {
  if (access === 'none' || access === 'session') return true;
  if (role === 'auditor') return access === 'auditor' || access === 'viewer';
  if (access === 'auditor') return ranks[role] >= ranks.admin;
  return ranks[role] >= ranks[access];
};

/** The rung that a granter needs: Auditor, which is no rung, needs an Admin. */
const rankToGrant = { ...ranks, auditor: ranks.admin } as const;

/** The facts of a caller that grants a role. */
export interface Granter {
  readonly role: Role;
  readonly kind: 'person' | 'service-account';
}

/**
 * Whether a caller may give or take away a role: never one above their own. An API token cannot make a user an Admin, who
 * would have more rights than the token's scopes.
 */
export const mayGrant = (granter: Granter, role: Role): boolean => {
  if (granter.role === 'auditor') return false;
  if (granter.kind === 'service-account' && rankToGrant[role] >= ranks.admin && role !== 'auditor') return false;
  return rankToGrant[role] <= ranks[granter.role];
};

/** Throws 403 when a service account's role is above the caller's. Scopes limit its tokens further. */
export const refuseRoleAbove = ({ role: own }: Granter, ...affectedRoles: readonly (Role | undefined)[]): void => {
  for (const role of affectedRoles)
    if (role !== undefined && !mayGrant({ role: own, kind: 'person' }, role))
      throw new ApiError('FORBIDDEN', `the role ${own} cannot give or change the role ${role}`);
};

/** Throws 403 unless the caller may give and take away all of these roles: those that a user has, and those to be given. */
export const refuseGrant = (granter: Granter, ...affectedRoles: readonly (Role | undefined)[]): void => {
  for (const role of affectedRoles) {
    if (role === undefined || mayGrant(granter, role)) continue;
    const who = granter.kind === 'person' ? `the role ${granter.role}` : 'an API token';
    throw new ApiError('FORBIDDEN', `${who} cannot give, change or take away the role ${role}`);
  }
};
