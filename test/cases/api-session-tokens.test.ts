/** Session tokens: which are rejected, whatever key signed them, and key rotation without ending sessions. */
import { createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { decodeProtectedHeader, importJWK, type JWK, SignJWT } from 'jose';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { createTokens, tokenLifetimeMs } from '../../api/identity/tokens.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import { type SigningKey, signingKeys, signingKeysTenant } from '../../schemas/resources/signing-key.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-tokens-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

const box = createSecretBox('a secret key of the installation, long enough');
const ids = { userId: 'u', tenantId: 'a', sessionId: 's' };
const dayMs = 86_400_000;

const opened = async (now = Date.now()) => {
  const clock = { nowMs: now, now: () => clock.nowMs };
  const documents = await openSqliteDocuments({ path: join(directory, `${randomUUID()}.sqlite`), clock });
  const tokens = await createTokens(documents, box, clock);
  return { documents, clock, tokens };
};

/** The signing key, as someone who stole the secret key and the store would have it. */
const stolen = async (documents: Awaited<ReturnType<typeof opened>>['documents']) => {
  const { items } = await documents.forTenant(signingKeysTenant).collection<SigningKey>(signingKeys).list();
  const [first] = items;
  if (first === undefined) throw new Error('there is no signing key');
  const jwk = JSON.parse(box.open('session signing key', first.privateKey) ?? '') as JWK;
  return { kid: first.id, key: await importJWK(jwk, 'EdDSA'), publicKey: first.publicKey as JWK };
};

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const nowSeconds = Math.floor(Date.now() / 1000);
const rightClaims = {
  iss: 'oiq',
  aud: 'oiq-management',
  sub: 'u',
  tid: 'a',
  sid: 's',
  iat: nowSeconds,
  exp: nowSeconds + 600,
};
const without = (name: keyof typeof rightClaims): object =>
  Object.fromEntries(Object.entries(rightClaims).filter(([each]) => each !== name));

/** Signed with our own key, so that only the stated defect is invalid. */
const invalidTokens: Readonly<Record<string, { readonly claims?: object; readonly header?: object }>> = {
  'no expiry': { claims: without('exp') },
  'an expiry in the past': { claims: { ...rightClaims, exp: nowSeconds - 1 } },
  'an expiry that is not a number': { claims: { ...rightClaims, exp: 'never' } },
  'a start in the future': { claims: { ...rightClaims, nbf: nowSeconds + 600 } },
  'another audience': { claims: { ...rightClaims, aud: 'somebody-else' } },
  'no audience': { claims: without('aud') },
  'another issuer': { claims: { ...rightClaims, iss: 'https://evil.example' } },
  'no issuer': { claims: without('iss') },
  'no user': { claims: without('sub') },
  'no organization': { claims: without('tid') },
  'no session': { claims: without('sid') },
  'a session that is not a string': { claims: { ...rightClaims, sid: { $ne: null } } },
  'another type': { header: { typ: 'rt+jwt' } },
  'no type': { header: { typ: undefined } },
  'an unknown critical extension': { header: { crit: ['surprise'], surprise: true } },
  'a key id that is a path': { header: { kid: '../../../dev/null' } },
  'a key id that is a query': { header: { kid: "x' UNION SELECT 'key" } },
  'a key id that is not a string': { header: { kid: { $ne: null } } },
  'a key id that is a prototype property': { header: { kid: '__proto__' } },
  'no key id': { header: { kid: undefined } },
};

const signed = async (
  { kid, key }: Awaited<ReturnType<typeof stolen>>,
  { claims = rightClaims, header = {} }: { readonly claims?: object; readonly header?: object },
): Promise<string> => {
  const { crit, ...rest } = { alg: 'EdDSA', typ: 'at+jwt', kid, ...header } as { alg: string; crit?: string[] };
  const definedHeader = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const jwt = new SignJWT(claims as Record<string, unknown>);
  if (crit === undefined) return jwt.setProtectedHeader({ ...definedHeader, alg: 'EdDSA' }).sign(key);
  return jwt.setProtectedHeader({ ...definedHeader, alg: 'EdDSA', crit }).sign(key, { crit: { surprise: true } });
};

test('a token with all required claims, signed with our key, is valid', async (t) => {
  const { documents, tokens } = await opened();
  const token = await signed(await stolen(documents), {});
  t.like(await tokens.verify(token), ids);
});

for (const [what, wrong] of Object.entries(invalidTokens)) {
  test(`a token with ${what} is rejected, even if it is signed with our key`, async (t) => {
    const { documents, tokens } = await opened();
    t.is(await tokens.verify(await signed(await stolen(documents), wrong)), undefined);
  });
}

test('a token not signed with our key is rejected, whatever algorithm and key it claims', async (t) => {
  const { documents, tokens } = await opened();
  const { kid, publicKey } = await stolen(documents);
  const right = (await tokens.issue(ids)).token;
  const [header = '', payload = '', signature = ''] = right.split('.');
  const evil = generateKeyPairSync('ed25519');
  const evilJwk = evil.publicKey.export({ format: 'jwk' });
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const spki = createPublicKey({ key: publicKey as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  const byEvil = (more: object): Promise<string> =>
    new SignJWT(rightClaims).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid, ...more }).sign(evil.privateKey);
  const bySecret = (secret: string | Buffer): Promise<string> =>
    new SignJWT(rightClaims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid }).sign(Buffer.from(secret));
  const unsigned = (alg: string): string => `${encoded({ alg, typ: 'at+jwt', kid })}.${encoded(rightClaims)}.`;
  const forged: Record<string, string> = {
    none: unsigned('none'),
    None: unsigned('None'),
    NONE: unsigned('NONE'),
    'no algorithm': `${encoded({ typ: 'at+jwt', kid })}.${encoded(rightClaims)}.${signature}`,
    'an empty signature': `${header}.${payload}.`,
    'no signature': `${header}.${payload}`,
    'a cut signature': `${header}.${payload}.${signature.slice(0, 40)}`,
    'the signature of another token': `${header}.${encoded({ ...rightClaims, tid: 'b' })}.${signature}`,
    'the public key as a secret': await bySecret(Buffer.from(String(publicKey.x), 'base64url')),
    'the public key as a PEM secret': await bySecret(spki as string),
    'the public key as a JSON secret': await bySecret(JSON.stringify(publicKey)),
    RS256: await new SignJWT(rightClaims).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid }).sign(rsa.privateKey),
    'another key under our id': await byEvil({}),
    'an embedded key (jwk)': await byEvil({ jwk: evilJwk }),
    'a key elsewhere (jku)': await byEvil({ jku: 'http://127.0.0.1:1/keys' }),
    'a certificate elsewhere (x5u)': await byEvil({ x5u: 'http://127.0.0.1:1/certificate' }),
    'an embedded key, without an id': await new SignJWT(rightClaims)
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', jwk: evilJwk as JWK })
      .sign(evil.privateKey),
    nothing: '',
    dots: '..',
    'no JSON': 'a.b.c',
    'far too much': `${header}.${encoded({ ...rightClaims, more: 'x'.repeat(100_000) })}.${signature}`,
  };
  for (const [what, token] of Object.entries(forged)) t.is(await tokens.verify(token), undefined, what);
  t.like(await tokens.verify(right), ids);
});

