/** Which texts are valid refresh tokens. */
import test from 'ava';
import { createFirstToken, parseSessionId } from '../../api/identity/refresh-tokens.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';

const box = createSecretBox('a secret key of at least thirty-two characters');

test('a token with different unused bits in its last character is invalid', (t) => {
  const token = createFirstToken(box, 's1');
  t.is(parseSessionId(box, token), 's1');
  const decoded = (text: string): string => Buffer.from(text, 'base64url').toString('hex');
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const others = [...alphabet].map((last) => token.slice(0, -1) + last).filter((other) => other !== token);
  const same = others.filter((other) => decoded(other.split('.')[2] ?? '') === decoded(token.split('.')[2] ?? ''));
  t.is(same.length, 3, 'these decode to the same bytes');
  for (const other of others) t.is(parseSessionId(box, other), undefined);
});
