import { ConflictError, type StoredMetadata } from '../../schemas/ports/documents.ts';
import { type Session, sessions, sessionsTenant } from '../../schemas/resources/session.ts';
import type { Transact } from '../changes.ts';
import type { ApiError } from '../errors.ts';
import type { IdentityPorts } from './ports.ts';
import { deriveNextToken, hashRefreshToken, parseSessionId } from './refresh-tokens.ts';
import { createUnauthenticatedError } from './session.ts';
import { computeSessionEnd } from './sessions.ts';

/** How long the previous token still returns the same successor, in case two tabs refresh concurrently or a response is lost. */
const gracePeriodMs = 30_000;
/** When two instances refresh the same session concurrently, one of them retries. */
const maxAttempts = 3;

export interface RefreshedSession {
  readonly session: Session & StoredMetadata;
  readonly refreshToken: string;
}

const createInvalidTokenError = (): ApiError =>
  createUnauthenticatedError('the refresh token is invalid or has expired; sign in again');

/**
 * Exchanges a session's current refresh token for the next one. If an older token is used, it may have been stolen: the
 * session ends, so that all tokens derived from it become invalid, and the end is recorded as `session.revoke`.
 */
export const refreshSession = async (
  token: string,
  change: Transact,
  { documents, directory, secretBox, clock }: Pick<IdentityPorts, 'documents' | 'directory' | 'secretBox' | 'clock'>,
): Promise<RefreshedSession> => {
  const sessionId = parseSessionId(secretBox, token);
  if (sessionId === undefined) throw createInvalidTokenError();
  const sessionCollection = documents.forTenant(sessionsTenant).collection(sessions);
  const hash = hashRefreshToken(token);
  const refreshToken = deriveNextToken(secretBox, sessionId, token);

  const rotateToken = async (session: Session & StoredMetadata): Promise<(Session & StoredMetadata) | undefined> => {
    const now = clock.now();
    const changes = {
      refreshHash: hashRefreshToken(refreshToken),
      previousRefreshHash: hash,
      refreshedAt: new Date(now).toISOString(),
      expiresAt: computeSessionEnd(now, session.signedInAt),
    };
    try {
      return await sessionCollection.update(sessionId, changes, session.version);
    } catch (error) {
      if (error instanceof ConflictError && error.kind === 'version') return undefined;
      throw error;
    }
  };

  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const session = await sessionCollection.find(sessionId);
    if (session === undefined || Date.parse(session.expiresAt) <= clock.now()) throw createInvalidTokenError();
    const { userId, tenantId } = session;
    if ((await directory.loadCaller(sessionId, userId, tenantId)) === undefined) throw createInvalidTokenError();
    if (hash === session.refreshHash) {
      const after = await rotateToken(session);
      if (after === undefined) continue;
      directory.applyWrite(sessions, sessionsTenant, sessionId, after);
      return { session: after, refreshToken };
    }
    const isWithinGrace = clock.now() - Date.parse(session.refreshedAt) <= gracePeriodMs;
    if (hash === session.previousRefreshHash && isWithinGrace) return { session, refreshToken };
    await change(async ({ forTenant, record }) => {
      await forTenant(sessionsTenant).collection(sessions).delete(sessionId);
      const name = 'an old refresh token was used: it may have been copied';
      record({ action: 'session.revoke', id: sessionId, name, tenantId, actor: { type: 'system', id: '', name: '' } });
    });
    throw createInvalidTokenError();
  }
  throw createInvalidTokenError();
};
