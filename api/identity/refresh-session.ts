import { ConflictError, type Stored } from '../../schemas/ports/documents.ts';
import { type Session, sessions, sessionsTenant } from '../../schemas/resources/session.ts';
import type { Transact } from '../changes.ts';
import type { ApiError } from '../errors.ts';
import type { IdentityPorts } from './ports.ts';
import { nextRefreshToken, refreshHash, sessionOfRefreshToken } from './refresh-tokens.ts';
import { unauthenticated } from './session.ts';
import { sessionEnd } from './sessions.ts';

/** How long the previous token still returns the same successor, for two tabs or a lost answer. */
const graceMs = 30_000;
/** When two instances refresh the same session concurrently, one of them retries. */
const attempts = 3;

export interface Refreshed {
  readonly session: Session & Stored;
  readonly refreshToken: string;
}

const over = (): ApiError => unauthenticated('the refresh token is invalid or has expired; sign in again');

/**
 * Returns a session's next refresh token in exchange for the current one. An older token must have been copied: the
 * session ends, with all tokens that a thief derived from it, recorded as `session.revoke`.
 */
export const refreshSession = async (
  token: string,
  change: Transact,
  { documents, directory, secretBox, clock }: Pick<IdentityPorts, 'documents' | 'directory' | 'secretBox' | 'clock'>,
): Promise<Refreshed> => {
  const sessionId = sessionOfRefreshToken(secretBox, token);
  if (sessionId === undefined) throw over();
  const stored = documents.of(sessionsTenant).collection(sessions);
  const hash = refreshHash(token);
  const refreshToken = nextRefreshToken(secretBox, sessionId, token);

  const rotated = async (session: Session & Stored): Promise<(Session & Stored) | undefined> => {
    const now = clock.now();
    const changes = {
      refreshHash: refreshHash(refreshToken),
      previousRefreshHash: hash,
      refreshedAt: new Date(now).toISOString(),
      expiresAt: sessionEnd(now, session.signedInAt),
    };
    try {
      return await stored.update(sessionId, changes, session.version);
    } catch (error) {
      if (error instanceof ConflictError && error.kind === 'version') return undefined;
      throw error;
    }
  };

  for (let attempt = 0; attempt < attempts; attempt++) {
    const session = await stored.find(sessionId);
    if (session === undefined || Date.parse(session.expiresAt) <= clock.now()) throw over();
    const { userId, tenantId } = session;
    if ((await directory.freshCaller(sessionId, userId, tenantId)) === undefined) throw over();
    if (hash === session.refreshHash) {
      const after = await rotated(session);
      if (after === undefined) continue;
      directory.learn(sessions, sessionsTenant, sessionId, after);
      return { session: after, refreshToken };
    }
    const inGrace = clock.now() - Date.parse(session.refreshedAt) <= graceMs;
    if (hash === session.previousRefreshHash && inGrace) return { session, refreshToken };
    await change(async ({ of, record }) => {
      await of(sessionsTenant).collection(sessions).delete(sessionId);
      const name = 'an old refresh token was used: it may have been copied';
      record({ action: 'session.revoke', id: sessionId, name, tenantId, actor: { type: 'system', id: '', name: '' } });
    });
    throw over();
  }
  throw over();
};
