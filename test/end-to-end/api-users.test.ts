/** Users, roles, accounts, retention, preferences and organizations. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { hashPassword } from '../../api/identity/password.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { multiFactors, multiFactorsTenant } from '../../schemas/resources/multi-factor.ts';
import { projects } from '../../schemas/resources/project.ts';
import { emptyQuota } from '../../schemas/resources/quota.ts';
import { sessions, sessionsTenant } from '../../schemas/resources/session.ts';
import { memberships, type Role, roles, users, usersTenant } from '../../schemas/resources/user.ts';
import { readRetentionPolicies } from '../../sinks/retention.ts';
import { type Answer, type Harness, password, startHarness } from './api-harness.ts';

let harness: Harness;
let passwordHash: string;
test.before(async () => {
  harness = await startHarness({ environment: { OIQ_MORE_ORGANIZATIONS: 'yes', OIQ_NEW_ORGANIZATION_PLAN: 'free' } });
  passwordHash = await hashPassword(password);
});
test.after.always(() => harness?.close());

/** Creates a user with a role in each of the given organizations. */
const person = async (places: Readonly<Record<string, Role>>): Promise<{ id: string; email: string }> => {
  const email = `${randomUUID()}@people.example`;
  const { id } = await harness.documents
    .forTenant(usersTenant)
    .collection(users)
    .insert({ email, name: 'Somebody', passwordHash, disabled: false });
  for (const [tenant, role] of Object.entries(places))
    await harness.documents.forTenant(tenant).collection(memberships).insert({ id, role });
  return { id, email };
};
const patch = (id: string, body: object, as: Role = 'owner', headers: Record<string, string> = {}): Promise<Answer> =>
  harness.request('PATCH', `/api/users/${id}`, { as, body, headers });
const status = async (token: string): Promise<number> =>
  (await harness.request('GET', '/auth/session', { as: `token ${token}` })).status;
const recordOf = async ({ headers }: Answer): Promise<{ action: string; text: string }> => {
  for await (const record of harness.documents.findInAllTenants(auditRecords, {
    requestId: headers.get('x-request-id'),
  }))
    return { action: record.action, text: JSON.stringify(record) };
  throw new Error('there is no audit record');
};

test('a list of users contains all users of the organization and no others, page by page', async (t) => {
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Answer = await harness.request(
      'GET',
      `/api/users?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`,
    );
    t.is(page.status, 200);
    seen.push(...page.body.items.map((each: { email: string }) => each.email));
    cursor = page.body.nextCursor;
  } while (cursor !== null);
  for (const role of roles) t.is(seen.filter((email) => email === `${role}@a.example`).length, 1);
  t.false(seen.some((email) => email.endsWith('@b.example')));
  t.is(new Set(seen).size, seen.length);
  const owners = await harness.request('GET', '/api/users?role=auditor');
  t.deepEqual(
    owners.body.items.map((each: { email: string }) => each.email),
    ['auditor@a.example'],
  );
});

test('users are found by address or name, only within this organization', async (t) => {
  const found = async (query: string): Promise<{ emails: string[]; nextCursor: string | null }> => {
    const { status, body } = await harness.request('GET', `/api/users?${query}`);
    t.is(status, 200, query);
    return { emails: body.items.map((each: { email: string }) => each.email), nextCursor: body.nextCursor };
  };
  t.deepEqual((await found('search=OWNER@')).emails, ['owner@a.example']);
  t.deepEqual((await found('search=.example&role=auditor')).emails, ['auditor@a.example']);
  t.deepEqual((await found('search=r@a.example')).emails, [
    'auditor@a.example',
    'editor@a.example',
    'owner@a.example',
    'viewer@a.example',
  ]);
  t.deepEqual((await found('search=%40b.example')).emails, []);
  t.deepEqual((await found('search=(a%2B)%2B%24')).emails, []);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Awaited<ReturnType<typeof found>> = await found(`search=.example&role=editor&limit=1&cursor=${cursor}`);
    seen.push(...page.emails);
    cursor = page.nextCursor;
  }
  t.true(seen.includes('editor@a.example') && !seen.includes('editor@b.example'));
  t.is(new Set(seen).size, seen.length);
  t.deepEqual((await found('search=r@a.example&sort=-role&limit=1')).emails, ['viewer@a.example']);
  t.is(
    (await harness.request('GET', `/api/users?cursor=${Buffer.from('users role|x|y').toString('base64url')}`)).status,
    400,
  );
});

