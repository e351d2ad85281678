/**
 * Format of refresh tokens: `oiq_rt_<session id>.<secret>.<proof>`. The proof shows, without a read of the store, that
 * this installation issued the token, so a guessed token cannot end a session. The successor of a token is derived from
 * the token and the secret key. Two tabs that refresh concurrently therefore get the same successor, although only
 * hashes are stored.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '../../runtime/secret-box.ts';

const tokenPattern = /^oiq_rt_([A-Za-z0-9_-]{1,128})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/;
const proofPurpose = 'refresh token proof';
const successorPurpose = 'refresh token successor';

const formatToken = (box: SecretBox, sessionId: string, secret: string): string => {
  const tokenBody = `oiq_rt_${sessionId}.${secret}`;
  return `${tokenBody}.${box.derive(proofPurpose, tokenBody).toString('base64url')}`;
};

/** Returns the first token of a session. Only its hash may be stored. */
export const createFirstToken = (box: SecretBox, sessionId: string): string =>
  formatToken(box, sessionId, randomBytes(32).toString('base64url'));

/** Returns the successor of an issued token, which is always the same. */
export const deriveNextToken = (box: SecretBox, sessionId: string, token: string): string =>
  formatToken(box, sessionId, box.derive(successorPurpose, token).toString('base64url'));

/** Returns the session id of an issued token, valid or expired; `undefined` for any other text. */
export const parseSessionId = (box: SecretBox, token: string): string | undefined => {
  const [, sessionId, secret, receivedProof] = tokenPattern.exec(token) ?? [];
  if (sessionId === undefined || secret === undefined || receivedProof === undefined) return undefined;
  // Compare the texts, not the decoded bytes: several texts decode to the same bytes, but only one is the issued token.
  const expectedProof = box.derive(proofPurpose, `oiq_rt_${sessionId}.${secret}`).toString('base64url');
  return timingSafeEqual(Buffer.from(expectedProof), Buffer.from(receivedProof)) ? sessionId : undefined;
};

export const hashRefreshToken = (token: string): string => createHash('sha256').update(token).digest('hex');
