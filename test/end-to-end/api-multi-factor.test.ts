/** Authenticators and recovery codes: enrolling, signing in, and each code is valid only once. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { generateSync } from 'otplib';
import { hashPassword } from '../../api/identity/password.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { multiFactors, multiFactorsTenant } from '../../schemas/resources/multi-factor.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';
import { eventually } from '../waiting.ts';
import { type Answer, type Harness, password, startHarness } from './api-harness.ts';

let harness: Harness;
/** The middle of a time step; only the tests advance it. */
let nowMs = Math.floor(Date.now() / 30_000) * 30_000 + 15_000;
const stepMs = 30_000;
test.before(async () => {
  harness = await startHarness({ now: () => nowMs });
});
test.after.always(() => harness?.close());

const codeAt = (secret: string, steps = 0): string =>
  generateSync({ secret, epoch: Math.floor((nowMs + steps * stepMs) / 1000) });

const login = (email: string, code?: string, secretWord = password): Promise<Answer> =>
  harness.request('POST', '/auth/login', {
    as: 'nobody',
    body: { email, password: secretWord, ...(code === undefined ? {} : { code }) },
  });

const post = (token: string, path: string, body?: unknown, method = 'POST'): Promise<Answer> =>
  harness.request(method, `/auth/mfa${path}`, { as: `token ${token}`, body });

/** The texts of mails to an address. */
const mailsTo = (address: string): string[] => {
  const path = join(harness.directory, 'outbox.jsonl');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  const mails = lines.map((line) => JSON.parse(line) as { to: string; text: string });
  return mails.filter(({ to }) => to === address).map(({ text }) => text);
};

