import { ApiError } from '../errors.ts';

/**
 * Rejects a request that names another tenant than its session's: in the path, in the query, or at the top level of the
 * body. An invalid id counts as another tenant. Values deeper in the body are not checked.
 */
export const refuseOtherTenant = (tenantId: string, named: unknown): void => {
  if (named === undefined || named === null || named === tenantId) return;
  if (Array.isArray(named)) {
    for (const one of named) refuseOtherTenant(tenantId, one);
    return;
  }
  throw new ApiError('TENANT_MISMATCH', 'the request names a different organization than the session’s');
};

/** The `tenantId` at the top level of a JSON body */
export const tenantNamedIn = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && !Array.isArray(body) && Object.hasOwn(body, 'tenantId')
    ? (body as { tenantId: unknown }).tenantId
    : undefined;
