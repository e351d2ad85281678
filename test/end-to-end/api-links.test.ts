/** Mailed links for new passwords, invitations and registration, over a real SMTP conversation. */
import test from 'ava';
import type { CollectionDefinition } from '../../schemas/ports/documents.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { oneTimeTokens } from '../../schemas/resources/one-time-token.ts';
import { outgoingMails } from '../../schemas/resources/outgoing-mail.ts';
import { users, usersTenant } from '../../schemas/resources/user.ts';
import { eventually } from '../waiting.ts';
import { type Answer, type Harness, password, startHarness } from './api-harness.ts';
import { type Received, type SmtpServer, startSmtpServer } from './smtp-server.ts';

let smtp: SmtpServer;
let harness: Harness;
const lines: unknown[] = [];
test.before(async () => {
  smtp = await startSmtpServer();
  const write = (...what: unknown[]): void => void lines.push(...what);
  harness = await startHarness({
    log: { info: write, warn: write, error: write },
    environment: {
      OIQ_SMTP_URL: smtp.url,
      OIQ_PUBLIC_URL: 'https://oiq.example/base/',
      OIQ_SELF_SIGNUP: 'true',
      OIQ_NEW_ORGANIZATION_PLAN: 'free',
    },
  });
});
test.after.always(async () => {
  await harness?.close();
  await smtp?.close();
});

const tokens: string[] = [];
const chosen = 'seventeen blue lanterns';
const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  harness.request('POST', path, { as: 'nobody', body, headers });
const mailTo = (to: string, subject: RegExp): Promise<Received> =>
  smtp.next((mail) => mail.to[0] === to && subject.test(mail.headers.get('subject') ?? ''));
const tokenIn = ({ text }: Received): string => {
  const [, page = '', token = ''] = /https:\/\/oiq\.example\/base\/([a-z-]+)#token=(\S+)/.exec(text) ?? [];
  if (page === '' || token.length < 22) throw new Error(`no link in ${text}`);
  tokens.push(token);
  return token;
};
const recordsOf = async (action: string, requestId: string | null): Promise<unknown[]> => {
  const found = [];
  for await (const record of harness.documents.findInAllTenants(auditRecords, { action, requestId }))
    found.push(record);
  return found;
};
const requestId = ({ headers }: Answer): string | null => headers.get('x-request-id');
const signIn = (email: string, word: string): Promise<Answer> => post('/auth/login', { email, password: word });
const idOf = async (email: string): Promise<string> => {
  const { items } = await harness.documents.forTenant(usersTenant).collection(users).list({ filter: { email } });
  return items[0]?.id ?? '';
};
const withoutRequest = (response: Answer) => ({ status: response.status, body: { ...response.body, requestId: '' } });

test.serial(
  'a forgotten password can be replaced by the mailed link, once, and every session of the user ends',
  async (t) => {
    const email = 'editor@b.example';
    const session = (await signIn(email, password)).body.token;
    const forgotPassword = await post(
      '/auth/forgot-password',
      { email: ' Editor@B.example ' },
      { host: 'evil.example' },
    );
    t.is(forgotPassword.status, 200);
    const mail = await mailTo(email, /new password/);
    t.false(mail.raw.includes('evil.example'));
    const token = tokenIn(mail);
    for (const [word, problem] of [
      ['short', /12/],
      ['editor@b.example', /easy to guess/],
      ['password12345', /easy to guess/],
    ] as const) {
      const weak = await post('/auth/reset-password', { token, password: word });
      t.is(weak.status, 400, word);
      t.is(weak.body.details[0].path, 'password', word);
      t.regex(weak.body.message, problem, word);
    }
    const done = await post('/auth/reset-password', { token, password: chosen });
    t.is(done.status, 200);
    t.is((await harness.request('GET', '/auth/session', { as: `token ${session}` })).status, 401);
    t.is((await signIn(email, password)).status, 401);
    t.is((await signIn(email, chosen)).status, 200);
    await mailTo(email, /was changed/);
    const [record] = await recordsOf('user.reset-password', requestId(done));
    t.regex(JSON.stringify(record), /editor@b\.example/);
    t.notRegex(JSON.stringify(record), /argon2id/);
    const again = await post('/auth/reset-password', { token, password: 'nineteen red lanterns' });
    t.is(again.status, 400);
    t.is(again.body.error, 'TOKEN_INVALID');
  },
);

