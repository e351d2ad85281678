/** Signing in through a real OpenID Connect provider: who is admitted with which role, and who is refused. */
import test from 'ava';
import { recheckDomains } from '../../api/identity/sso/domains.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { identities, identitiesTenant } from '../../schemas/resources/identity.ts';
import { multiFactors, multiFactorsTenant } from '../../schemas/resources/multi-factor.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';
import { eventually } from '../waiting.ts';
import { type Answer, password } from './api-harness.ts';
import { openBrowser } from './browser.ts';
import { clientId, clientSecret, type OidcHarness, startOidcHarness } from './oidc-harness.ts';

let oidc: OidcHarness;
test.before(async () => {
  oidc = await startOidcHarness();
});
test.after.always(() => oidc?.close());

const verified = (email: string, more: object = {}): object => ({ email, email_verified: true, name: 'Ann', ...more });
const get = (as: 'owner' | 'editor' = 'owner'): Promise<Answer> =>
  oidc.harness.request('GET', '/api/account/identity-provider', { as });

test.serial('a provider is configured, its secret is never shown, and a domain is verified by DNS', async (t) => {
  t.is((await get('editor')).status, 403);
  const none = await get();
  t.false(none.body.enabled);
  t.is(none.body.redirectUri, `${oidc.harness.url}/auth/sso/oidc/callback`);
  const set = await oidc.set('a', { domains: [{ name: 'Corp.Example.' }] });
  t.is(set.status, 200, JSON.stringify(set.body));
  t.is(set.body.clientSecret, '********');
  const [domain] = set.body.domains;
  t.is(domain.name, 'corp.example');
  t.is(domain.provedAt, null);
  t.regex(domain.record.value, /^oiq-verification=[\w-]{43}$/);
  oidc.records.set('corp.example', ['something else', domain.record.value]);
  const proved = await oidc.harness.request('PUT', '/api/account/identity-provider', { body: set.body });
  t.is(proved.status, 200, JSON.stringify(proved.body));
  t.true(Math.abs(Date.parse(proved.body.domains[0].provedAt) - Date.now()) < 60_000);
  const other = await oidc.set('b', { domains: [{ name: 'corp.example' }] });
  t.not(other.body.domains[0].record.value, domain.record.value);
  t.is(other.body.domains[0].provedAt, null, 'the record of another organization verifies nothing');
  oidc.records.delete('corp.example');
  t.is(
    (await oidc.harness.request('PUT', '/api/account/identity-provider', { body: set.body })).body.domains[0].provedAt,
    null,
  );
  const { items } = await oidc.harness.documents
    .forTenant('a')
    .collection(auditRecords)
    .list({ filter: { 'resource.type': 'identity-provider' } });
  t.is(items.length, 3);
  t.false(JSON.stringify(items).includes(clientSecret));
});

test.serial(
  'a configuration that was read can be sent back, but a stored secret is not sent to another provider',
  async (t) => {
    t.is((await oidc.set('a')).status, 200);
    const { body } = await get();
    const put = (changes: object): Promise<Answer> =>
      oidc.harness.request('PUT', '/api/account/identity-provider', { body: { ...body, ...changes } });
    t.deepEqual((await put({})).body, body);
    const moved = await put({ issuer: 'https://elsewhere.example', enabled: false });
    t.is(moved.status, 400);
    t.is(moved.body.details[0].path, 'clientSecret');
    t.is((await put({ clientId: 'another', enabled: false })).status, 400);
  },
);

test.serial('an issuer that is not a provider, or not the issuer it claims to be, is refused', async (t) => {
  const { issuer } = oidc.provider;
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ issuer: 'http://example.com' }, /https/],
    [{ issuer: 'ftp://example.com' }, /https/],
    [{ issuer: 'nonsense' }, /not an address/],
    [{ issuer: `${issuer}?a=b` }, /query/],
    [{ issuer: null }, /is required/],
    [{ issuer: 'https://10.0.0.1' }, /private network/],
    [{ issuer: 'https://[::1]' }, /private network/],
    [{ issuer: issuer.replace('127.0.0.1', 'localhost') }, /is not the issuer of a reachable/],
    [{ issuer: oidc.harness.url }, /is not the issuer of a reachable/],
  ];
  for (const [changes, message] of refused) {
    const { status, body } = await oidc.set('a', changes);
    t.is(status, 400, JSON.stringify(changes));
    t.is(body.details[0].path, 'issuer', JSON.stringify(changes));
    t.regex(body.message, message, JSON.stringify(changes));
  }
  for (const changes of [
    { clientId: null },
    { domains: [{ name: 'no domain' }] },
    { defaultRole: 'owner' },
    { scopes: ['email'] },
  ])
    t.is((await oidc.set('a', changes)).status, 400, JSON.stringify(changes));
});

