/** Sessions over the real server: which tokens are valid, what ends a session, and protection against forgery. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import test from 'ava';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { requireOwnPage } from '../../api/identity/cookies.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';
import { eventually } from '../waiting.ts';
import { type Harness, password, startHarness } from './api-harness.ts';

const asJson = { 'content-type': 'application/json' };
let harness: Harness;
const lines: unknown[] = [];
test.before(async () => {
  const write = (fields: unknown): void => {
    lines.push(fields);
  };
  harness = await startHarness({ log: { info: write, warn: write, error: write } });
});
test.after.always(() => harness?.close());

const login = (body: unknown, headers: Record<string, string> = {}) =>
  harness.request('POST', '/auth/login', { as: 'nobody', body, headers });

test('signing in returns a token, an HttpOnly cookie and the signed-in user', async (t) => {
  const before = Date.now();
  const { status, body, headers } = await login({ email: 'Owner@A.example', password });
  t.is(status, 200);
  t.is(body.user.email, 'owner@a.example');
  t.deepEqual(body.tenant, { id: 'a', name: 'Organization a' });
  // Times in tokens are whole seconds.
  const issuedAt = Date.parse(body.expiresAt) - 15 * 60_000;
  t.true(issuedAt > before - 1_000 && issuedAt < Date.now() + 1_000, body.expiresAt);
  const cookie = headers.get('set-cookie') ?? '';
  t.true(cookie.startsWith(`oiq_token=${body.token}; `));
  t.regex(cookie, /; HttpOnly; SameSite=Lax;/);
  t.notRegex(cookie, /Secure/);
  const claims = decodeJwt(body.token);
  t.deepEqual(Object.keys(claims).sort(), ['aud', 'exp', 'iat', 'iss', 'sid', 'sub', 'tid']);
  t.is(decodeProtectedHeader(body.token).alg, 'EdDSA');
  const keys = await harness.request('GET', '/auth/jwks.json', { as: 'nobody' });
  t.is(keys.body.keys[0].kid, decodeProtectedHeader(body.token).kid);
  t.false('d' in keys.body.keys[0]);
});

test('a wrong password, an unknown user and a disabled user get the same response', async (t) => {
  await harness.documents
    .forTenant(usersTenant)
    .collection(users)
    .insert({ email: 'gone@a.example', name: '', passwordHash: null, disabled: true });
  const responses = await Promise.all([
    login({ email: 'owner@a.example', password: 'wrong' }),
    login({ email: 'nobody@a.example', password: 'wrong' }),
    login({ email: 'gone@a.example', password: 'wrong' }),
  ]);
  for (const { status, body } of responses) {
    t.is(status, 401);
    t.deepEqual({ ...body, requestId: '' }, { ...responses[0]?.body, requestId: '' });
  }
});

test('many attempts at one account from one address are refused for a while, and other accounts are not affected', async (t) => {
  const guess = () => login({ email: 'victim@a.example', password: 'wrong' });
  const guesses = [await guess()];
  // A new minute may begin meanwhile, which allows ten more attempts.
  while (guesses.length < 25 && guesses.at(-1)?.status === 401) guesses.push(await guess());
  t.true(guesses.length > 10);
  const refused = guesses.at(-1) ?? (await guess());
  t.is(refused.status, 429);
  t.is(refused.body.error, 'RATE_LIMITED');
  t.true(Number(refused.headers.get('retry-after')) >= 1);
  t.is((await login({ email: 'editor@a.example', password })).status, 200);
});

test('cookie and bearer token are the same session, and signing out ends both at once', async (t) => {
  const token = await harness.signIn('editor@a.example');
  const asCookie = { as: 'nobody', headers: { cookie: `a=b; oiq_token=${token}` } } as const;
  const byCookie = await harness.request('GET', '/auth/session', asCookie);
  const byBearer = await harness.request('GET', '/auth/session', { as: `token ${token}` });
  t.is(byCookie.body.role, 'editor');
  t.deepEqual(byCookie.body, byBearer.body);
  const out = await harness.request('POST', '/auth/logout', { as: `token ${token}` });
  t.is(out.status, 200);
  for (const name of ['oiq_token', 'oiq_refresh'])
    t.true(out.headers.getSetCookie().some((cookie) => cookie.startsWith(`${name}=; `) && cookie.includes('1970')));
  t.is((await harness.request('GET', '/auth/session', asCookie)).status, 401);
  t.is((await harness.request('GET', '/auth/session', { as: `token ${token}` })).status, 401);
});

test('the Authorization header takes precedence over the cookie', async (t) => {
  const token = await harness.signIn('editor@a.example');
  const headers = { cookie: `oiq_token=${token}`, authorization: 'Bearer nonsense' };
  t.is((await harness.request('GET', '/auth/session', { as: 'nobody', headers })).status, 401);
  const basic = { cookie: `oiq_token=${token}`, authorization: 'Basic YTpi' };
  t.is((await harness.request('GET', '/auth/session', { as: 'nobody', headers: basic })).status, 401);
});

test('a license key is not accepted as a session', async (t) => {
  const key = 'oiq_lk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
  for (const headers of [{ 'x-license-key': key }, { authorization: `Bearer ${key}` }])
    t.is((await harness.request('GET', '/api/logs', { as: 'nobody', headers })).status, 401);
});

test('a write with the cookie requires an origin of this installation', async (t) => {
  const token = await harness.signIn('owner@a.example');
  const write = async (headers: Record<string, string>): Promise<number> =>
    (
      await harness.request('POST', '/api/slos', {
        as: 'nobody',
        headers: { cookie: `oiq_token=${token}`, ...headers },
      })
    ).status;
  t.is(await write({}), 403);
  t.is(await write({ origin: 'https://evil.example' }), 403);
  t.is(await write({ 'sec-fetch-site': 'cross-site', origin: harness.url }), 403);
  t.is(await write({ 'sec-fetch-site': 'same-site' }), 403);
  t.is(await write({ origin: harness.url }), 400, 'it lacks a body');
  t.is(await write({ 'sec-fetch-site': 'same-origin' }), 400, 'it lacks a body');
});

/** The cookies that a sign-in sets for a browser with the given `Host`. */
const cookiesFor = async (publicUrl: string | undefined, host: string): Promise<readonly string[]> => {
  const environment: Record<string, string> = publicUrl === undefined ? {} : { OIQ_PUBLIC_URL: publicUrl };
  const other = await startHarness({ sharing: harness, environment });
  try {
    const { hostname, port } = new URL(other.url);
    const loginRequest = request({ hostname, port, path: '/auth/login', method: 'POST', headers: { host, ...asJson } });
    loginRequest.end(JSON.stringify({ email: 'viewer@a.example', password }));
    const [answer] = (await once(loginRequest, 'response')) as [IncomingMessage];
    answer.resume();
    return answer.headers['set-cookie'] ?? [];
  } finally {
    await other.close();
  }
};

