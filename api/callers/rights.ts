import type { Role } from '../../schemas/resources/user.ts';
import { ApiError } from '../errors.ts';

/** Access that an operation requires: none, any session, or at least a role. */
export type Access = Role | 'none' | 'session';

/** Viewer < Editor < Admin < Owner. Auditor has no rank: it can read everything a Viewer can, and the audit log. */
const ranks = { viewer: 0, editor: 1, admin: 2, owner: 3 } as const;

/** Whether `role` satisfies `access`. */
export const satisfiesAccess = (role: Role, access: Access): boolean => {
  if (access === 'none' || access === 'session') return true;
  if (role === 'auditor') return access === 'auditor' || access === 'viewer';
  if (access === 'auditor') return ranks[role] >= ranks.admin;
  return ranks[role] >= ranks[access];
};

/** The rank that is required to grant a role: Auditor, which has no rank, requires an Admin. */
const grantRanks = { ...ranks, auditor: ranks.admin } as const;

/** Properties of a caller that grants a role. */
export interface Granter {
  readonly role: Role;
  readonly kind: 'person' | 'service-account';
}

/**
 * Whether a caller may grant or revoke a role: never a role above their own. An API token cannot make a user an Admin,
 * who would have more permissions than the token's scopes.
 */
export const canGrantRole = (granter: Granter, role: Role): boolean => {
  if (granter.role === 'auditor') return false;
  if (granter.kind === 'service-account' && grantRanks[role] >= ranks.admin && role !== 'auditor') return false;
  return grantRanks[role] <= ranks[granter.role];
};

/** Throws 403 when a service account's role is above the caller's. Scopes restrict its tokens further. */
export const requireRoleNotAbove = (
  { role: callerRole }: Granter,
  ...affectedRoles: readonly (Role | undefined)[]
): void => {
  for (const role of affectedRoles)
    if (role !== undefined && !canGrantRole({ role: callerRole, kind: 'person' }, role))
      throw new ApiError('FORBIDDEN', `the role ${callerRole} cannot assign or change the role ${role}`);
};

/**
 * Throws 403 unless the caller may grant and revoke all of these roles: the present roles of a user, and the new ones.
 */
export const requireGrantableRoles = (granter: Granter, ...affectedRoles: readonly (Role | undefined)[]): void => {
  for (const role of affectedRoles) {
    if (role === undefined || canGrantRole(granter, role)) continue;
    const callerText = granter.kind === 'person' ? `the role ${granter.role}` : 'an API token';
    throw new ApiError('FORBIDDEN', `${callerText} cannot assign, change or revoke the role ${role}`);
  }
};
