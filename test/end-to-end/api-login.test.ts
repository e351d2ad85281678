/** Signing in with a password: what responses disclose, how many attempts are allowed, and what is recorded. */

import { hash } from '@node-rs/argon2';
import test from 'ava';
import { type AuditRecord, auditRecords } from '../../schemas/resources/audit-record.ts';
import { users, usersTenant } from '../../schemas/resources/user.ts';
import { eventually } from '../waiting.ts';
import { type Answer, type Harness, password, startHarness } from './api-harness.ts';

let harness: Harness;
let nowMs = 1_800_000_000_000;
test.before(async () => {
  harness = await startHarness({
    now: () => nowMs,
    environment: { OIQ_TRUSTED_PROXIES: '127.0.0.1', OIQ_API_ANONYMOUS_REQUESTS_PER_SECOND: '40' },
  });
});
test.after.always(() => harness?.close());

const from = (address: string) => ({ 'x-forwarded-for': address });
const login = (email: string, input: string, headers: Record<string, string>): Promise<Answer> =>
  harness.request('POST', '/auth/login', { as: 'nobody', body: { email, password: input }, headers });
const recordsOf = async (action: string, id: string): Promise<AuditRecord[]> => {
  const found: AuditRecord[] = [];
  for await (const record of harness.documents.findInAllTenants(auditRecords, { action, 'resource.id': id }))
    found.push(record);
  return found;
};
const userOf = async (email: string) => {
  const { items } = await harness.documents.forTenant(usersTenant).collection(users).list({ filter: { email } });
  if (items[0] === undefined) throw new Error(`there is no ${email}`);
  return items[0];
};

/** Guesses until one is refused. Returns the number of attempts. */
const guesses = async (email: string, address: string, maxAttempts = 60): Promise<number> => {
  for (let tried = 0; tried < maxAttempts; tried++) {
    const { status } = await login(email, 'wrong', from(address));
    if (status === 429) return tried;
    if (status !== 401) throw new Error(`returned ${status}`);
  }
  return maxAttempts;
};

test.serial(
  'ten attempts per minute and forty per quarter of an hour are allowed; then the response states the wait',
  async (t) => {
    const email = 'owner@b.example';
    t.is(await guesses(email, '203.0.113.1'), 10);
    const refused = await login(email, password, from('203.0.113.1'));
    t.is(refused.status, 429, 'also the correct password');
    const wait = Number(refused.headers.get('retry-after'));
    t.true(wait >= 1 && wait <= 60);
    let tried = 10;
    for (let minute = 0; minute < 10; minute++) {
      nowMs += 61_000;
      tried += await guesses(email, '203.0.113.1');
    }
    t.true(tried >= 40 && tried <= 80, `${tried} of 110`);
    nowMs += 15 * 60_000;
    t.is((await login(email, password, from('203.0.113.1'))).status, 200);
  },
);

test.serial('guesses from one address lock out neither the owner nor a neighbouring address', async (t) => {
  t.is(await guesses('admin@a.example', '203.0.113.2'), 10);
  t.is((await login('admin@a.example', password, from('203.0.113.3'))).status, 200);
  t.is((await login('editor@a.example', password, from('203.0.113.2'))).status, 200);
});

test.serial('forwarded entries from the client before our proxy’s own entry do not reset the count', async (t) => {
  const email = 'admin@b.example';
  t.is(await guesses(email, '203.0.113.4'), 10);
  const spoofed = ['198.51.100.1, 203.0.113.4', '::1, 203.0.113.4', 'nonsense, 203.0.113.4'];
  for (const each of spoofed) t.is((await login(email, 'wrong', from(each))).status, 429, each);
  t.is(await guesses(email, '2001:db8:1:2::1'), 10);
  t.is(
    (await login(email, 'wrong', from('2001:db8:1:2:ffff::2'))).status,
    429,
    'another address of the same subscriber',
  );
  t.is((await login(email, 'wrong', from('2001:db8:1:3::1'))).status, 401);
});

test.serial(
  'guesses at one account from many addresses are slowed, and users are let in from addresses where they signed in before',
  async (t) => {
    const email = 'auditor@a.example';
    t.is((await login(email, password, from('203.0.113.77'))).status, 200);
    const guessFrom = (subscriber: number): Promise<Answer> =>
      login(email, 'wrong', from(`2001:db8:77:${subscriber.toString(16)}::1`));
    let tried = 0;
    while (tried < 200 && (await guessFrom(tried)).status === 401) tried++;
    t.true(tried >= 90 && tried <= 110, `${tried} attempts`);
    const stranger = await login(email, password, from('203.0.113.78'));
    t.is(stranger.status, 429);
    t.true(Number(stranger.headers.get('retry-after')) <= 10);
    t.is((await login(email, password, from('203.0.113.77'))).status, 200, 'a known address is not slowed');
    t.is(
      (await login('viewer@a.example', password, from('203.0.113.78'))).status,
      200,
      'another account is not slowed',
    );
    nowMs += 11_000;
    t.is(
      (await login(email, password, from('203.0.113.78'))).status,
      200,
      'correct passwords from new addresses succeed after a delay',
    );
  },
);

