/** The lifecycle of sessions: refresh, list, end, switch of organization, and stolen refresh tokens. */
import { request } from 'node:http';
import test from 'ava';
import { decodeJwt } from 'jose';
import { deleteExpiredSessions } from '../../api/identity/sessions.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { sessions, sessionsTenant } from '../../schemas/resources/session.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';
import { type Answer, type Harness, password, startHarness } from './api-harness.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
let harness: Harness;
let nowMs = Date.now();
test.before(async () => {
  harness = await startHarness({ now: () => nowMs });
});
test.after.always(() => harness?.close());

const nobody = 'nobody' as const;
const login = (email: string, headers: Record<string, string> = {}): Promise<Answer> =>
  harness.request('POST', '/auth/login', { as: nobody, body: { email, password }, headers });
const refresh = (refreshToken: string): Promise<Answer> =>
  harness.request('POST', '/auth/refresh', { as: nobody, body: { refreshToken } });
const isLive = async (token: string): Promise<boolean> => {
  const { status } = await harness.request('GET', '/auth/session', { as: `token ${token}` });
  if (status !== 200 && status !== 401) throw new Error(`returned ${status}`);
  return status === 200;
};
const actionsOf = async (sessionId: string): Promise<string[]> => {
  const found: string[] = [];
  for await (const { action, resource } of harness.documents.findInAllTenants(auditRecords, {
    'resource.id': sessionId,
  }))
    if (resource.type === 'session') found.push(action);
  return found;
};

test.serial(
  'a refresh token returns a token and its successor; the previous refresh token returns the same for 30 s',
  async (t) => {
    const { body: first } = await login('owner@a.example');
    const second = await refresh(first.refreshToken);
    t.is(second.status, 200);
    t.true(await isLive(second.body.token));
    t.is(decodeJwt(second.body.token).sid, decodeJwt(first.token).sid);
    t.not(second.body.refreshToken, first.refreshToken);
    nowMs += 29_000;
    const again = await refresh(first.refreshToken);
    t.is(again.body.refreshToken, second.body.refreshToken);
    t.true(await isLive(again.body.token));
    t.is((await refresh(second.body.refreshToken)).status, 200);
  },
);