test.serial('one of two concurrent uses of a link succeeds', async (t) => {
  const email = 'viewer@b.example';
  await post('/auth/forgot-password', { email });
  const token = tokenIn(await mailTo(email, /new password/));
  const words = ['forty-one grey herons', 'forty-two grey herons'];
  const responses = await Promise.all(words.map((word) => post('/auth/reset-password', { token, password: word })));
  t.deepEqual(responses.map(({ status }) => status).sort(), [200, 400]);
  const signedIn = await Promise.all(words.map((word) => signIn(email, word)));
  t.deepEqual(signedIn.map(({ status }) => status).sort(), [200, 401]);
});

test.serial(
  'a later link invalidates the earlier one, and links that are old, wrong, or for another purpose have no effect',
  async (t) => {
    const email = 'admin@b.example';
    await post('/auth/forgot-password', { email });
    const first = tokenIn(await mailTo(email, /new password/));
    await post('/auth/forgot-password', { email });
    const second = tokenIn(
      await smtp.next((mail) => mail.to[0] === email && /#token=/.test(mail.text) && !mail.text.includes(first)),
    );
    for await (const stored of harness.documents.findInAllTenants(oneTimeTokens, { userId: await idOf(email) }))
      await harness.documents
        .forTenant('-')
        .collection(oneTimeTokens)
        .update(stored.id, { expiresAt: new Date(Date.now() - 1).toISOString() });
    const invited = await harness.request('POST', '/api/users/invitations', {
      body: { email: 'else@a.example', role: 'viewer' },
    });
    t.is(invited.status, 200);
    const invitation = tokenIn(await mailTo('else@a.example', /invited/));
    for (const token of [first, second, invitation, 'nonsense', first.slice(1), '__proto__'])
      t.is((await post('/auth/reset-password', { token, password: chosen })).body.error, 'TOKEN_INVALID', token);
    t.is((await signIn(email, password)).status, 200);
  },
);

test.serial(
  'known, unknown and disabled addresses get the same response, and only known addresses get a mail',
  async (t) => {
    const people = harness.documents.forTenant(usersTenant).collection(users);
    await people.insert({ email: 'gone@a.example', name: '', passwordHash: 'x', disabled: true });
    const responses = [];
    for (const email of ['auditor@b.example', 'unknown@b.example', 'gone@a.example'])
      responses.push(withoutRequest(await post('/auth/forgot-password', { email })));
    t.deepEqual(responses[1], responses[0]);
    t.deepEqual(responses[2], responses[0]);
    await mailTo('auditor@b.example', /new password/);
    // The queue is processed in order of due times: this later mail was sent, so the unknown address got none.
    await post('/auth/forgot-password', { email: 'owner@b.example' });
    await mailTo('owner@b.example', /new password/);
    t.false(smtp.received.some(({ to }) => ['unknown@b.example', 'gone@a.example'].includes(to[0] ?? '')));
  },
);

test.serial('known and unknown addresses cause the same writes', async (t) => {
  const counted: Record<string, number> = {};
  let counting = '';
  const feeds = await Promise.all(
    ([oneTimeTokens, outgoingMails] as readonly CollectionDefinition<object>[]).map((collection) =>
      harness.documents.follow(collection, ({ document }) => {
        if (document?.version !== 1) return;
        const what = `${counting} ${collection.name}`;
        counted[what] = (counted[what] ?? 0) + 1;
      }),
    ),
  );
  const written = async (path: string, body: { email: string }): Promise<number[]> => {
    counting = `${path} ${body.email}`;
    t.is((await post(path, body)).status, 200);
    const first = (collection: string): number => counted[`${counting} ${collection}`] ?? 0;
    return [first('one-time-tokens'), first('outgoing-mails')];
  };
  const register = { organization: 'Any' };
  for (const email of ['editor@a.example', 'unknown@a.example']) {
    t.deepEqual(await written('/auth/forgot-password', { email }), [1, 1], email);
    t.deepEqual(await written('/auth/register', { ...register, email }), [1, 1], email);
  }
  for (const feed of feeds) await feed.close();
});

test.serial('a source that requests mail too often is refused, whether or not the address is known', async (t) => {
  const statusesFor = async (email: string): Promise<number[]> => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 7; attempt++)
      statuses.push((await post('/auth/forgot-password', { email })).status);
    return statuses;
  };
  const expected = [200, 200, 200, 200, 200, 429, 429];
  t.deepEqual(await statusesFor('owner@a.example'), expected);
  t.deepEqual(await statusesFor('nobody-at-all@a.example'), expected);
});