test.serial('a user of a verified domain is admitted, and is the same user the next time', async (t) => {
  await oidc.prove('a', 'corp.example');
  await oidc.provider.accounts({ ann: verified('Ann@corp.example') });
  const browser = openBrowser();
  const page = await oidc.signIn('ann', 'email=ann@corp.example&returnTo=%2Flogs%3Fa%3D1', browser);
  t.is(page.url, `${oidc.harness.url}/logs?a=1`);
  const session = await oidc.session(browser);
  t.is(session.status, 200);
  t.deepEqual(session.body.user, { ...session.body.user, email: 'ann@corp.example', name: 'Ann' });
  t.is(session.body.role, 'viewer');
  t.is(session.body.tenant.id, 'a');
  t.is(browser.cookie(oidc.harness.url, 'oiq_sso'), undefined);
  t.truthy(browser.cookie(oidc.harness.url, 'oiq_refresh'));
  const again = openBrowser();
  await oidc.provider.accounts({ ann: verified('renamed@elsewhere.example') });
  await oidc.signIn('ann', 'organization=a', again);
  t.is((await oidc.session(again)).body.user.id, session.body.user.id, 'found by issuer and subject');
  const records = await oidc.harness.documents
    .forTenant('a')
    .collection(auditRecords)
    .list({ filter: { action: 'user.provision' } });
  t.is(records.items.length, 1);
});

test.serial('a user admitted by a provider has no password', async (t) => {
  const body = { email: 'ann@corp.example', password };
  t.is((await oidc.harness.request('POST', '/auth/login', { as: 'nobody', body })).status, 401);
});

test.serial('an unverified address, an unverified domain or no address admits no user', async (t) => {
  await oidc.prove('a', 'corp.example');
  const refused = {
    unverified: { email: 'bob@corp.example', email_verified: false },
    silent: { email: 'bob@corp.example' },
    text: { email: 'bob@corp.example', email_verified: 'true' },
    elsewhere: verified('bob@other.example'),
    below: verified('bob@sub.corp.example'),
    nearly: verified('bob@notcorp.example'),
    twice: verified('bob@other.example@corp.example'),
    none: { name: 'Bob' },
  };
  await oidc.provider.accounts(refused);
  for (const subject of Object.keys(refused)) {
    const page = await oidc.signIn(subject, 'organization=a');
    t.is(page.status, 403, subject);
    t.is(page.body.error, 'FORBIDDEN', subject);
  }
  const { items } = await oidc.harness.documents
    .forTenant(usersTenant)
    .collection(users)
    .list({ filter: { name: 'Bob' } });
  t.deepEqual(items, []);
});

test.serial('an existing user is not taken over, and can link the identity when signed in', async (t) => {
  await oidc.prove('a', 'a.example');
  await oidc.provider.accounts({ thief: verified('editor@a.example') });
  const refused = await oidc.signIn('thief', 'organization=a');
  t.is(refused.status, 409);
  t.regex(refused.body.message, /sign in with the password/);
  const token = await oidc.harness.signIn('editor@a.example');
  const own = { authorization: `Bearer ${token}` };
  const start = `${oidc.harness.url}/auth/sso/oidc/start?link=true&returnTo=/me`;
  const site = { cookie: `oiq_token=${token}`, 'sec-fetch-site': 'cross-site' };
  t.is((await openBrowser().visit(start, { headers: site })).status, 403, 'a request of another site');
  t.is((await openBrowser().visit(start)).status, 401);
  const linked = await openBrowser().visit(start, { headers: { ...own, origin: oidc.harness.url } });
  t.is(linked.url, `${oidc.harness.url}/me`);
  const browser = openBrowser();
  await oidc.signIn('thief', 'organization=a', browser);
  t.is((await oidc.session(browser)).body.user.email, 'editor@a.example');
  const viewer = await oidc.harness.signIn('viewer@a.example');
  const linkAttempt = await openBrowser().visit(start, { headers: { authorization: `Bearer ${viewer}` } });
  t.is(linkAttempt.status, 409, 'an identity belongs to one user');
});