test('a user that was read can be edited and sent back, and never contains the password', async (t) => {
  const { id, email } = await person({ a: 'viewer' });
  const read = await harness.request('GET', `/api/users/${id}`);
  t.is(read.body.email, email);
  t.notRegex(JSON.stringify(read.body), /argon2|password/i);
  const changed = await patch(id, { ...read.body, role: 'editor' });
  t.is(changed.status, 200);
  t.is(changed.body.role, 'editor');
  const record = await recordOf(changed);
  t.is(record.action, 'user.update');
  t.regex(record.text, /"path":"role","before":"viewer","after":"editor"/);
  t.is((await patch(id, { role: 'viewer' }, 'owner', { 'if-match': `"${read.body.version}"` })).status, 412);
  t.is((await patch(id, { role: 'viewer' }, 'owner', { 'if-match': changed.headers.get('etag') ?? '' })).status, 200);
});

test('nobody can manage a role above their own', async (t) => {
  const owner = await person({ a: 'owner' });
  const viewer = await person({ a: 'viewer' });
  for (const refused of [
    patch(owner.id, { role: 'viewer' }, 'admin'),
    patch(owner.id, { disabled: true }, 'admin'),
    patch(viewer.id, { role: 'owner' }, 'admin'),
    harness.request('DELETE', `/api/users/${owner.id}`, { as: 'admin' }),
    harness.request('DELETE', `/api/users/${owner.id}/mfa`, { as: 'admin' }),
  ])
    t.is((await refused).status, 403);
  t.is((await patch(viewer.id, { role: 'admin' }, 'admin')).status, 200);
  t.is((await harness.request('DELETE', `/api/users/${owner.id}`)).status, 200);
});

test('a member of another organization is not found', async (t) => {
  const { id } = await person({ b: 'viewer' });
  t.is((await harness.request('GET', `/api/users/${id}`)).status, 404);
  t.is((await patch(id, { role: 'owner' })).status, 404);
  t.is((await harness.request('DELETE', `/api/users/${id}`)).status, 404);
  t.is((await harness.request('DELETE', `/api/users/${id}/mfa`)).status, 404);
});

test('disabling and removing end a member’s sessions at once, only in this organization', async (t) => {
  const { id, email } = await person({ a: 'viewer', b: 'viewer' });
  const inA = await harness.signIn(email);
  const switched = await harness.request('POST', '/auth/switch-tenant', {
    as: `token ${await harness.signIn(email)}`,
    body: { organizationId: 'b' },
  });
  const inB: string = switched.body.token;
  t.deepEqual([await status(inA), await status(inB)], [200, 200]);
  t.is((await patch(id, { disabled: true })).body.disabled, true);
  t.deepEqual([await status(inA), await status(inB)], [401, 200]);
  t.is((await patch(id, { disabled: false })).status, 200);
  t.is(await status(inA), 401, 'ended sessions stay ended');
  const again = await harness.request('POST', '/auth/switch-tenant', {
    as: `token ${inB}`,
    body: { organizationId: 'a' },
  });
  t.is(again.status, 200);
  const removed = await harness.request('DELETE', `/api/users/${id}`);
  t.is(removed.status, 200);
  t.is((await recordOf(removed)).action, 'user.remove');
  t.is(await status(again.body.token), 401);
  const sessionsCollection = harness.documents.forTenant(sessionsTenant).collection(sessions);
  t.is(await sessionsCollection.count({ userId: id, tenantId: 'a' }), 0);
  t.is((await harness.request('GET', `/api/users/${id}`)).status, 404);
});

test('the last Owner can’t be demoted, disabled or removed, not even by themselves', async (t) => {
  const only = await person({});
  const created = await harness.request('POST', '/api/organizations', {
    as: `token ${await signInTo(only)}`,
    body: { name: 'Of one' },
  });
  t.is(created.status, 200);
  const as = `token ${await switchTo(only, created.body.id)}` as const;
  for (const body of [{ role: 'admin' }, { disabled: true }]) {
    const refused = await harness.request('PATCH', `/api/users/${only.id}`, { as, body });
    t.is(refused.status, 409);
    t.regex(refused.body.message, /last Owner/);
  }
  t.is((await harness.request('DELETE', `/api/users/${only.id}`, { as })).status, 409);
  t.is((await harness.request('GET', `/api/users/${only.id}`, { as })).body.role, 'owner');
});

/** Signs in a user who also belongs to organization a, because a session requires a membership. */
const signInTo = async ({ id, email }: { id: string; email: string }): Promise<string> => {
  await harness.documents.forTenant('a').collection(memberships).insert({ id, role: 'viewer' });
  return harness.signIn(email);
};
const switchTo = async ({ email }: { email: string }, organizationId: string): Promise<string> => {
  const as = `token ${await harness.signIn(email)}` as const;
  return (await harness.request('POST', '/auth/switch-tenant', { as, body: { organizationId } })).body.token;
};