test.serial('a new user accepts an invitation, chooses a password and is signed in with the role', async (t) => {
  const email = 'new@a.example';
  const invited = await harness.request('POST', '/api/users/invitations', {
    as: 'admin',
    body: { email: 'New@A.example', role: 'editor' },
  });
  t.is(invited.status, 200);
  t.is(invited.body.email, email);
  t.is(invited.body.invitedBy, 'admin@a.example');
  t.false('tokenHash' in invited.body);
  const mail = await mailTo(email, /invited to Organization a/);
  t.regex(mail.text, /admin@a\.example invited you/);
  const token = tokenIn(mail);
  for (const [body, path] of [
    [{ token, password: chosen }, 'name'],
    [{ token, name: 'New' }, 'password'],
    [{ token, name: 'New', password: 'short' }, 'password'],
    [{ token, name: 'New\r\nBcc: x', password: chosen }, 'name'],
    [{ token, name: 'New', password: 'new@a.example' }, 'password'],
  ] as const) {
    const refused = await post('/auth/accept-invite', body);
    t.is(refused.status, 400);
    t.is(refused.body.details?.[0]?.path, path);
  }
  const accepted = await post('/auth/accept-invite', { token, name: 'New', password: chosen });
  t.is(accepted.status, 200);
  t.deepEqual(accepted.body.tenant, { id: 'a', name: 'Organization a' });
  const session = await harness.request('GET', '/auth/session', { as: `token ${accepted.body.token}` });
  t.is(session.body.role, 'editor');
  t.is(session.body.user.name, 'New');
  t.is((await recordsOf('user.join', requestId(accepted))).length, 1);
  t.is((await post('/auth/accept-invite', { token, name: 'New', password: chosen })).body.error, 'TOKEN_INVALID');
  const open = await harness.request('GET', '/api/users/invitations');
  t.false(open.body.items.some((each: { email: string }) => each.email === email));
  const twice = await harness.request('POST', '/api/users/invitations', { body: { email, role: 'viewer' } });
  t.is(twice.status, 409);
});

test.serial('an existing user joins with the current password, which stays unchanged, and signs in', async (t) => {
  const email = 'owner@b.example';
  await harness.request('POST', '/api/users/invitations', { body: { email, role: 'auditor' } });
  const token = tokenIn(await mailTo(email, /invited to Organization a/));
  for (const body of [{ token }, { token, name: 'Mallory', password: 'a word that an attacker chose' }]) {
    const refused = await post('/auth/accept-invite', body);
    t.is(refused.status, 401);
    t.is(refused.body.error, 'UNAUTHENTICATED');
  }
  const accepted = await post('/auth/accept-invite', { token, name: 'Mallory', password });
  t.is(accepted.status, 200);
  t.deepEqual(Object.keys(accepted.body).sort(), ['tenant', 'user']);
  t.is(accepted.body.user.name, 'owner');
  t.is(accepted.headers.get('set-cookie'), null);
  const { token: session } = (await signIn(email, password)).body;
  const places = await harness.request('GET', '/api/organizations', { as: `token ${session}` });
  t.deepEqual(places.body.items.map(({ id, role }: { id: string; role: string }) => `${id} ${role}`).sort(), [
    'a auditor',
    'b owner',
  ]);
});

test.serial('a user of an identity provider joins by the link alone, and gets no password through it', async (t) => {
  const email = 'sso@elsewhere.example';
  const people = harness.documents.forTenant(usersTenant).collection(users);
  const { id } = await people.insert({ email, name: 'Sso', passwordHash: null, disabled: false });
  await harness.request('POST', '/api/users/invitations', { body: { email, role: 'viewer' } });
  const token = tokenIn(await mailTo(email, /invited/));
  const accepted = await post('/auth/accept-invite', { token, name: 'Mallory', password: chosen });
  t.is(accepted.status, 200);
  t.is(accepted.body.token, undefined);
  t.is((await people.find(id))?.passwordHash, null);
  await post('/auth/forgot-password', { email });
  t.notRegex((await mailTo(email, /Signing in/)).text, /token=/);
});