test('a new key signs after all instances know it, and tokens of the old key stay valid until they expire', async (t) => {
  const { documents, clock, tokens } = await opened();
  const elsewhere = await createTokens(documents, box, clock);
  const kidOf = (token: string): string => decodeProtectedHeader(token).kid ?? '';
  const first = tokens.listPublicKeys()[0]?.kid ?? '';
  clock.nowMs += 29 * dayMs;
  await tokens.rotate();
  t.is(tokens.listPublicKeys().length, 1, 'not old enough');

  clock.nowMs += 2 * dayMs;
  const before = (await tokens.issue(ids)).token;
  await tokens.rotate();
  await elsewhere.rotate();
  t.is(tokens.listPublicKeys().length, 2, 'both are published, and one instance made it');
  t.is(kidOf((await tokens.issue(ids)).token), first, 'not yet');
  clock.nowMs += 11_000;
  const after = (await tokens.issue(ids)).token;
  t.not(kidOf(after), first);
  for (const token of [before, after])
    for (const instance of [tokens, elsewhere]) t.like(await instance.verify(token), ids, 'a session goes on');
  clock.nowMs += tokenLifetimeMs;
  for (const token of [before, after]) t.is(await tokens.verify(token), undefined, 'what is over is over');

  clock.nowMs += 31 * dayMs;
  await tokens.rotate();
  t.false(
    tokens.listPublicKeys().some(({ kid }) => kid === first),
    'removed after twice its time',
  );
  t.true(elsewhere.listPublicKeys().every(({ kid }) => kid !== first));
});

test('a key whose private half was encrypted with another secret key no longer signs, but still verifies', async (t) => {
  const { documents, clock, tokens } = await opened();
  const { token } = await tokens.issue(ids);
  const other = await createTokens(documents, createSecretBox('another secret key, long enough as well'), clock);
  t.like(await other.verify(token), ids);
  t.not(decodeProtectedHeader((await other.issue(ids)).token).kid, decodeProtectedHeader(token).kid);
});