test.serial('the mapping sets roles at each sign-in, up to Admin, and does not change Owners', async (t) => {
  await oidc.prove('a', 'corp.example');
  const roleMapping = {
    claim: 'groups',
    roles: [
      { value: 'ops', role: 'admin' },
      { value: 'dev', role: 'editor' },
    ],
  };
  const mapped = { scopes: ['openid', 'email', 'groups'], domains: [{ name: 'corp.example' }], roleMapping };
  t.is((await oidc.set('a', { ...mapped, defaultRole: null })).status, 200);
  const roleOf = async (groups: unknown): Promise<string | number> => {
    const browser = openBrowser();
    await oidc.provider.accounts({ eve: verified('eve@corp.example', { groups }) });
    const page = await oidc.signIn('eve', 'organization=a', browser);
    return page.status >= 400 && page.body.error ? page.status : (await oidc.session(browser)).body.role;
  };
  t.is(await roleOf(['others']), 403);
  t.is(await roleOf(['dev', 'others']), 'editor');
  t.is(await roleOf(['dev', 'ops']), 'admin');
  t.is(await roleOf('dev'), 'editor');
  t.is(await roleOf([]), 403);
  t.is((await oidc.set('a', { ...mapped, defaultRole: 'viewer' })).status, 200);
  t.is(await roleOf(undefined), 'viewer');
  const owner = { ...roleMapping, roles: [{ value: 'ops', role: 'owner' }] };
  t.is((await oidc.set('a', { ...mapped, roleMapping: owner })).status, 400);
  const people = await oidc.harness.documents
    .forTenant(usersTenant)
    .collection(users)
    .list({ filter: { email: 'eve@corp.example' } });
  await oidc.harness.documents
    .forTenant('a')
    .collection(memberships)
    .update(people.items[0]?.id ?? '', { role: 'owner' });
  t.is(await roleOf(['dev']), 'owner');
  await oidc.harness.documents
    .forTenant('a')
    .collection(memberships)
    .update(people.items[0]?.id ?? '', { disabled: true });
  t.is(await roleOf(['dev']), 403);
  const refusals = (): Promise<number> =>
    oidc.harness.documents
      .forTenant('a')
      .collection(auditRecords)
      .count({ action: 'session.refuse', 'resource.id': people.items[0]?.id });
  await eventually('the refusal of a known user to be recorded', async () => (await refusals()) >= 1);
});

test.serial(
  'a provider session cannot switch to another organization, and cannot set up a second factor',
  async (t) => {
    await oidc.set('a');
    const { items } = await oidc.harness.documents
      .forTenant(usersTenant)
      .collection(users)
      .list({ filter: { email: 'ann@corp.example' } });
    const id = items[0]?.id ?? '';
    await oidc.harness.documents.forTenant('b').collection(memberships).insert({ id, role: 'admin' });
    const browser = openBrowser();
    await oidc.signIn('ann', 'organization=a', browser);
    const as = `token ${browser.cookie(oidc.harness.url, 'oiq_token')}` as const;
    const response = await oidc.harness.request('POST', '/auth/switch-tenant', { as, body: { organizationId: 'b' } });
    t.is(response.status, 403, JSON.stringify(response.body));
    t.is((await oidc.harness.request('POST', '/auth/mfa/enroll', { as })).status, 403);
    t.is(
      (await oidc.harness.request('POST', '/auth/switch-tenant', { as, body: { organizationId: 'a' } })).status,
      200,
    );
  },
);