test.serial('an invitation that is withdrawn or repeated cannot be accepted with its old link', async (t) => {
  const email = 'late@a.example';
  const invite = (role: string) => harness.request('POST', '/api/users/invitations', { body: { email, role } });
  const first = await invite('viewer');
  const firstToken = tokenIn(await mailTo(email, /invited/));
  const second = await invite('editor');
  const isSecond = (mail: Received) => mail.to[0] === email && !mail.text.includes(firstToken);
  const secondToken = tokenIn(await smtp.next(isSecond));
  t.not(first.body.id, second.body.id);
  const listed = await harness.request('GET', '/api/users/invitations?search=LATE');
  t.deepEqual(
    listed.body.items.map((each: { id: string }) => each.id),
    [second.body.id],
  );
  const accept = (token: string) => post('/auth/accept-invite', { token, name: 'Late', password: chosen });
  t.is((await accept(firstToken)).body.error, 'TOKEN_INVALID');
  const withdrawn = await harness.request('DELETE', `/api/users/invitations/${second.body.id}`);
  t.is(withdrawn.status, 200);
  t.is((await accept(secondToken)).body.error, 'TOKEN_INVALID');
  t.is((await harness.request('DELETE', `/api/users/invitations/${second.body.id}`)).status, 404);
});

test.serial('nobody can invite above their own role, or replace or withdraw such an invitation', async (t) => {
  const body = { email: 'boss@a.example', role: 'owner' };
  t.is((await harness.request('POST', '/api/users/invitations', { as: 'admin', body })).status, 403);
  const { body: created } = await harness.request('POST', '/api/users/invitations', { body });
  const lower = { ...body, role: 'viewer' };
  t.is((await harness.request('POST', '/api/users/invitations', { as: 'admin', body: lower })).status, 403);
  t.is((await harness.request('DELETE', `/api/users/invitations/${created.id}`, { as: 'admin' })).status, 403);
  t.is((await harness.request('DELETE', `/api/users/invitations/${created.id}`)).status, 200);
});

test.serial('an invitation shows the delivery status of its mail', async (t) => {
  const email = 'bounces@a.example';
  await harness.request('POST', '/api/users/invitations', { body: { email, role: 'viewer' } });
  const state = async (): Promise<string> =>
    (await harness.request('GET', `/api/users/invitations?search=${email}`)).body.items[0].mail;
  await eventually('a delivery was attempted', async () => (await state()) !== 'queued');
  t.is(await state(), 'failed');
});

test.serial(
  'registration creates an organization once the address is confirmed; a known address gets the same response',
  async (t) => {
    const email = 'founder@new.example';
    const registration = await post('/auth/register', { email, organization: 'New <b>Ltd</b>' });
    const known = await post('/auth/register', { email: 'viewer@a.example', organization: 'New Ltd' });
    t.is(registration.status, 200);
    t.deepEqual(withoutRequest(known), withoutRequest(registration));
    t.is(await idOf(email), '');
    await mailTo('viewer@a.example', /have an account/);
    const mail = await mailTo(email, /Confirm/);
    const token = tokenIn(mail);
    const accepted = await post('/auth/accept-invite', { token, name: 'Founder', password: chosen });
    t.is(accepted.status, 200);
    t.is(accepted.body.tenant.name, 'New <b>Ltd</b>');
    const session = await harness.request('GET', '/auth/session', { as: `token ${accepted.body.token}` });
    t.is(session.body.role, 'owner');
    const account = await harness.request('GET', '/api/account', { as: `token ${accepted.body.token}` });
    t.is(account.body.plan.id, 'free');
    t.is(account.body.mail, 'configured');
    t.is((await recordsOf('organization.create', requestId(accepted))).length, 1);
  },
);

test.serial('tokens are stored as hashes, and appear in no log, audit record or response', async (t) => {
  t.true(tokens.length >= 8);
  const stored = JSON.stringify(
    await Promise.all(
      [oneTimeTokens, auditRecords].map(async (collection) => {
        const found: object[] = [];
        for await (const each of harness.documents.findInAllTenants<object>(collection)) found.push(each);
        return found;
      }),
    ),
  );
  const logged = JSON.stringify(lines);
  for (const token of tokens) {
    t.false(stored.includes(token));
    t.false(logged.includes(token));
  }
  t.false(logged.includes(chosen));
});