test('an administrator can remove a member’s second factor, but not one that protects another organization', async (t) => {
  const enrol = async (id: string): Promise<void> => {
    const enrolment = { secret: 'sealed', confirmedAt: new Date().toISOString(), lastTimeStep: 0, recoveryCodes: [] };
    await harness.documents
      .forTenant(multiFactorsTenant)
      .collection(multiFactors)
      .insert({ id, ...enrolment });
  };
  const here = await person({ a: 'editor' });
  t.is((await harness.request('DELETE', `/api/users/${here.id}/mfa`)).status, 404);
  await enrol(here.id);
  t.true((await harness.request('GET', `/api/users/${here.id}`)).body.multiFactor);
  const reset = await harness.request('DELETE', `/api/users/${here.id}/mfa`, { as: 'admin' });
  t.is(reset.status, 200);
  t.is((await recordOf(reset)).action, 'multi-factor.reset');
  t.false((await harness.request('GET', `/api/users/${here.id}`)).body.multiFactor);

  const both = await person({ a: 'viewer', b: 'owner' });
  await enrol(both.id);
  t.is((await harness.request('DELETE', `/api/users/${both.id}/mfa`)).status, 403);
  t.true((await harness.request('GET', `/api/users/${both.id}`)).body.multiFactor);
});

test('roles state what they include and which of them the caller may assign', async (t) => {
  const grantable = async (as: Role): Promise<string[]> => {
    const { body } = await harness.request('GET', '/api/roles', { as });
    return body.items.filter((each: { grantable: boolean }) => each.grantable).map((each: { id: string }) => each.id);
  };
  t.deepEqual(await grantable('owner'), ['viewer', 'editor', 'admin', 'owner', 'auditor']);
  t.deepEqual(await grantable('admin'), ['viewer', 'editor', 'admin', 'auditor']);
  t.deepEqual(await grantable('editor'), []);
  t.deepEqual(await grantable('auditor'), []);
});

test.serial('the account can be read, changed and sent back; its version prevents lost updates', async (t) => {
  const read = await harness.request('GET', '/api/account', { as: 'viewer' });
  t.is(read.body.mail, 'not-configured');
  t.is(read.body.timeZone, 'UTC');
  const etag = read.headers.get('etag') ?? '';
  const body = { ...read.body, name: 'Organization A', timeZone: 'Europe/Zurich' };
  const changed = await harness.request('PATCH', '/api/account', { body, headers: { 'if-match': etag } });
  t.is(changed.status, 200);
  t.is((await recordOf(changed)).action, 'organization.update');
  t.is((await harness.request('GET', '/api/account')).body.timeZone, 'Europe/Zurich');
  t.is((await harness.request('PATCH', '/api/account', { body, headers: { 'if-match': etag } })).status, 412);
  for (const wrong of [
    { name: '' },
    { name: 'two\nlines' },
    { name: 'a\u202eb' },
    { timeZone: 'Mars/Olympus' },
    { planId: 'enterprise' },
  ])
    t.is((await harness.request('PATCH', '/api/account', { body: wrong })).status, 400, JSON.stringify(wrong));
  await harness.request('PATCH', '/api/account', { body: { name: 'Organization a' } });
});

test.serial('retention is set within the plan, and the removal of old data follows it', async (t) => {
  const { body: before } = await harness.request('GET', '/api/account/retention', { as: 'viewer' });
  t.deepEqual(before.days, { logs: null, metrics: null, traces: null });
  t.deepEqual(before.effective, before.plan);
  const set = await harness.request('PUT', '/api/account/retention', {
    as: 'admin',
    body: { ...before, days: { logs: 7, metrics: null, traces: before.plan.traces } },
  });
  t.is(set.status, 200);
  t.deepEqual(set.body.effective, { logs: 7, metrics: before.plan.metrics, traces: before.plan.traces });
  t.is((await recordOf(set)).action, 'organization.set-retention');
  const policies = [];
  for await (const policy of readRetentionPolicies(harness.documents)) policies.push(policy);
  t.deepEqual(policies.find(({ tenantId }) => tenantId === 'a')?.days, set.body.effective);
  for (const [days, path] of [
    [{ logs: before.plan.logs + 1 }, 'days.logs'],
    [{ traces: 3000 }, 'days.traces'],
    [{ logs: 0 }, 'days.logs'],
    [{ metrics: 1.5 }, 'days.metrics'],
  ] as const) {
    const refused = await harness.request('PUT', '/api/account/retention', { body: { days } });
    t.is(refused.status, 400);
    t.is(refused.body.details[0].path, path);
  }
  const cleared = await harness.request('PUT', '/api/account/retention', { body: { days: {} } });
  t.deepEqual(cleared.body, before);
});