test('cookies are Secure whenever the public address is https, whatever host a proxy names', async (t) => {
  const cases: readonly (readonly [publicUrl: string | undefined, host: string, secure: boolean])[] = [
    ['https://oiq.example.com', '127.0.0.1:8080', true],
    ['https://oiq.example.com', 'oiq.example.com', true],
    ['http://oiq.example.com', 'oiq.example.com', false],
    [undefined, '127.0.0.1:8080', false],
    [undefined, 'localhost:8080', false],
    [undefined, 'oiq.example.com', true],
  ];
  for (const [publicUrl, host, secure] of cases) {
    const cookies = await cookiesFor(publicUrl, host);
    t.is(cookies.length, 2);
    for (const cookie of cookies) t.is(/; Secure/.test(cookie), secure, `${publicUrl} ${host}: ${cookie}`);
  }
});

test('an origin matches only with its scheme, if the public address is known', (t) => {
  const isRefused = (origin: string, publicUrl?: string): boolean => {
    try {
      requireOwnPage({ site: undefined, origin, host: 'oiq.example.com' }, publicUrl);
      return false;
    } catch {
      return true;
    }
  };
  const publicUrl = 'https://oiq.example.com/';
  t.false(isRefused('https://oiq.example.com', publicUrl));
  for (const origin of ['http://oiq.example.com', 'ftp://oiq.example.com', 'https://oiq.example.com:444', 'null'])
    t.true(isRefused(origin, publicUrl), origin);
  t.false(isRefused('https://oiq.example.com'));
  t.false(isRefused('http://oiq.example.com'));
  for (const origin of ['ftp://oiq.example.com', 'https://evil.example', 'null']) t.true(isRefused(origin), origin);
});

