/**
 * The form of refresh tokens: `oiq_rt_<session id>.<secret>.<proof>`. The proof shows without a store read that we
 * issued the token, so a guess ends no session. A token's successor is derived from the token and the secret key. Two
 * tabs that refresh concurrently therefore get the same one, although only hashes are stored.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '../../runtime/secret-box.ts';

const tokenPattern = /^oiq_rt_([A-Za-z0-9_-]{1,128})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/;
const proofPurpose = 'refresh token proof';
const successorPurpose = 'refresh token successor';

const formatToken = (box: SecretBox, sessionId: string, secret: string): string => {
  const provenPart = `oiq_rt_${sessionId}.${secret}`;
  return `${provenPart}.${box.derive(proofPurpose, provenPart).toString('base64url')}`;
};

/** Returns the first token of a session. Only its hash may be stored. */
export const createFirstToken = (box: SecretBox, sessionId: string): string =>
  formatToken(box, sessionId, randomBytes(32).toString('base64url'));

/** Returns the successor of a token that we issued; always the same. */
export const deriveNextToken = (box: SecretBox, sessionId: string, token: string): string =>
  formatToken(box, sessionId, box.derive(successorPurpose, token).toString('base64url'));

/** Returns the session of a token that we issued, valid or expired; `undefined` for any other text. */
export const parseSessionId = (box: SecretBox, token: string): string | undefined => {
  const [, sessionId, secret, receivedProof] = tokenPattern.exec(token) ?? [];
  if (sessionId === undefined || secret === undefined || receivedProof === undefined) return undefined;
  // Compared as text: several texts decode to the same bytes, and only one of them is the issued token.
  const expectedProof = box.derive(proofPurpose, `oiq_rt_${sessionId}.${secret}`).toString('base64url');
  return timingSafeEqual(Buffer.from(expectedProof), Buffer.from(receivedProof)) ? sessionId : undefined;
};

export const refreshHash = (token: string): string => createHash('sha256').update(token).digest('hex');