test.serial(
  'a provider session can neither see nor end sessions of other organizations, and cannot create an organization',
  async (t) => {
    await oidc.set('a');
    const { harness } = oidc;
    // A user of organization b who linked the provider of organization a.
    const email = 'viewer@b.example';
    const { items } = await harness.documents.forTenant(usersTenant).collection(users).list({ filter: { email } });
    const userId = items[0]?.id ?? '';
    const inB = `token ${await harness.signIn(email)}` as const;
    await harness.documents.forTenant('a').collection(memberships).insert({ id: userId, role: 'admin' });
    const linked = { issuer: oidc.provider.issuer, subject: 'vic', userId };
    await harness.documents.forTenant(identitiesTenant).collection(identities).insert(linked);
    const sessionInB = (await harness.request('GET', '/auth/session', { as: inB })).body.sessionId;
    const browser = openBrowser();
    await oidc.provider.accounts({ vic: verified('vic@corp.example') });
    await oidc.signIn('vic', 'organization=a', browser);
    const as = `token ${browser.cookie(harness.url, 'oiq_token')}` as const;
    const tenantsOf = async (session: typeof as): Promise<string[]> => {
      const { body } = await harness.request('GET', '/auth/sessions', { as: session });
      return [...new Set<string>(body.items.map(({ tenant }: { tenant: { id: string } }) => tenant.id))].sort();
    };
    t.deepEqual(await tenantsOf(as), ['a']);
    t.deepEqual(await tenantsOf(inB), ['a', 'b'], 'a session with a password sees all organizations of the user');
    t.is((await harness.request('DELETE', `/auth/sessions/${sessionInB}`, { as })).status, 404);
    t.is((await harness.request('GET', '/auth/session', { as: inB })).status, 200);
    const places = await harness.request('GET', '/api/organizations', { as });
    t.deepEqual(
      places.body.items.map(({ id }: { id: string }) => id),
      ['a'],
    );
    const created = await harness.request('POST', '/api/organizations', { as, body: { name: 'Mine' } });
    t.is(created.status, 403);
    t.regex(created.body.message, /identity provider/);
  },
);

test.serial(
  'an administrator with a provider session cannot remove a second factor that protects another organization',
  async (t) => {
    const { harness } = oidc;
    const browser = openBrowser();
    await oidc.signIn('vic', 'organization=a', browser);
    const as = `token ${browser.cookie(harness.url, 'oiq_token')}` as const;
    const people = harness.documents.forTenant(usersTenant).collection(users);
    const [vic] = (await people.list({ filter: { email: 'viewer@b.example' } })).items;
    await harness.documents
      .forTenant('b')
      .collection(memberships)
      .update(vic?.id ?? '', { role: 'admin' });
    const { id } = await people.insert({ email: 'both@b.example', name: '', passwordHash: null, disabled: false });
    for (const tenant of ['a', 'b'])
      await harness.documents.forTenant(tenant).collection(memberships).insert({ id, role: 'viewer' });
    const factor = { secret: 'x', confirmedAt: '2030-01-01T00:00:00.000Z', lastTimeStep: 0, recoveryCodes: [] };
    await harness.documents
      .forTenant(multiFactorsTenant)
      .collection(multiFactors)
      .insert({ id, ...factor });
    t.is((await harness.request('DELETE', `/api/users/${id}/mfa`, { as })).status, 403);
  },
);

test.serial(
  'no user is admitted once the DNS record of the domain is gone, and a check revokes the verification',
  async (t) => {
    const { harness, records } = oidc;
    await oidc.prove('a', 'moved.example');
    await oidc.provider.accounts({ mo: verified('mo@moved.example'), may: verified('may@moved.example') });
    const first = openBrowser();
    await oidc.signIn('mo', 'organization=a', first);
    t.is((await oidc.session(first)).status, 200);
    records.set('moved.example', ['v=spf1 -all']);
    const refused = await oidc.signIn('may', 'organization=a');
    t.is(refused.status, 403, JSON.stringify(refused.body));
    const again = openBrowser();
    await oidc.signIn('mo', 'organization=a', again);
    t.is((await oidc.session(again)).status, 200, 'users admitted before keep access');
    const provedAt = async (): Promise<unknown> => (await get()).body.domains[0].provedAt;
    t.is(typeof (await provedAt()), 'string');
    const check = (resolveTxt: () => Promise<readonly string[] | undefined>): Promise<void> =>
      recheckDomains({
        documents: harness.documents,
        clock: { now: () => Date.now() },
        outbound: { fetch: () => Promise.reject(new Error('not asked')), resolveTxt },
        box: createSecretBox('x'.repeat(32)),
      });
    await check(async () => undefined);
    t.is(typeof (await provedAt()), 'string', 'a failed DNS lookup changes nothing');
    await check(async () => []);
    t.is(await provedAt(), null);
    const start = await harness.request('GET', '/auth/sso/oidc/start?email=mo@moved.example', { as: 'nobody' });
    t.is(start.status, 404, 'the address no longer leads to the organization');
  },
);

