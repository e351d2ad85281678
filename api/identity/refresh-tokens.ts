/**
 * The form of refresh tokens: `oiq_rt_<session id>.<secret>.<proof>`. The proof shows without a store read that we
 * issued the token, so a guess ends no session. A token's successor is derived from the token and the secret key. Two
 * tabs that refresh concurrently therefore get the same one, although only hashes are stored.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '../../runtime/secret-box.ts';

const form = /^oiq_rt_([A-Za-z0-9_-]{1,128})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/;
const proof = 'refresh token proof';
const successor = 'refresh token successor';

const spelled = (box: SecretBox, sessionId: string, secret: string): string => {
  const proved = `oiq_rt_${sessionId}.${secret}`;
  return `${proved}.${box.derive(proof, proved).toString('base64url')}`;
};

/** Returns the first token of a session. Only its hash may be stored. */
export const firstRefreshToken = (box: SecretBox, sessionId: string): string =>
  spelled(box, sessionId, randomBytes(32).toString('base64url'));

/** Returns the successor of a token that we issued; always the same. */
export const nextRefreshToken = (box: SecretBox, sessionId: string, token: string): string =>
  spelled(box, sessionId, box.derive(successor, token).toString('base64url'));

/** Returns the session of a token that we issued, valid or expired; `undefined` for any other text. */
export const sessionOfRefreshToken = (box: SecretBox, token: string): string | undefined => {
  const [, sessionId, secret, given] = form.exec(token) ?? [];
  if (sessionId === undefined || secret === undefined || given === undefined) return undefined;
  // Compared as text: several texts decode to the same bytes, and only one of them is the issued token.
  const right = box.derive(proof, `oiq_rt_${sessionId}.${secret}`).toString('base64url');
  return timingSafeEqual(Buffer.from(right), Buffer.from(given)) ? sessionId : undefined;
};

export const refreshHash = (token: string): string => createHash('sha256').update(token).digest('hex');