test.serial('tabs that refresh at the same moment get the same successor, and no tab is signed out', async (t) => {
  const { body } = await login('owner@a.example');
  const responses = await Promise.all(Array.from({ length: 5 }, () => refresh(body.refreshToken)));
  t.deepEqual(
    responses.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  t.is(new Set(responses.map(({ body: { refreshToken } }) => refreshToken)).size, 1);
});

for (const [what, older, passesMs] of [
  ['the one before, after 30 s', 1, 31_000],
  ['the one before that, at once', 2, 0],
] as const) {
  test.serial(`a refresh token used too late ends the session for the thief and the victim: ${what}`, async (t) => {
    const { body } = await login('owner@a.example');
    const chain = [body.refreshToken as string];
    let token = '';
    for (let attempt = 0; attempt < older; attempt++) {
      const next = await refresh(chain.at(-1) ?? '');
      chain.push(next.body.refreshToken);
      token = next.body.token;
    }
    nowMs += passesMs;
    t.true(await isLive(token));
    t.is((await refresh(chain[0] ?? '')).status, 401);
    t.false(await isLive(token));
    t.is((await refresh(chain.at(-1) ?? '')).status, 401);
    t.deepEqual((await actionsOf(decodeJwt(token).sid as string)).sort(), ['session.begin', 'session.revoke']);
  });
}

test.serial('a token that is not an OIQ refresh token ends no session', async (t) => {
  const { body } = await login('owner@a.example');
  const [head = '', secret = '', proof = ''] = body.refreshToken.split('.');
  const swapped = (text: string): string => (text.startsWith('A') ? `B${text.slice(1)}` : `A${text.slice(1)}`);
  const guesses = [
    `${head}.${swapped(secret)}.${proof}`,
    `${head}.${secret}.${swapped(proof)}`,
    `${head}.${secret}`,
    body.token,
    'oiq_rt_',
  ];
  for (const guess of guesses) t.is((await refresh(guess)).status, 401, guess);
  t.true(await isLive(body.token));
  t.is((await harness.request('GET', '/auth/session', { as: `token ${body.refreshToken}` })).status, 401);
  t.is((await refresh(body.refreshToken)).status, 200);
});

test.serial('only hashes of refresh tokens are stored', async (t) => {
  const { body } = await login('owner@a.example');
  const next = await refresh(body.refreshToken);
  const stored = await harness.documents
    .forTenant(sessionsTenant)
    .collection(sessions)
    .find(decodeJwt(body.token).sid as string);
  for (const token of [body.refreshToken, next.body.refreshToken])
    for (const part of token.split('.').slice(1)) t.false(JSON.stringify(stored).includes(part));
});

test.serial('a session ends 30 days after its last refresh, and at the latest 90 days after its start', async (t) => {
  const began = nowMs;
  const { body } = await login('owner@a.example');
  let { refreshToken } = body;
  for (let days = 0; days < 87; days += 29) {
    nowMs += 29 * dayMs;
    const next = await refresh(refreshToken);
    t.is(next.status, 200);
    refreshToken = next.body.refreshToken;
  }
  const switchResponse = await harness.request('POST', '/auth/switch-tenant', {
    as: `token ${(await refresh(refreshToken)).body.token}`,
    body: { organizationId: 'a' },
  });
  t.is(switchResponse.status, 200);
  nowMs += 4 * dayMs;
  t.is(
    (await refresh(switchResponse.body.refreshToken)).status,
    401,
    'switching the organization does not extend the session',
  );

  const idle = await login('owner@a.example');
  nowMs += 31 * dayMs;
  t.is((await refresh(idle.body.refreshToken)).status, 401);
  await deleteExpiredSessions(harness.documents, nowMs);
  const left = harness.documents.forTenant(sessionsTenant).collection(sessions);
  t.is(await left.count({ expiresAt: { $lt: new Date(nowMs).toISOString() } }), 0);
  nowMs = began;
});

const cookiesOf = ({ headers }: Answer): Map<string, string> =>
  new Map(headers.getSetCookie().map((cookie) => [cookie.slice(0, cookie.indexOf('=')), cookie]));
const cookieValue = (cookie: string | undefined): string => /=([^;]*)/.exec(cookie ?? '')?.[1] ?? '';

test.serial(
  'a browser refreshes with its cookie, only from our own pages, and its scripts never see the token',
  async (t) => {
    const page = { 'sec-fetch-site': 'same-origin' };
    const signedIn = await login('owner@a.example', page);
    t.is(signedIn.body.refreshToken, undefined);
    const cookie = cookiesOf(signedIn).get('oiq_refresh') ?? '';
    t.regex(cookie, /; Path=\/auth; HttpOnly; SameSite=Strict;/);
    const switchTo = (headers: Record<string, string>) =>
      harness.request('POST', '/auth/refresh', {
        as: nobody,
        headers: { cookie: `oiq_refresh=${cookieValue(cookie)}`, ...headers },
      });
    t.is((await switchTo({})).status, 403);
    t.is((await switchTo({ 'sec-fetch-site': 'cross-site' })).status, 403);
    t.is((await switchTo({ origin: 'https://evil.example' })).status, 403);
    const next = await switchTo(page);
    t.is(next.status, 200);
    t.is(next.body.refreshToken, undefined);
    t.not(cookieValue(cookiesOf(next).get('oiq_refresh')), cookieValue(cookie));
    t.true(await isLive(cookieValue(cookiesOf(next).get('oiq_token'))));
  },
);

/** `fetch` does not allow setting the `Host` header. */
const cookiesFor = (host: string): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    const headers = { host, 'content-type': 'application/json' };
    const sent = request(`${harness.url}/auth/login`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.headers['set-cookie'] ?? []);
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ email: 'owner@a.example', password }));
  });

