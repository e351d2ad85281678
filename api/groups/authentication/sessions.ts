import { z } from 'zod';
import { cursorParameter } from '../../../queries/cursor.ts';
import { PermanentError } from '../../../schemas/errors.ts';
import { sessions, sessionsTenant } from '../../../schemas/resources/session.ts';
import { roles } from '../../../schemas/resources/user.ts';
import { describeUserAgent } from '../../../subjects/rum/user-agent.ts';
import { requireUser } from '../../callers/caller.ts';
import { ApiError, createFieldError, createNotFoundError } from '../../errors.ts';
import { formatExpiredCookies, readCookie, refreshCookie, requireOwnPage } from '../../identity/cookies.ts';
import { refreshSession } from '../../identity/refresh-session.ts';
import { createUnauthenticatedError } from '../../identity/session.ts';
import { beginSession, issueTokens } from '../../identity/sessions.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { RequestFacts } from '../../request-facts.ts';
import { Person, SignedIn, Tenant, Tokens } from './views.ts';

export const currentSession = defineOperation({
  method: 'GET',
  path: '/auth/session',
  operationId: 'getSession',
  summary: 'Get the current session: user, organization, role, entitlements, expiry',
  role: 'session',
  response: z.strictObject({
    user: Person,
    tenant: Tenant,
    role: z.enum(roles),
    entitlements: z.array(z.string()),
    sessionId: z.string(),
    expiresAt: z.iso.datetime().describe('When the session expires unless it is refreshed'),
  }),
  handler({ caller }) {
    const { user, organization, role, plan, sessionId, sessionExpiresAt } = requireUser(caller);
    return {
      user: { id: user.id, email: user.email, name: user.name },
      tenant: { id: organization.id, name: organization.name },
      role,
      entitlements: [...plan.entitlements],
      sessionId,
      expiresAt: sessionExpiresAt,
    };
  },
});

const SessionView = z.strictObject({
  id: z.string(),
  current: z.boolean().describe('Whether this is the session of the request'),
  tenant: Tenant,
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().describe('When the session was last refreshed'),
  expiresAt: z.iso.datetime(),
  address: z.string().describe('Address from which the session was started'),
  userAgent: z.string(),
  program: z
    .string()
    .describe('Browser and operating system, such as `Chrome 141 on Linux`; else the start of the user agent'),
});

export const listSessions = defineOperation({
  method: 'GET',
  path: '/auth/sessions',
  operationId: 'listSessions',
  summary:
    'List my active sessions, most recently used first; a session started through an identity provider lists only those of its organization',
  role: 'session',
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: cursorParameter,
  }),
  response: z.strictObject({ items: z.array(SessionView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, { documents, directory, clock }) {
    const { userId, sessionId, identityProviderTenantId } = requireUser(caller);
    const ownerFilter =
      identityProviderTenantId === undefined ? { userId } : { userId, tenantId: identityProviderTenantId };
    const filter = { ...ownerFilter, expiresAt: { $gt: new Date(clock.now()).toISOString() } };
    const page = await documents
      .forTenant(sessionsTenant)
      .collection(sessions)
      .list({ filter, sort: { refreshedAt: -1 }, limit: query.limit, after: query.cursor })
      .catch((error: unknown) => {
        if (error instanceof PermanentError) throw createFieldError('cursor', 'is not a cursor of this list');
        throw error;
      });
    const names = new Map(directory.listOrganizationsOfUser(userId).map(({ id, name }) => [id, name]));
    const items = page.items.map(({ id, tenantId, createdAt, refreshedAt, expiresAt, address, userAgent }) => ({
      id,
      current: id === sessionId,
      tenant: { id: tenantId, name: names.get(tenantId) ?? '' },
      createdAt,
      lastUsedAt: refreshedAt,
      expiresAt,
      address,
      userAgent,
      program: userAgent === '' ? 'Unknown program' : describeUserAgent(userAgent),
    }));
    return { items, nextCursor: page.nextCursor };
  },
});

