/** Password hashing: limited concurrency, equal cost for all users, and detection of outdated hashes. */
import test from 'ava';
import { createPasswords } from '../../api/identity/password.ts';
import { UnavailableError } from '../../schemas/errors.ts';

/** Counts the computed hashes, and the maximum number at once. */
const counting = () => {
  const seen: string[] = [];
  const state = { running: 0, max: 0 };
  const working = async <Result>(result: Result): Promise<Result> => {
    state.max = Math.max(state.max, ++state.running);
    await new Promise((done) => setImmediate(done));
    state.running--;
    return result;
  };
  return {
    seen,
    state,
    algorithm: {
      hash: (password: string) => working(`hash of ${password}`),
      verify(hash: string, password: string) {
        seen.push(hash);
        return working(hash === `hash of ${password}`);
      },
    },
  };
};

test('a user without a password and an unknown user cost one hash computation, like any user', async (t) => {
  const { algorithm, seen } = counting();
  const passwords = await createPasswords(algorithm);
  t.true(await passwords.verify('hash of right', 'right'));
  t.false(await passwords.verify('hash of right', 'wrong'));
  t.false(await passwords.verify(null, 'right'));
  t.false(await passwords.verify(undefined, 'right'));
  t.is(seen.length, 4);
});

test('two hashes are computed at a time, some requests wait, and further requests are rejected', async (t) => {
  const { algorithm, state } = counting();
  const passwords = await createPasswords(algorithm);
  const work = Array.from({ length: 100 }, (_, n) => (n % 2 ? passwords.verify('x', 'x') : passwords.hash('x')));
  const results = await Promise.allSettled(work);
  t.is(state.max, 2);
  t.is(results.filter(({ status }) => status === 'fulfilled').length, 66);
  for (const result of results) if (result.status === 'rejected') t.true(result.reason instanceof UnavailableError);
  t.false(await passwords.verify('x', 'y'), 'and then it goes on');
});

test('a hash with weaker parameters than today’s, or another algorithm, is outdated', async (t) => {
  const passwords = await createPasswords();
  t.false(passwords.isOutdated(await passwords.hash('x')));
  const rest = 'c2FsdHNhbHQ$aGFzaGhhc2g';
  for (const [hash, outdated] of [
    [`$argon2id$v=19$m=47104,t=1,p=1$${rest}`, false],
    [`$argon2id$v=19$m=65536,t=3,p=4$${rest}`, false],
    [`$argon2id$v=19$m=19456,t=2,p=1$${rest}`, true],
    [`$argon2i$v=19$m=65536,t=3,p=4$${rest}`, true],
    ['$2b$12$abcdefghijklmnopqrstuu', true],
  ] as const)
    t.is(passwords.isOutdated(hash), outdated, hash);
});
