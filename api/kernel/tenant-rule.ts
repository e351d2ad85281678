import { ApiError } from './errors.ts';

/**
 * The session decides the tenant. A request that names another one, in its path, its query or at the top level of its
 * body, is refused before anything else of it is looked at; what could be no organization's id is another one's too. Free-form values inside the body are not checked.
 */
export const refuseOtherTenant = (tenantId: string, named: unknown): void => {
  if (named === undefined || named === null || named === tenantId) return;
  if (Array.isArray(named)) {
    for (const one of named) refuseOtherTenant(tenantId, one);
    return;
  }
  throw new ApiError('TENANT_MISMATCH', 'the request names a different organization than the session’s');
};

/** The `tenantId` at the top level of a JSON body. */
export const tenantNamedIn = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && !Array.isArray(body) && Object.hasOwn(body, 'tenantId')
    ? (body as { tenantId: unknown }).tenantId
    : undefined;