test('preferences are per user and organization, with defaults', async (t) => {
  const { email } = await person({ a: 'viewer' });
  const as = `token ${await harness.signIn(email)}` as const;
  const first = await harness.request('GET', '/api/preferences', { as });
  t.is(first.body.timeZone, 'browser');
  await harness.documents.forTenant('a').collection(projects).insert({ id: 'shop', name: 'shop', description: '' });
  const preferences = { ...first.body, timeZone: 'Asia/Tokyo', theme: 'dark', defaultProjectId: 'shop' };
  const set = await harness.request('PUT', '/api/preferences', { as, body: preferences });
  t.deepEqual(set.body, preferences);
  t.deepEqual((await harness.request('GET', '/api/preferences', { as })).body, preferences);
  t.deepEqual((await harness.request('GET', '/api/preferences', { as: 'editor' })).body, first.body);
  for (const [body, path] of [
    [{ timeZone: 'Nowhere' }, 'timeZone'],
    [{ defaultProjectId: 'no-such' }, 'defaultProjectId'],
    [{ theme: 'pink' }, 'theme'],
  ] as const) {
    const refused = await harness.request('PUT', '/api/preferences', { as, body });
    t.is(refused.status, 400);
    t.is(refused.body.details[0].path, path);
  }
});

test.serial('a write that changes nothing creates no version and no record', async (t) => {
  const { id } = await person({ a: 'viewer' });
  const quota = { day: emptyQuota.day, month: emptyQuota.month };
  const writes: readonly (readonly [method: string, path: string, same: object, other: object])[] = [
    ['PATCH', '/api/account', {}, { timeZone: 'Europe/Zurich' }],
    ['PUT', '/api/account/retention', { days: {} }, { days: { logs: 3 } }],
    ['PUT', '/api/preferences', {}, { theme: 'dark' }],
    ['PATCH', `/api/users/${id}`, {}, { role: 'editor', disabled: false }],
    ['PUT', '/api/usage/quotas', quota, { ...quota, day: { ...quota.day, total: { warnBytes: 1, rejectBytes: 2 } } }],
  ];
  const chain = async (): Promise<number> => harness.documents.forTenant('a').collection(auditRecords).count();
  for (const [method, path, same, other] of writes) {
    const write = (body: object): Promise<Answer> => harness.request(method, path, { body });
    // The first request may set a default that was not stored before; the second changes nothing.
    for (const body of [same, other]) {
      const first = await write(body);
      t.is(first.status, 200, path);
      const records = await chain();
      const again = await write(body);
      t.is(again.status, 200, path);
      t.is(again.headers.get('etag'), first.headers.get('etag'), path);
      t.is(await chain(), records, `${method} ${path} ${JSON.stringify(body)}`);
    }
  }
  await harness.request('PATCH', '/api/account', { body: { timeZone: 'UTC' } });
  await harness.request('PUT', '/api/account/retention', { body: { days: {} } });
});

test('preferences may be set only a few times a second, less often than other requests', async (t) => {
  const { email } = await person({ a: 'viewer' });
  let nowMs = Date.now();
  const own = await startHarness({ sharing: harness, now: () => nowMs });
  t.teardown(() => own.close());
  const as = `token ${await own.signIn(email)}` as const;
  const statuses = async (): Promise<number[]> => {
    const puts = Array.from({ length: 40 }, () =>
      own.request('PUT', '/api/preferences', { as, body: { theme: 'dark' } }),
    );
    return [...new Set((await Promise.all(puts)).map(({ status }) => status))].sort();
  };
  t.deepEqual(await statuses(), [200, 429]);
  t.deepEqual(await statuses(), [429]);
  t.is((await own.request('GET', '/api/preferences', { as })).status, 200);
  nowMs += 2_000;
  t.deepEqual(await statuses(), [200, 429]);
});

test('a new organization has its creator as Owner, a project, and the configured plan', async (t) => {
  const maker = await person({});
  const as = `token ${await signInTo(maker)}` as const;
  const created = await harness.request('POST', '/api/organizations', { as, body: { name: 'Another' } });
  t.is(created.status, 200);
  const listed = await harness.request('GET', '/api/organizations', { as });
  t.deepEqual(
    listed.body.items.map(({ name, role, current }: Record<string, unknown>) => `${name} ${role} ${current}`),
    ['Organization a viewer true', 'Another owner false'],
  );
  const newTenant = `token ${await switchTo(maker, created.body.id)}` as const;
  const account = await harness.request('GET', '/api/account', { as: newTenant });
  t.is(account.body.name, 'Another');
  t.is(account.body.plan.id, 'free');
  t.is(await harness.documents.forTenant(created.body.id).collection(projects).count(), 1);
});

test('without the settings nobody can register or create organizations', async (t) => {
  const closed = await startHarness({ sharing: harness });
  try {
    const register = { email: 'x@x.example', organization: 'X' };
    t.is((await closed.request('POST', '/auth/register', { as: 'nobody', body: register })).status, 403);
    t.is((await closed.request('POST', '/api/organizations', { body: { name: 'X' } })).status, 403);
  } finally {
    await closed.close();
  }
});
