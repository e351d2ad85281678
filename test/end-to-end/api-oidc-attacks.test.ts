/** Attacks that must not sign anybody in: forged tokens, and responses for other requests, browsers or providers. */
import test from 'ava';
import { generateKeyPair, SignJWT } from 'jose';
import { identities, identitiesTenant } from '../../schemas/resources/identity.ts';
import { sessions } from '../../schemas/resources/session.ts';
import { type Browser, openBrowser, type Page } from './browser.ts';
import { type HostileProvider, type Modifications, startHostileProvider } from './hostile-provider.ts';
import { clientId, type OidcHarness, startOidcHarness } from './oidc-harness.ts';

let oidc: OidcHarness;
let hostile: HostileProvider;
test.before(async () => {
  oidc = await startOidcHarness();
  hostile = await startHostileProvider(clientId);
  await oidc.prove('a', 'corp.example');
});
test.after.always(async () => {
  hostile?.close();
  await oidc?.close();
});

const domains = [{ name: 'corp.example' }];
const start = (): string => `${oidc.harness.url}/auth/sso/oidc/start?organization=a`;
const isCallback = (url: string): boolean => url.includes('/auth/sso/oidc/callback');

const countSessions = async (): Promise<number> => {
  let count = 0;
  for await (const { provedBy } of oidc.harness.documents.findInAllTenants(sessions)) if (provedBy === 'a') count++;
  return count;
};

/** Signs in at a provider that modifies its responses. */
const attempt = async (modifications: Modifications): Promise<Page> => {
  hostile.modify(modifications);
  return openBrowser().visit(start());
};

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const now = Math.floor(Date.now() / 1000);

const forged: Readonly<Record<string, Modifications>> = {
  'a wrong nonce': { claims: { nonce: 'another' } },
  'no nonce': { claims: { nonce: undefined } },
  'the token of another client': { claims: { aud: 'another' } },
  'several audiences, authorized for another': { claims: { aud: [clientId, 'another'], azp: 'another' } },
  'another issuer': { claims: { iss: 'https://accounts.example' } },
  'no issuer': { claims: { iss: undefined } },
  'no subject': { claims: { sub: undefined } },
  'an expired token': { claims: { exp: now - 3600, iat: now - 7200 } },
  'no expiry': { claims: { exp: undefined } },
  'no time of issue': { claims: { iat: undefined } },
  'no algorithm': { idToken: (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.` },
  'no algorithm, and a signature': { idToken: (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.AAAA` },
  'the public key as a secret': {
    idToken: (claims) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'HS256' })
        .sign(Buffer.from(String(hostile.publicJwk.n), 'base64url')),
  },
  'the key of somebody else': {
    idToken: async (claims) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'one' })
        .sign((await generateKeyPair('RS256')).privateKey),
  },
  'a key that the token brings': {
    idToken: async (claims) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'one', jku: 'https://evil.example/jwks' })
        .sign((await generateKeyPair('RS256')).privateKey),
  },
  'no token': { idToken: () => '' },
  'the answer of another issuer': { callback: { iss: 'https://accounts.example' } },
  'an error': { callback: { error: 'access_denied' } },
  'another state': { callback: { state: 'another' } },
};

test.serial('a response that the provider did not issue for this exact request signs nobody in', async (t) => {
  t.is((await oidc.set('a', { issuer: hostile.issuer, domains })).status, 200);
  const before = await countSessions();
  for (const [what, modifications] of Object.entries(forged)) {
    const page = await attempt(modifications);
    t.is(page.status, 401, `${what}: ${JSON.stringify(page.body)}`);
    t.is(page.body.error, 'UNAUTHENTICATED', what);
  }
  t.is(await countSessions(), before);
  const known = await oidc.harness.documents
    .forTenant(identitiesTenant)
    .collection(identities)
    .count({ issuer: hostile.issuer });
  t.is(known, 0);
  await attempt({});
  t.is(await countSessions(), before + 1, 'the same response without modification signs in');
});

test.serial(
  'a provider whose metadata is of another issuer, or points to private networks, is not called',
  async (t) => {
    t.is((await oidc.set('a', { issuer: hostile.issuer, domains })).status, 200);
    const descriptions = [{ issuer: 'https://accounts.example' }, { issuer: undefined }];
    const exchanged = hostile.exchanges();
    for (const discovery of descriptions) t.is((await attempt({ discovery })).status, 503, JSON.stringify(discovery));
    t.is(hostile.exchanges(), exchanged);
    for (const discovery of [{ token_endpoint: 'https://10.0.0.1/token' }, { jwks_uri: 'https://169.254.169.254/' }]) {
      const page = await attempt({ discovery });
      t.is(page.status, 503, JSON.stringify(discovery));
      t.regex(page.body.message, /private network/);
    }
  },
);

/** Starts a sign-in. Returns the address to which the provider redirects the browser. */
const startSignIn = async (browser: Browser): Promise<string> => {
  hostile.modify({});
  return (await browser.visit(start(), { stop: isCallback })).url;
};

