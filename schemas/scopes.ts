/** Scopes of API tokens. */

/** `<group>:read` or `<group>:write`. */
export type ScopeName = string;

/** Whether the scopes include a scope; write includes read. Without scopes (a person), every scope is included. */
export const coversScope = (scopes: readonly ScopeName[] | undefined, scope: ScopeName): boolean => {
  if (scopes === undefined || scopes.includes(scope)) return true;
  const [group, access] = scope.split(':');
  return access === 'read' && scopes.includes(`${group}:write`);
};