test.serial('correct passwords do not count as guesses', async (t) => {
  for (let times = 0; times < 15; times++)
    t.is((await login('editor@b.example', password, from('203.0.113.5'))).status, 200);
});

test.serial('guesses at any account from one address are limited together', async (t) => {
  let refused = 0;
  for (let n = 0; n < 150 && refused === 0; n++)
    if ((await login(`nobody-${n}@a.example`, 'wrong', from('203.0.113.6'))).status === 429) refused = n;
  t.is(refused, 120);
});

const median = (values: readonly number[]): number => [...values].sort((l, r) => l - r)[values.length >> 1] ?? 0;

/** CPU time of this process. Hashing is most of it, and waiting for a core does not count. */
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

test.serial('an unknown, a disabled and a password-less user take as long as a wrong password', async (t) => {
  const stored = harness.documents.forTenant(usersTenant).collection(users);
  const passwordHash = (await userOf('viewer@a.example')).passwordHash;
  await stored.insert({ email: 'disabled@a.example', name: '', passwordHash, disabled: true });
  await stored.insert({ email: 'without@a.example', name: '', passwordHash: null, disabled: false });
  const cases = [
    ['viewer@a.example', 'wrong'],
    ['nobody@a.example', 'wrong'],
    ['disabled@a.example', password],
    ['without@a.example', 'wrong'],
  ] as const;
  const cost = cases.map((): number[] => []);
  const responses = new Set<string>();
  // Without a hash the request would cost a hundredth.
  for (let attempt = 0; attempt < 9; attempt++)
    for (const [index, [email, given]] of cases.entries()) {
      const before = cpuMs();
      const { status, body } = await login(email, given, from(`203.0.113.${50 + attempt}`));
      cost[index]?.push(cpuMs() - before);
      responses.add(`${status} ${body.error} ${body.message}`);
    }
  t.is(responses.size, 1, [...responses].join('\n'));
  const [wrong = 0, ...others] = cost.map(median);
  for (const other of others) t.true(other > wrong / 3 && other < wrong * 3, cost.map(median).join(' '));
});

test.serial('a password hashed with weaker than current parameters is hashed again at its next use', async (t) => {
  const weak = await hash(password, { memoryCost: 4096, timeCost: 1, parallelism: 1 });
  const stored = harness.documents.forTenant(usersTenant).collection(users);
  const { id, email } = await userOf('viewer@b.example');
  await stored.update(id, { passwordHash: weak });
  const hashNow = async () => (await stored.find(id))?.passwordHash ?? '';
  t.is((await login(email, 'wrong', from('203.0.113.7'))).status, 401);
  t.is(await hashNow(), weak, 'a wrong password does not rehash');
  t.is((await login(email, password, from('203.0.113.7'))).status, 200);
  t.regex(await hashNow(), /^\$argon2id\$v=19\$m=47104,t=1,p=1\$/);
  const strong = await hashNow();
  t.is((await login(email, password, from('203.0.113.7'))).status, 200);
  t.is(await hashNow(), strong, 'once');
});

test.serial('sign-ins are recorded, and so is a limited number of the failures of known users', async (t) => {
  const { id, email } = await userOf('auditor@b.example');
  for (let minute = 0; minute < 4; minute++) {
    await guesses(email, '203.0.113.8');
    nowMs += 61_000;
  }
  // Recorded within seconds after the response, with a random delay.
  await eventually('twenty records', async () => (await recordsOf('session.refuse', id)).length >= 20);
  const failures = await recordsOf('session.refuse', id);
  t.is(failures.length, 20, 'of forty');
  t.deepEqual(failures[0]?.actor, { type: 'anonymous', id: '' });
  t.is(failures[0]?.details?.address, '203.0.113.8');
  const signedIn = await login(email, password, from('203.0.113.9'));
  t.is(signedIn.status, 200);
  const session = await harness.request('GET', '/auth/session', { as: `token ${signedIn.body.token}` });
  const [begun] = await recordsOf('session.begin', session.body.sessionId);
  t.is(begun?.actor.id, id);
});