test.serial('cookies are Secure everywhere except on loopback', async (t) => {
  for (const [host, secure] of [
    ['oiq.example.com', true],
    ['10.0.0.1:8080', true],
    ['127.0.0.1.evil.example', true],
    ['localhost:8080', false],
  ] as const) {
    const response = await cookiesFor(host);
    t.is(response.length, 2, host);
    for (const cookie of response) t.is(cookie.endsWith('; Secure'), secure, host);
  }
});

test.serial('users see their sessions and can end one of them; sessions of other users are not found', async (t) => {
  const email = 'editor@a.example';
  const phone = (await login(email, { 'user-agent': 'A phone' })).body;
  const laptop = (await login(email, { 'user-agent': 'A laptop' })).body;
  const other = (await login('viewer@a.example')).body;
  t.not(decodeJwt(phone.token).sid, decodeJwt(laptop.token).sid);
  const as = `token ${laptop.token}` as const;
  const { body } = await harness.request('GET', '/auth/sessions', { as });
  const shown = (agent: string) => body.items.find(({ userAgent }: { userAgent: string }) => userAgent === agent);
  t.true(shown('A laptop').current);
  t.false(shown('A phone').current);
  t.is(shown('A phone').address, '127.0.0.1');
  t.deepEqual(shown('A phone').tenant, { id: 'a', name: 'Organization a' });
  t.notRegex(JSON.stringify(body), /[Hh]ash|oiq_rt/);
  t.is(body.items.length, 2);

  const end = (id: unknown) => harness.request('DELETE', `/auth/sessions/${id}`, { as });
  t.is((await end(decodeJwt(other.token).sid)).status, 404);
  t.true(await isLive(other.token));
  t.is((await end(decodeJwt(phone.token).sid)).status, 200);
  t.false(await isLive(phone.token));
  t.is((await refresh(phone.refreshToken)).status, 401);
  t.true(await isLive(laptop.token));
});

test.serial('changing the password requires the current one, and ends the other sessions', async (t) => {
  const email = 'auditor@a.example';
  const [here, elsewhere] = [(await login(email)).body, (await login(email)).body];
  const change = (currentPassword: string, newPassword: string) =>
    harness.request('POST', '/auth/change-password', {
      as: `token ${here.token}`,
      body: { currentPassword, newPassword },
    });
  const next = 'a quite different sentence';
  for (const [current, newPassword, path] of [
    ['wrong', next, 'currentPassword'],
    [password, 'short', 'newPassword'],
    [password, password, 'newPassword'],
    [password, 'password12345', 'newPassword'],
  ] as const) {
    const refused = await change(current, newPassword);
    t.is(refused.status, 400, newPassword);
    t.is(refused.body.details[0].path, path);
  }
  t.true(await isLive(elsewhere.token));
  const changed = await change(password, next);
  t.is(changed.status, 200);
  t.is(changed.body.endedSessions, 1);
  t.true(await isLive(here.token));
  t.false(await isLive(elsewhere.token));
  t.is((await refresh(elsewhere.refreshToken)).status, 401);
  t.is((await login(email)).status, 401);
  t.is((await change(next, password)).status, 200);
});

test.serial(
  'users can switch to another of their organizations with a separate session, and to no other organization',
  async (t) => {
    const { body } = await login('viewer@a.example');
    const go = (organizationId: string) =>
      harness.request('POST', '/auth/switch-tenant', { as: `token ${body.token}`, body: { organizationId } });
    t.is((await go('b')).status, 404);
    t.is((await go('nowhere')).status, 404);
    const members = harness.documents.forTenant('b').collection(memberships);
    await members.insert({ id: body.user.id, role: 'admin', disabled: true });
    t.is((await go('b')).status, 404);
    await members.update(body.user.id, { disabled: false });
    const switchResponse = await go('b');
    t.is(switchResponse.status, 200);
    t.is(switchResponse.body.tenant.id, 'b');
    t.is(cookiesOf(switchResponse).size, 2);
    const session = await harness.request('GET', '/auth/session', { as: `token ${switchResponse.body.token}` });
    t.is(session.body.role, 'admin');
    t.is(session.body.tenant.id, 'b');
    t.not(decodeJwt(switchResponse.body.token).sid, decodeJwt(body.token).sid);
    t.false(await isLive(body.token), 'the previous session has ended');
    t.is((await refresh(body.refreshToken)).status, 401);
    await members.delete(body.user.id);
  },
);

