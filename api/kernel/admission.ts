/** Identification and authorization of the caller, before a request is processed. */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../callers/caller.ts';
import { satisfiesAccess } from '../callers/rights.ts';
import { requireScope } from '../callers/scopes.ts';
import { ApiError } from '../errors.ts';
import { authenticate, convertBasicToBearer } from '../identity/session.ts';
import type { Operation } from './operation.ts';
import type { Ports } from './ports.ts';
import type { RateLimitedOperation, RequestLimits } from './request-limits.ts';

/** Authenticates a request and counts it against the rate limits; undefined for an operation without a session. */
export const authenticateWithinLimits = async (
  request: IncomingMessage,
  operation: RateLimitedOperation & Pick<Operation, 'role' | 'basic'>,
  address: string,
  { ports, limits }: { readonly ports: Ports; readonly limits: RequestLimits },
): Promise<Caller | undefined> => {
  if (operation.role === 'none') {
    await limits.countAnonymous(address, operation);
    return undefined;
  }
  let caller: Caller;
  try {
    const authRequest = operation.basic === true ? convertBasicToBearer(request) : request;
    caller = await authenticate(authRequest, ports, () => limits.beforeLookup(address));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'UNAUTHENTICATED') await limits.countUnauthenticated(address);
    throw error;
  }
  await limits.countCaller(caller, operation);
  if (caller.kind === 'service-account') ports.tokenUses.recordUse(caller, address);
  return caller;
};

/**
 * Throws if the caller's scopes, role or plan do not allow an operation. Returns the caller with the scopes of reads in
 * this operation.
 */
export const authorizeCaller = (
  caller: Caller,
  operation: Pick<Operation, 'role' | 'entitlement' | 'scope' | 'reads'>,
): Caller => {
  const { role, entitlement } = operation;
  requireScope(caller, operation);
  if (!satisfiesAccess(caller.role, role))
    throw new ApiError('FORBIDDEN', `this operation requires the role ${role}; yours is ${caller.role}`);
  if (entitlement !== undefined && !caller.plan.entitlements.includes(entitlement))
    throw new ApiError('UPGRADE_REQUIRED', `the plan ${caller.plan.name} does not include ${entitlement}`);
  if (caller.kind === 'person') return caller;
  return { ...caller, readScopes: [...caller.scopes, ...operation.reads.map((group) => `${group}:read`)] };
};
