import { type Role, roles } from '../../schemas/resources/user.ts';
import { coversScope, type ScopeName } from '../../schemas/scopes.ts';
import { ApiError } from '../errors.ts';
import type { Caller } from './caller.ts';
import { type Access, satisfiesAccess } from './rights.ts';

/**
 * Returns the scope that an API token needs for an operation: read for GET and for queries sent by POST, write for
 * everything else. Operations for people only have no scope.
 */
export const getRequiredScope = (operation: {
  readonly group: string;
  readonly method: string;
  readonly role: Access;
  readonly people?: boolean;
}): ScopeName | undefined => {
  const { group, method, role, people } = operation;
  if (people || role === 'none' || role === 'session') return undefined;
  const isRead = method === 'GET' || (method === 'POST' && (role === 'viewer' || role === 'auditor'));
  return `${group}:${isRead ? 'read' : 'write'}`;
};

/** Throws 403 for an API token without the operation's scope; `any` needs none. */
export const requireScope = (
  { kind, scopes }: Caller,
  { scope }: { readonly scope: ScopeName | 'any' | undefined },
): void => {
  if (kind === 'person' || scope === 'any') return;
  if (scope === undefined)
    throw new ApiError('FORBIDDEN', 'this needs a user who signed in; an API token cannot do it');
  if (!coversScope(scopes, scope)) throw new ApiError('FORBIDDEN', `the API token lacks the scope ${scope}`);
};

/** A scope and the operations that it allows. */
export interface ScopeEntry {
  readonly scope: ScopeName;
  /** Such as `GET /api/logs`; limited by the role of the account. */
  readonly operations: readonly string[];
  /** Roles that may call at least one of the operations */
  readonly roles: readonly Role[];
  /** Groups whose telemetry the views of these operations show without their own read scope, such as `traces` */
  readonly reads: readonly string[];
}

/** Properties of an operation that determine its scope. */
interface ScopedOperation {
  readonly scope: ScopeName | 'any' | undefined;
  readonly method: string;
  readonly path: string;
  readonly role: Access;
  readonly reads: readonly string[];
}

/** Returns every scope that a token can have, with its operations, sorted by name. */
export const listScopes = (operations: readonly ScopedOperation[]): readonly ScopeEntry[] => {
  const byScope = Map.groupBy(operations, ({ scope }) => (scope === 'any' ? '' : (scope ?? '')));
  byScope.delete('');
  return [...byScope]
    .map(([scope, allowedOperations]) => ({
      scope: scope as ScopeName,
      operations: allowedOperations.map(({ method, path }) => `${method} ${path}`),
      roles: roles.filter((role) => allowedOperations.some((operation) => satisfiesAccess(role, operation.role))),
      reads: [...new Set(allowedOperations.flatMap(({ reads }) => reads))].sort(),
    }))
    .sort((l, r) => (l.scope < r.scope ? -1 : 1));
};

/** The scopes of a role that an API token does not have. Empty for a person. */
export const listMissingScopes = (
  role: Role,
  { scopes }: Pick<Caller, 'scopes'>,
  allScopes: readonly ScopeEntry[],
): ScopeName[] =>
  allScopes.flatMap(({ scope, roles: allowedRoles }) =>
    allowedRoles.includes(role) && !coversScope(scopes, scope) ? [scope] : [],
  );

/** Throws 403 when an API token would grant a role with more permissions than its own scopes. */
export const requireScopesOfRole = (role: Role, caller: Pick<Caller, 'scopes'>, known: readonly ScopeEntry[]): void => {
  const [first, ...more] = listMissingScopes(role, caller, known);
  if (first === undefined) return;
  const missingText = more.length === 0 ? `the scope ${first}` : `the scopes ${first} and ${more.length} more`;
  throw new ApiError('FORBIDDEN', `the role ${role} may do more than this API token, which lacks ${missingText}`);
};