export const endSession = defineOperation({
  method: 'DELETE',
  path: '/auth/sessions/{id}',
  operationId: 'endSession',
  summary: 'End one of my sessions',
  role: 'session',
  audit: 'session.end',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  response: z.strictObject({}),
  async handler({ caller, params: { id }, change }, { documents }) {
    const { userId, user, identityProviderTenantId } = requireUser(caller);
    const session = await documents.forTenant(sessionsTenant).collection(sessions).find(id);
    if (session?.userId !== userId || (identityProviderTenantId ?? session.tenantId) !== session.tenantId)
      throw createNotFoundError('session');
    await change(async ({ forTenant, record }) => {
      await forTenant(sessionsTenant).collection(sessions).delete(id);
      record({ id, name: user.email, tenantId: session.tenantId });
    });
    return {};
  },
});

export const logout = defineOperation({
  method: 'POST',
  path: '/auth/logout',
  operationId: 'logout',
  summary: 'End this session',
  role: 'session',
  audit: 'session.end',
  response: z.strictObject({}),
  async handler({ caller, request, change }) {
    const { sessionId, user } = requireUser(caller);
    await change(async ({ forTenant, record }) => {
      await forTenant(sessionsTenant).collection(sessions).delete(sessionId);
      record({ id: sessionId, name: user.email });
    });
    for (const cookie of formatExpiredCookies(request)) request.reply('Set-Cookie', cookie);
    return {};
  },
});

export const refresh = defineOperation({
  method: 'POST',
  path: '/auth/refresh',
  operationId: 'refreshSession',
  summary:
    'Exchange the refresh token for a new session token. The refresh token is replaced; the previous one returns the same successor for 30 s, any older one ends the session',
  role: 'none',
  audit: 'session.revoke',
  body: z
    .strictObject({ refreshToken: z.string().min(1).max(512).describe('For programs; browsers send the cookie') })
    .optional(),
  maxBodyBytes: 16 * 1024,
  response: Tokens,
  async handler({ body, request, change }, ports) {
    const token = body?.refreshToken ?? readCookieToken(request, ports.settings.PUBLIC_URL);
    const { session, refreshToken } = await refreshSession(token, change, ports);
    return issueTokens(session, refreshToken, request, ports);
  },
});

const readCookieToken = (request: RequestFacts, publicUrl: string | undefined): string => {
  const token = readCookie(request.header('cookie'), refreshCookie);
  if (token === undefined) throw createUnauthenticatedError('the request has no refresh token; sign in');
  const site = request.header('sec-fetch-site') || undefined;
  requireOwnPage({ site, origin: request.header('origin') || undefined, host: request.host }, publicUrl);
  return token;
};

export const switchTenant = defineOperation({
  method: 'POST',
  path: '/auth/switch-tenant',
  operationId: 'switchTenant',
  summary: 'Switch this session to another of my organizations',
  role: 'session',
  audit: 'session.begin',
  body: z.strictObject({ organizationId: z.string().min(1).max(64) }),
  response: SignedIn,
  async handler({ caller, body, request, change }, ports) {
    const { user, sessionId } = requireUser(caller);
    const userOrganizations = ports.directory.listOrganizationsOfUser(user.id);
    const organization = userOrganizations.find(({ id }) => id === body.organizationId);
    if (organization === undefined) throw new ApiError('NOT_FOUND', 'you are not a member of this organization');
    const session = await ports.documents.forTenant(sessionsTenant).collection(sessions).find(sessionId);
    if (session === undefined) throw createUnauthenticatedError('the session has ended; sign in again');
    const { provedBy } = session;
    // An identity provider proves an identity for its own organization only.
    if (provedBy !== undefined && provedBy !== organization.id)
      throw new ApiError(
        'FORBIDDEN',
        'this session was started through another organization’s identity provider; sign in there',
      );
    return beginSession({ user, organization, request, change, replacedSession: session }, ports);
  },
});

export const jwks = defineOperation({
  method: 'GET',
  path: '/auth/jwks.json',
  operationId: 'getPublicKeys',
  summary: 'Get the public keys of session tokens (JWK set)',
  role: 'none',
  response: z.strictObject({ keys: z.array(z.looseObject({ kid: z.string(), kty: z.string() })) }),
  handler: (_, { tokens }) => ({
    keys: tokens.listPublicKeys().map((key) => ({ ...key, kid: key.kid ?? '', kty: key.kty ?? '' })),
  }),
});
