import { ApiError } from '../errors.ts';

/**
 * Rejects a request that contains another tenant than its session's: in the path, in the query, or at the top level
 * of the body. An invalid id counts as another tenant. Values deeper in the body are not checked.
 */
export const requireSameTenant = (tenantId: string, requestedTenant: unknown): void => {
  if (requestedTenant === undefined || requestedTenant === null || requestedTenant === tenantId) return;
  if (Array.isArray(requestedTenant)) {
    for (const value of requestedTenant) requireSameTenant(tenantId, value);
    return;
  }
  throw new ApiError('TENANT_MISMATCH', 'the request names a different organization than the session’s');
};

/** Returns the `tenantId` at the top level of a JSON body. */
export const getBodyTenant = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && !Array.isArray(body) && Object.hasOwn(body, 'tenantId')
    ? (body as { tenantId: unknown }).tenantId
    : undefined;
