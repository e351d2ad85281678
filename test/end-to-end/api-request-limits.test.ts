/** Rate limits of the management API: per caller, and per address without a session. */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
let nowMs = 1_800_000_000_000;
test.before(async () => {
  harness = await startHarness({
    now: () => nowMs,
    environment: {
      OIQ_API_REQUESTS_PER_SECOND: '20',
      OIQ_API_ANONYMOUS_REQUESTS_PER_SECOND: '4',
      OIQ_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
});
test.after.always(() => harness?.close());

type SendRequest = () => ReturnType<Harness['request']>;

/** Sends requests at the same time of the API's clock until one is refused. */
const accepted = async (sendRequest: SendRequest): Promise<{ count: number; retryAfter: number }> => {
  for (let count = 0; count < 500; count++) {
    const { status, headers, body } = await sendRequest();
    if (status !== 429) continue;
    if (body.error !== 'RATE_LIMITED') throw new Error(body.error);
    return { count, retryAfter: Number(headers.get('retry-after')) };
  }
  throw new Error('never refused');
};

const requestSession =
  (token: string, path = '/auth/session'): SendRequest =>
  () =>
    harness.request('GET', path, { as: `token ${token}` });

test.serial(
  'a caller has a burst of five seconds’ worth of requests, then the rate per second; other callers are not affected',
  async (t) => {
    const [one, other] = [await harness.signIn('viewer@a.example'), await harness.signIn('editor@a.example')];
    const { count, retryAfter } = await accepted(requestSession(one));
    t.is(count, 100);
    t.true(retryAfter >= 1);
    const second = await harness.signIn('viewer@a.example');
    t.is((await requestSession(second)()).status, 429, 'another session of the same user');
    t.is((await requestSession(other)()).status, 200);
    nowMs += 2000;
    t.is((await accepted(requestSession(one))).count, 40);
  },
);

test.serial('a busy caller’s requests are counted exactly, although they are not checked one by one', async (t) => {
  nowMs += 60_000;
  const token = await harness.signIn('viewer@a.example');
  const responses = await Promise.all(Array.from({ length: 150 }, () => requestSession(token)()));
  t.is(responses.filter(({ status }) => status === 200).length, 100);
});

test.serial('each service account has its own limit for its API tokens', async (t) => {
  nowMs += 60_000;
  const token = async (name: string): Promise<string> => {
    const account = await harness.request('POST', '/api/service-accounts', { body: { name, role: 'viewer' } });
    const created = await harness.request('POST', `/api/service-accounts/${account.body.id}/tokens`, {
      body: { name, scopes: ['projects:read'] },
    });
    return created.body.token;
  };
  const [one, other] = [await token('One'), await token('Other')];
  t.is((await accepted(requestSession(one, '/api/projects'))).count, 100);
  t.is((await requestSession(other, '/api/projects')()).status, 200);
});

test.serial(
  'an address without a session has a lower limit, and refused requests do not count as sign-in attempts',
  async (t) => {
    nowMs += 60_000;
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const keys =
      (address: string): SendRequest =>
      () =>
        harness.request('GET', '/auth/jwks.json', { as: 'nobody', headers: from(address) });
    t.is((await accepted(keys('203.0.113.1'))).count, 20);
    t.is((await keys('203.0.113.2')()).status, 200);
    t.is((await keys('198.51.100.7, 203.0.113.1')()).status, 429, 'a forwarded address of the client does not count');

    const guess: SendRequest = () =>
      harness.request('GET', '/api/logs', { as: 'token nonsense', headers: from('203.0.113.3') });
    const { count } = await accepted(guess);
    t.is(count, 20);
    t.is((await keys('203.0.113.3')()).status, 200);
  },
);