const badEndpoints: readonly unknown[] = [
  ...['javascript:alert(1)', 'data:text/html,x', 'ftp://idp.example/x', '/authorize', '', 'https://', 5, null, {}],
  ...[
    'http://idp.example/x',
    'https://user@idp.example/x',
    'https://idp.example/x#y',
    `https://idp.example/${'x'.repeat(5000)}`,
  ],
];

test.serial('metadata with an endpoint that is not a web address is refused when saved and when read', async (t) => {
  const { set, harness } = oidc;
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'])
    for (const value of badEndpoints) {
      if (name === 'userinfo_endpoint' && value === null) continue;
      const what = `${name} ${JSON.stringify(value).slice(0, 60)}`;
      hostile.modify({});
      t.is((await set('a', { issuer: hostile.issuer, domains })).status, 200);
      hostile.modify({ discovery: { [name]: value } });
      const read = await harness.request('GET', '/auth/sso/oidc/start?organization=a', { as: 'nobody' });
      t.deepEqual([read.status, read.body.error], [503, 'UNAVAILABLE'], what);
      t.true(read.body.message.includes(name), read.body.message);
      const saved = await set('a', { issuer: hostile.issuer, domains });
      t.deepEqual([saved.status, saved.body.details?.[0].path], [400, 'issuer'], what);
    }
  hostile.modify({});
});

test.serial('a response is valid for ten minutes', async (t) => {
  t.is((await oidc.set('a', { issuer: hostile.issuer, domains })).status, 200);
  const [late, early] = [openBrowser(), openBrowser()];
  const callbacks = [await startSignIn(late), await startSignIn(early)] as const;
  oidc.ahead(10 * 60_000 + 1000);
  t.is((await late.visit(callbacks[0])).status, 401);
  oidc.ahead(9 * 60_000);
  t.is((await early.visit(callbacks[1])).status, 200);
  oidc.ahead(0);
});

test.serial('a response is valid in the browser that sent the request, and once', async (t) => {
  t.is((await oidc.set('a', { issuer: hostile.issuer, domains })).status, 200);
  const victim = openBrowser();
  const ownBrowser = openBrowser();
  const callback = await startSignIn(ownBrowser);
  const exchanged = hostile.exchanges();
  t.is((await victim.visit(callback)).status, 401, 'a browser that did not start a sign-in');
  await startSignIn(victim);
  t.is((await victim.visit(callback)).status, 401, 'a browser that started another sign-in');
  t.is(hostile.exchanges(), exchanged, 'the code was not exchanged');
  const sealed = `oiq_sso=${ownBrowser.cookie(oidc.harness.url, 'oiq_sso')}`;
  t.is((await ownBrowser.visit(callback)).status, 200);
  t.is(hostile.exchanges(), exchanged + 1);
  t.is((await ownBrowser.visit(callback)).status, 401, 'again');
  t.is(
    (await openBrowser().visit(callback, { headers: { cookie: sealed } })).status,
    401,
    'repeated with the saved cookie',
  );
  t.is(hostile.exchanges(), exchanged + 1);
});

test.serial('a cookie that was modified, or sealed for another purpose, is invalid', async (t) => {
  t.is((await oidc.set('a', { issuer: hostile.issuer, domains })).status, 200);
  const browser = openBrowser();
  const callback = await startSignIn(browser);
  const cookie = browser.cookie(oidc.harness.url, 'oiq_sso') ?? '';
  const end = cookie.endsWith('A') ? 'B' : 'A';
  for (const value of ['', 'nonsense', 'v1.', `${cookie.slice(0, -1)}${end}`, cookie.slice(3)])
    t.is((await openBrowser().visit(callback, { headers: { cookie: `oiq_sso=${value}` } })).status, 401, value);
  t.notRegex(Buffer.from(cookie.slice(3), 'base64url').toString('latin1'), /state|verifier|nonce/);
});

test.serial('a response from a provider that was replaced meanwhile is refused', async (t) => {
  t.is((await oidc.set('a', { issuer: hostile.issuer, domains })).status, 200);
  const browser = openBrowser();
  const callback = await startSignIn(browser);
  const exchanged = hostile.exchanges();
  t.is((await oidc.set('a', { domains })).status, 200);
  t.is((await browser.visit(callback)).status, 401);
  t.is(hostile.exchanges(), exchanged);
});

test.serial('a code of the real provider is valid once', async (t) => {
  t.is((await oidc.set('a', { domains })).status, 200);
  await oidc.provider.accounts({ ann: { email: 'ann@corp.example', email_verified: true } });
  await oidc.provider.signIn('ann');
  const first = openBrowser();
  const { url } = await first.visit(start(), { stop: isCallback });
  const code = new URL(url).searchParams.get('code') ?? '';
  t.is((await first.visit(url)).status, 200);
  const second = openBrowser();
  const other = new URL((await second.visit(start(), { stop: isCallback })).url);
  other.searchParams.set('code', code);
  t.is((await second.visit(other.href)).status, 401);
});
