import { ApiError } from '../kernel/errors.ts';
import type { Caller } from './caller.ts';
import type { Access } from './rights.ts';

/** `<group>:read` or `<group>:write`. */
export type ScopeName = string;

/**
 * The scope that an API token needs for an operation: reading for GET and for queries that are posted, writing for all
 * else. What only people do has none.
 */
export const scopeOf = (operation: {
  readonly group: string;
  readonly method: string;
  readonly role: Access;
}): ScopeName | undefined => {
  const { group, method, role } = operation;
  if (role === 'none' || role === 'session') return undefined;
  const reads = method === 'GET' || (method === 'POST' && (role === 'viewer' || role === 'auditor'));
  return `${group}:${reads ? 'read' : 'write'}`;
};

/** Whether scopes include one: writing includes reading. A person has no scopes, and so every one. */
export const coversScope = (scopes: readonly ScopeName[] | undefined, scope: ScopeName): boolean => {
  if (scopes === undefined || scopes.includes(scope)) return true;
  const [group, access] = scope.split(':');
  return access === 'read' && scopes.includes(`${group}:write`);
};

/** 403 for an API token that lacks the operation's scope. */
export const refuseWithoutScope = (
  { kind, scopes }: Caller,
  { scope }: { readonly scope: ScopeName | undefined },
): void => {
  if (kind === 'person') return;
  if (scope === undefined)
    throw new ApiError('FORBIDDEN', 'this needs somebody who signed in; an API token cannot do it');
  if (!coversScope(scopes, scope)) throw new ApiError('FORBIDDEN', `the API token lacks the scope ${scope}`);
};

/** A scope, and what it opens. */
export interface ScopeEntry {
  readonly scope: ScopeName;
  /** `GET /api/logs`; within the role of the account. */
  readonly operations: readonly string[];
}

/** What scopes are told of an operation. */
interface Scoped {
  readonly scope: ScopeName | undefined;
  readonly method: string;
  readonly path: string;
}

/** Every scope that a token can have. */
export const scopesOf = (operations: readonly Scoped[]): readonly ScopeEntry[] => {
  const found = new Map<ScopeName, string[]>();
  for (const { scope, method, path } of operations) {
    if (scope === undefined) continue;
    found.set(scope, [...(found.get(scope) ?? []), `${method} ${path}`]);
  }
  return [...found]
    .map(([scope, opened]) => ({ scope, operations: opened }))
    .sort((l, r) => (l.scope < r.scope ? -1 : 1));
};