test.serial('sessions of a provider end when it is disabled or replaced, and no other sessions', async (t) => {
  const { harness } = oidc;
  const live = async (browser: ReturnType<typeof openBrowser>): Promise<number> => (await oidc.session(browser)).status;
  const byPassword = `token ${await harness.signIn('viewer@a.example')}` as const;
  for (const changes of [{ enabled: false }, { clientId: 'another', clientSecret: 'another secret' }]) {
    await oidc.set('a');
    const browser = openBrowser();
    await oidc.signIn('ann', 'organization=a', browser);
    t.is((await oidc.set('a', { scopes: ['openid', 'email'] })).status, 200);
    t.is(await live(browser), 200, 'another change ends no session');
    t.is((await oidc.set('a', changes)).status, 200);
    t.is(await live(browser), 401, JSON.stringify(changes));
  }
  t.is((await harness.request('GET', '/auth/session', { as: byPassword })).status, 200);
  await oidc.set('a');
});

test.serial('an organization without a provider gets the same response as one that does not exist', async (t) => {
  await oidc.set('b', { enabled: false });
  const start = (query: string): Promise<Answer> =>
    oidc.harness.request('GET', `/auth/sso/oidc/start?${query}`, { as: 'nobody' });
  const responses = [
    await start('organization=b'),
    await start('organization=none'),
    await start('email=x@nobody.example'),
  ];
  for (const { status, body } of responses) {
    t.is(status, 404);
    t.deepEqual({ ...body, requestId: '' }, { ...responses[0]?.body, requestId: '' });
  }
  t.is((await start('')).status, 400);
  t.is((await start('email=none')).status, 400);
});

test.serial(
  'an address leads to the organization with single sign-on among those that verified its domain',
  async (t) => {
    await oidc.prove('a', 'shared.example');
    await oidc.prove('b', 'shared.example');
    await oidc.provider.accounts({ kim: verified('kim@shared.example') });
    const browser = openBrowser();
    t.is((await oidc.set('a', { enabled: false, domains: [{ name: 'shared.example' }] })).status, 200);
    await oidc.signIn('kim', 'email=kim@shared.example', browser);
    t.is((await oidc.session(browser)).body.tenant.id, 'b');
  },
);

test.serial('after the sign-in a browser is redirected only to paths of this site', async (t) => {
  t.is((await oidc.set('a')).status, 200);
  for (const path of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/%0d%0aX: y'.replaceAll('%0d%0a', '\r\n'),
    '',
    'logs',
    '/\t/evil.example',
  ]) {
    const query = new URLSearchParams({ organization: 'a', returnTo: path });
    const { status } = await oidc.harness.request('GET', `/auth/sso/oidc/start?${query}`, { as: 'nobody' });
    t.is(status, path === '' ? 303 : 400, JSON.stringify(path));
  }
});

test('SAML is not supported', async (t) => {
  for (const [method, path] of [
    ['GET', 'login'],
    ['POST', 'acs'],
    ['GET', 'metadata'],
  ] as const) {
    const response = await oidc.harness.request(method, `/auth/sso/saml/${path}`, { as: 'nobody' });
    t.is(response.status, 501);
    t.is(response.body.error, 'NOT_IMPLEMENTED');
  }
});

test.serial('the client authenticates to the provider with its own secret', async (t) => {
  await oidc.set('a', { clientSecret: 'wrong' });
  const page = await oidc.signIn('ann', 'organization=a');
  t.is(page.status, 401);
  t.is((await oidc.set('a', { clientId, clientSecret })).status, 200);
});