test('forged tokens are refused', async (t) => {
  const token = await harness.signIn('owner@a.example');
  const [header = '', payload = '', signature = ''] = token.split('.');
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const { kid } = decodeProtectedHeader(token);
  const claims = decodeJwt(token);
  const { privateKey } = generateKeyPairSync('ed25519');
  const sign = (protectedHeader: { alg: string; kid?: string; typ?: string }, changed: object = {}): Promise<string> =>
    new SignJWT({ ...claims, ...changed }).setProtectedHeader(protectedHeader).sign(privateKey);
  const jwks = (await harness.request('GET', '/auth/jwks.json', { as: 'nobody' })).body.keys[0];
  const forged: Record<string, string> = {
    'no algorithm': `${encode({ alg: 'none', kid, typ: 'at+jwt' })}.${payload}.`,
    'another key': await sign({ alg: 'EdDSA', kid: kid ?? '', typ: 'at+jwt' }),
    'no key id': await sign({ alg: 'EdDSA', typ: 'at+jwt' }),
    'the public key as a secret': await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256', kid: kid ?? '', typ: 'at+jwt' })
      .sign(Buffer.from(jwks.x, 'base64url')),
    'a changed payload': `${header}.${encode({ ...claims, tid: 'b' })}.${signature}`,
    'a changed signature': `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
    'a key id that is a path': await sign({ alg: 'EdDSA', kid: '../../secret-key', typ: 'at+jwt' }),
  };
  for (const [what, one] of Object.entries(forged))
    t.is((await harness.request('GET', '/auth/session', { as: `token ${one}` })).status, 401, what);
  t.is((await harness.request('GET', '/auth/session', { as: `token ${token}` })).status, 200);
});

test('a changed role, a disabled or removed membership and a disabled organization take effect within a second', async (t) => {
  const found = await harness.documents
    .forTenant(usersTenant)
    .collection(users)
    .list({ filter: { email: 'admin@b.example' } });
  const id = found.items[0]?.id ?? '';
  const as = `token ${await harness.signIn('admin@b.example')}` as const;
  const waitForStatus = async (status: number): Promise<void> => {
    const statusNow = async (): Promise<number> => (await harness.request('GET', '/api/dead-letter', { as })).status;
    await eventually(`an answer of ${status}`, async () => (await statusNow()) === status);
    t.is(await statusNow(), status);
  };
  await waitForStatus(200);
  const members = harness.documents.forTenant('b').collection(memberships);
  await members.update(id, { role: 'viewer' });
  await waitForStatus(403);
  await members.update(id, { role: 'admin', disabled: true });
  await waitForStatus(401);
  await members.update(id, { disabled: false });
  await waitForStatus(200);
  await harness.documents.forTenant(organizationsTenant).collection(organizations).update('b', { disabled: true });
  await waitForStatus(401);
  await harness.documents.forTenant(organizationsTenant).collection(organizations).update('b', { disabled: false });
  await waitForStatus(200);
  await members.delete(id);
  await waitForStatus(401);
});

test('paths outside the API belong to the dashboard: a page for a GET, an HTML 404 for anything else', async (t) => {
  for (const path of ['/', '/search/logs', '/v1/logs', '/anything/at/all']) {
    const page = await harness.request('GET', path, { as: 'nobody' });
    t.is(page.status, 200);
    t.regex(page.headers.get('content-type') ?? '', /^text\/html/);
    const other = await harness.request('POST', path, { as: 'nobody', body: {} });
    t.is(other.status, 404);
    t.regex(other.headers.get('content-type') ?? '', /^text\/html/);
  }
  const unknown = await harness.request('GET', '/api/nothing-here', { as: 'nobody' });
  t.is(unknown.status, 404);
  t.is(unknown.body.error, 'NOT_FOUND');
});

test('the document and its reference page need no session and no external resources', async (t) => {
  const document = await harness.request('GET', '/api/openapi.json', { as: 'nobody' });
  t.is(document.body.openapi, '3.1.0');
  const page = await harness.request('GET', '/api/docs', { as: 'nobody' });
  t.is(page.status, 200);
  t.notRegex(page.body, /(?:src|href)="?https?:/);
  for (const linked of ['/api/openapi.json', '/api/asyncapi.json']) t.true(page.body.includes(`href="${linked}"`));
  t.is((await harness.request('POST', '/api/docs', { as: 'nobody', body: {} })).status, 405);
});

test.after('neither passwords nor tokens are written to the log', (t) => {
  const text = JSON.stringify(lines);
  t.false(text.includes(password));
  t.false(text.includes('eyJ'));
});
