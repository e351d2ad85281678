/** The life cycle of a session: started by any sign-in method, and ended. */
import { randomUUID } from 'node:crypto';
import { deleteMatching } from '../../runtime/delete-matching.ts';
import type { Documents, StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Organization } from '../../schemas/resources/organization.ts';
import { type Session, sessions, sessionsTenant } from '../../schemas/resources/session.ts';
import { type User, users, usersTenant } from '../../schemas/resources/user.ts';
import type { Transact } from '../changes.ts';
import type { RequestFacts } from '../request-facts.ts';
import { formatSessionCookies } from './cookies.ts';
import type { IdentityPorts } from './ports.ts';
import { createFirstToken, hashRefreshToken } from './refresh-tokens.ts';

const dayMs = 86_400_000;
/** A session ends this long after its last refresh. */
const maxIdleMs = 30 * dayMs;
/** A session ends this long after the sign-in, however often it is refreshed. */
const maxLifetimeMs = 90 * dayMs;
/** Maximum concurrent sessions per user; beyond it the least recently used session ends. */
const maxSessions = 200;

/** End of a session that is refreshed now */
export const computeSessionEnd = (now: number, signedInAt: string): string =>
  new Date(Math.min(now + maxIdleMs, Date.parse(signedInAt) + maxLifetimeMs)).toISOString();

/** A user with a proven identity, about to start a session in one of their organizations. */
export interface SessionStart {
  readonly user: User & StoredMetadata;
  readonly organization: Pick<Organization & StoredMetadata, 'id' | 'name'>;
  readonly request: RequestFacts;
  /** `change` of an operation that declares the action `session.begin`. */
  readonly change: Transact;
  /** A session that this one replaces, inheriting its proof of identity. */
  readonly replacedSession?: Session & StoredMetadata;
  /** The organization whose identity provider authenticated the user */
  readonly provedBy?: string;
  /** Whether the request specified the organization; then the default organization of later sign-ins does not change. */
  readonly isOrganizationRequested?: boolean;
}

/** The response to a sign-in; its schema is `SignedIn` of the authentication group. */
export interface SignInResult {
  readonly token: string;
  readonly expiresAt: string;
  readonly refreshToken?: string;
  readonly user: { readonly id: string; readonly email: string; readonly name: string };
  readonly tenant: { readonly id: string; readonly name: string };
}

type SessionPorts = Pick<IdentityPorts, 'clock' | 'secretBox' | 'tokens'>;

/**
 * Starts a session with its own id and sets its cookies. It is recorded as `session.begin` of the organization, and
 * known to this instance immediately. Login, single sign-on, accepting an invitation and switching the organization all
 * call this.
 */
export const beginSession = async (sessionStart: SessionStart, ports: SessionPorts): Promise<SignInResult> => {
  const {
    user,
    organization,
    request,
    change,
    replacedSession,
    provedBy = replacedSession?.provedBy,
    isOrganizationRequested = false,
  } = sessionStart;
  const { clock, secretBox } = ports;
  const now = clock.now();
  const signedInAt = replacedSession?.signedInAt ?? new Date(now).toISOString();
  const id = randomUUID();
  const refreshToken = createFirstToken(secretBox, id);
  const fields: Session = {
    userId: user.id,
    tenantId: organization.id,
    signedInAt,
    expiresAt: computeSessionEnd(now, signedInAt),
    address: request.address,
    userAgent: request.userAgent.slice(0, 512),
    refreshHash: hashRefreshToken(refreshToken),
    previousRefreshHash: null,
    refreshedAt: new Date(now).toISOString(),
    ...(provedBy === undefined ? {} : { provedBy }),
  };
  const session = await change(async ({ forTenant, record }) => {
    const sessionCollection = forTenant(sessionsTenant).collection(sessions);
    const userSessions = await sessionCollection.list({ filter: { userId: user.id }, sort: { refreshedAt: -1 } });
    const surplusIds = userSessions.items.slice(maxSessions - 1).map((userSession) => userSession.id);
    const endedIds = replacedSession === undefined ? surplusIds : [...new Set([...surplusIds, replacedSession.id])];
    for (const endedId of endedIds) await sessionCollection.delete(endedId);
    const actor = { type: 'user', id: user.id, name: user.email } as const;
    record({ action: 'session.begin', id, name: user.email, tenantId: organization.id, actor });
    if (provedBy === undefined && !isOrganizationRequested && user.lastTenantId !== organization.id)
      await forTenant(usersTenant).collection(users).update(user.id, { lastTenantId: organization.id });
    return sessionCollection.insert({ id, ...fields });
  });
  const tokenFields = await issueTokens(session, refreshToken, request, ports);
  return {
    ...tokenFields,
    user: { id: user.id, email: user.email, name: user.name },
    tenant: { id: organization.id, name: organization.name },
  };
};

/** Issues a new session token and refresh token, as cookies and in the response. */
export const issueTokens = async (
  session: Session & StoredMetadata,
  refreshToken: string,
  request: RequestFacts,
  { tokens }: Pick<IdentityPorts, 'tokens'>,
): Promise<Pick<SignInResult, 'token' | 'expiresAt' | 'refreshToken'>> => {
  const { userId, tenantId, id: sessionId } = session;
  const { token, expiresAt } = await tokens.issue({ userId, tenantId, sessionId });
  const refresh = { value: refreshToken, expiresAt: new Date(session.expiresAt) };
  for (const cookie of formatSessionCookies({ value: token, expiresAt: expiresAt }, refresh, request))
    request.reply('Set-Cookie', cookie);
  // Do not return the refresh token to browsers, so that scripts cannot read it. Unlike programs, browsers send headers
  // about the requesting page.
  const isBrowser = request.header('sec-fetch-site') !== '' || request.header('origin') !== '';
  return { token, expiresAt: expiresAt.toISOString(), ...(isBrowser ? {} : { refreshToken }) };
};

/** Removes the matching sessions except one, within a transaction; returns their number. */
export const removeSessions = (
  { forTenant }: Pick<Documents, 'forTenant'>,
  ownerFilter: Partial<Pick<Session, 'userId' | 'tenantId' | 'provedBy'>>,
  exceptId?: string,
): Promise<number> =>
  deleteMatching(
    forTenant(sessionsTenant).collection(sessions),
    exceptId === undefined ? ownerFilter : { ...ownerFilter, id: { $ne: exceptId } },
  );

/** Deletes expired sessions. */
export const deleteExpiredSessions = async (documents: Documents, now: number): Promise<void> => {
  await deleteMatching(documents.forTenant(sessionsTenant).collection(sessions), {
    expiresAt: { $lt: new Date(now).toISOString() },
  });
};