interface Enrolled {
  readonly token: string;
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

/** Enables multi-factor authentication without using a code of the current time step. */
const enroll = async (t: ExecutionContext, email: string): Promise<Enrolled> => {
  nowMs += 4 * stepMs;
  const token = await harness.signIn(email);
  const { secret } = (await post(token, '/enroll')).body;
  const confirmed = await post(token, '/confirm', { code: codeAt(secret, -1) });
  t.is(confirmed.status, 200, JSON.stringify(confirmed.body));
  return { token, secret, recoveryCodes: confirmed.body.recoveryCodes };
};

test.serial(
  'enrolling returns a secret, its URI and a QR code, and has no effect until a code is confirmed',
  async (t) => {
    const token = await harness.signIn('viewer@a.example');
    const { status, body } = await post(token, '/enroll');
    t.is(status, 200);
    t.regex(body.secret, /^[A-Z2-7]{32}$/);
    t.is(new URL(body.uri).searchParams.get('secret'), body.secret);
    t.true(decodeURIComponent(body.uri).startsWith('otpauth://totp/OIQ:viewer@a.example?'));
    const [, picture = ''] = /^data:image\/svg\+xml;base64,(.+)$/.exec(body.qrCode) ?? [];
    t.regex(Buffer.from(picture, 'base64').toString(), /^<svg/);
    t.is((await login('viewer@a.example')).status, 200);
    const wrong = await post(token, '/confirm', { code: codeAt(body.secret, 9) });
    t.is(wrong.status, 400);
    t.is(wrong.body.details[0].path, 'code');
    t.is((await login('viewer@a.example')).status, 200);
    t.is((await post(token, '/recovery-codes', { code: codeAt(body.secret) })).status, 409);
  },
);

test.serial(
  'once enabled, a sign-in without a code gets a request for the code, and a wrong code is treated like a wrong password',
  async (t) => {
    const { secret, token } = await enroll(t, 'viewer@a.example');
    const without = await login('viewer@a.example');
    t.is(without.status, 401);
    t.is(without.body.error, 'MFA_REQUIRED');
    const wrongCode = await login('viewer@a.example', codeAt(secret, 5));
    const wrongPassword = await login('viewer@a.example', codeAt(secret), 'wrong');
    t.is(wrongCode.status, 401);
    t.deepEqual({ ...wrongCode.body, requestId: '' }, { ...wrongPassword.body, requestId: '' });
    t.is((await login('viewer@a.example', codeAt(secret))).status, 200, 'a code with a wrong password stays valid');
    t.is((await post(token, '/enroll')).status, 409);
    t.is((await post(token, '/confirm', { code: codeAt(secret, 1) })).status, 409);
  },
);

test.serial(
  'a code is valid one time step before and after its own, never twice and never before the last used one',
  async (t) => {
    const { secret } = await enroll(t, 'editor@a.example');
    const codes = {
      before: codeAt(secret, -1),
      now: codeAt(secret),
      after: codeAt(secret, 1),
      late: codeAt(secret, 2),
    };
    t.is((await login('editor@a.example', codes.before)).status, 401, 'the code was used to confirm');
    t.is((await login('editor@a.example', codes.late)).status, 401);
    t.is((await login('editor@a.example', `${codes.now.slice(0, 3)} ${codes.now.slice(3)}`)).status, 200);
    t.is((await login('editor@a.example', codes.now)).status, 401);
    t.is((await login('editor@a.example', codes.after)).status, 200);
    t.is((await login('editor@a.example', codes.after)).status, 401);
    t.is((await login('editor@a.example', codes.now)).status, 401);
    nowMs += 4 * stepMs;
    t.is((await login('editor@a.example', codeAt(secret, -1))).status, 200);
  },
);

test.serial('one of many concurrent uses of the same code succeeds', async (t) => {
  const { secret, recoveryCodes } = await enroll(t, 'auditor@a.example');
  for (const code of [codeAt(secret), recoveryCodes[0]]) {
    nowMs += 61_000;
    const again = code === recoveryCodes[0] ? code : codeAt(secret);
    const responses = await Promise.all(Array.from({ length: 3 }, () => login('auditor@a.example', again)));
    t.deepEqual(responses.map(({ status }) => status).sort(), [200, 401, 401]);
  }
});

test.serial('ten recovery codes work once each, and new codes invalidate the old ones', async (t) => {
  const { secret, recoveryCodes, token } = await enroll(t, 'admin@a.example');
  t.is(recoveryCodes.length, 10);
  t.is(new Set(recoveryCodes).size, 10);
  for (const code of recoveryCodes) t.regex(code, /^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
  const [first = '', second = '', third = ''] = recoveryCodes;
  t.is((await login('admin@a.example', first)).status, 200);
  const used = await harness.documents
    .forTenant('a')
    .collection(auditRecords)
    .list({ filter: { action: 'multi-factor.use-recovery-code' } });
  t.is(used.items.at(-1)?.details?.actorName, 'admin@a.example');
  t.is((await login('admin@a.example', first)).status, 401);
  t.is((await login('admin@a.example', ` ${second.toUpperCase().replaceAll('-', '')}`)).status, 200);
  t.is((await post(token, '/recovery-codes', { code: codeAt(secret, 5) })).status, 400);
  const renewed = await post(token, '/recovery-codes', { code: codeAt(secret) });
  t.is(renewed.body.recoveryCodes.length, 10);
  t.is((await login('admin@a.example', third)).status, 401);
  t.is((await login('admin@a.example', renewed.body.recoveryCodes[0])).status, 200);
});

test.serial(
  'a user is notified by mail when a factor is set up or disabled, and when a recovery code is used',
  async (t) => {
    const { recoveryCodes, secret, token } = await enroll(t, 'editor@b.example');
    t.is((await login('editor@b.example', recoveryCodes[0])).status, 200);
    t.is((await post(token, '', { password, code: codeAt(secret) }, 'DELETE')).status, 200);
    await eventually('three mails', () => mailsTo('editor@b.example').length >= 3);
    const texts = mailsTo('editor@b.example').join('\n');
    for (const happened of [/was set up/, /recovery code/, /turned off/]) t.regex(texts, happened);
  },
);

test.serial('disabling the factor requires the password and a code', async (t) => {
  const { secret, token } = await enroll(t, 'owner@a.example');
  const off = (body: unknown): Promise<Answer> => post(token, '', body, 'DELETE');
  t.is((await off({ password: 'wrong', code: codeAt(secret) })).status, 400);
  t.is((await off({ code: codeAt(secret) })).status, 400);
  t.is((await off({ password, code: codeAt(secret, 5) })).status, 400);
  t.is((await login('owner@a.example')).body.error, 'MFA_REQUIRED');
  t.is((await off({ password, code: codeAt(secret) })).status, 200);
  t.is((await login('owner@a.example')).status, 200);
  t.is((await off({ password, code: codeAt(secret, 1) })).status, 409);
});

test.serial(
  'wrong codes are limited: above the limit even a correct code must wait, also at other operations',
  async (t) => {
    const { secret, token } = await enroll(t, 'owner@b.example');
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++)
      statuses.push((await post(token, '/recovery-codes', { code: codeAt(secret, 5 + attempt) })).status);
    t.deepEqual(statuses, [400, 400, 400, 400, 400]);
    const refused = await post(token, '/recovery-codes', { code: codeAt(secret) });
    t.is(refused.status, 429);
    t.true(Number(refused.headers.get('retry-after')) >= 1);
    t.is((await login('owner@b.example', codeAt(secret))).status, 429);
  },
);

test.serial('confirming ends the sessions that began without a code, if this is requested', async (t) => {
  const other = await harness.signIn('editor@b.example');
  const token = await harness.signIn('editor@b.example');
  const { secret } = (await post(token, '/enroll')).body;
  t.is((await post(token, '/confirm', { code: codeAt(secret), endOtherSessions: true })).status, 200);
  t.is((await harness.request('GET', '/auth/session', { as: `token ${other}` })).status, 401);
  t.is((await harness.request('GET', '/auth/session', { as: `token ${token}` })).status, 200);
});

test.serial('the secret and the recovery codes are not stored in readable form', async (t) => {
  const { secret, recoveryCodes } = await enroll(t, 'viewer@b.example');
  const stored: string[] = [];
  for await (const document of harness.documents.findInAllTenants(multiFactors)) stored.push(JSON.stringify(document));
  const text = stored.join('\n');
  t.false(text.includes(secret));
  for (const code of recoveryCodes) t.false(text.includes(code) || text.includes(code.replaceAll('-', '')));
});

test.serial('another user’s sealed secret cannot be opened', async (t) => {
  const { secret, token } = await enroll(t, 'admin@b.example');
  const idOf = async (session: string): Promise<string> =>
    (await harness.request('GET', '/auth/session', { as: `token ${session}` })).body.user.id;
  const ownId = await idOf(await harness.signIn('auditor@b.example'));
  const enrolments = harness.documents.forTenant(multiFactorsTenant).collection(multiFactors);
  const otherEnrolment = await enrolments.find(await idOf(token));
  t.truthy(otherEnrolment);
  const copied = { secret: otherEnrolment?.secret ?? '', confirmedAt: new Date(nowMs).toISOString(), lastTimeStep: 0 };
  await enrolments.insert({ id: ownId, ...copied, recoveryCodes: [] });
  t.is((await login('auditor@b.example', codeAt(secret))).status, 401);
});

test.serial('changing the password requires a code if multi-factor is on, and notifies the user by mail', async (t) => {
  const email = 'changing@a.example';
  const member = { email, name: '', passwordHash: await hashPassword(password), disabled: false };
  const { id } = await harness.documents.forTenant(usersTenant).collection(users).insert(member);
  await harness.documents.forTenant('a').collection(memberships).insert({ id, role: 'viewer' });
  const { secret, token } = await enroll(t, email);
  const newPassword = 'nineteen red lanterns';
  const change = (more: object): Promise<Answer> =>
    harness.request('POST', '/auth/change-password', {
      as: `token ${token}`,
      body: { currentPassword: password, newPassword, ...more },
    });
  const without = await change({});
  t.deepEqual([without.status, without.body.error], [401, 'MFA_REQUIRED']);
  const wrong = await change({ code: codeAt(secret, 9) });
  t.deepEqual([wrong.status, wrong.body.details?.[0].path], [400, 'code']);
  t.is((await change({ currentPassword: 'wrong', code: codeAt(secret) })).body.details?.[0].path, 'currentPassword');
  t.is((await login(email, undefined, newPassword)).status, 401);
  t.is((await change({ code: codeAt(secret) })).status, 200);
  nowMs += 4 * stepMs;
  t.is((await login(email, codeAt(secret), newPassword)).status, 200);
  await eventually('two mails', () => mailsTo(email).length >= 2);
  t.regex(mailsTo(email).join('\n'), /password was changed/);
});