test.serial('a user has at most 200 sessions; the one unused for longest is removed', async (t) => {
  const { body } = await login('admin@b.example');
  const stored = harness.documents.forTenant(sessionsTenant).collection(sessions);
  const storedSession = await stored.find(decodeJwt(body.token).sid as string);
  if (storedSession === undefined) return t.fail();
  const { id: _, version: __, createdAt: ___, updatedAt: ____, ...fields } = storedSession;
  await harness.documents.transaction(async ({ forTenant }) => {
    for (let more = 0; more < 199; more++)
      await forTenant(sessionsTenant)
        .collection(sessions)
        .insert({ ...fields, refreshedAt: new Date(nowMs + minuteMs).toISOString() });
  });
  t.true(await isLive(body.token));
  t.is((await login('admin@b.example')).status, 200);
  t.false(await isLive(body.token));
  t.is(await stored.count({ userId: body.user.id }), 200);
});

test.serial('a sign-in may name an organization, which does not affect the next sign-in', async (t) => {
  const email = 'named@people.example';
  const { items } = await harness.documents
    .forTenant(usersTenant)
    .collection(users)
    .list({ filter: { email: 'viewer@a.example' } });
  const member = { email, name: '', passwordHash: items[0]?.passwordHash ?? null, disabled: false };
  const { id } = await harness.documents.forTenant(usersTenant).collection(users).insert(member);
  await harness.documents.forTenant('a').collection(memberships).insert({ id, role: 'viewer' });
  const signIn = (organizationId?: string) =>
    harness.request('POST', '/auth/login', {
      as: 'nobody',
      body: { email, password, ...(organizationId && { organizationId }) },
    });
  t.is((await signIn()).body.tenant.id, 'a');
  const refused = await signIn('b');
  t.is(refused.status, 403);
  t.is(refused.body.message, 'you are not a member of the organization b');
  await harness.documents.forTenant('b').collection(memberships).insert({ id, role: 'viewer' });
  t.is((await signIn('b')).body.tenant.id, 'b');
  t.is((await signIn()).body.tenant.id, 'a');
});

test.serial('a sign-in opens the last used organization, or the oldest one if that no longer exists', async (t) => {
  const email = 'places@people.example';
  const [known] = (
    await harness.documents
      .forTenant(usersTenant)
      .collection(users)
      .list({ filter: { email: 'viewer@a.example' } })
  ).items;
  const member = { email, name: '', passwordHash: known?.passwordHash ?? null, disabled: false };
  const { id } = await harness.documents.forTenant(usersTenant).collection(users).insert(member);
  const placeIn = (tenant: string) => harness.documents.forTenant(tenant).collection(memberships);
  await placeIn('b').insert({ id, role: 'viewer' });
  const first = (await login(email)).body;
  t.is(first.tenant.id, 'b');
  await placeIn('a').insert({ id, role: 'viewer' });
  t.is((await login(email)).body.tenant.id, 'b', 'an older organization is not opened by an invitation');
  const switchResponse = await harness.request('POST', '/auth/switch-tenant', {
    as: `token ${first.token}`,
    body: { organizationId: 'a' },
  });
  t.is((await harness.request('POST', '/auth/logout', { as: `token ${switchResponse.body.token}` })).status, 200);
  t.is((await login(email)).body.tenant.id, 'a');
  await placeIn('a').update(id, { disabled: true });
  t.is((await login(email)).body.tenant.id, 'b');
});
