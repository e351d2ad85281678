/** Two instances of the API over one store: a session ended on one is ended on the other, and after a restart. */
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { Documents } from '../../schemas/ports/documents.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';
import { type Harness, password, startHarness, withRetries } from './api-harness.ts';

interface Instances {
  readonly one: Harness;
  readonly other: Harness;
  /** Restarts the other instance. */
  restart(): Promise<Harness>;
  close(): Promise<void>;
}

const start = async (openDocuments?: () => Promise<Documents>): Promise<Instances> => {
  const options = openDocuments === undefined ? {} : { openDocuments };
  const one = await startHarness(options);
  let other = await startHarness({ ...options, sharing: one });
  return {
    one: withRetries(one),
    get other() {
      return withRetries(other);
    },
    async restart() {
      await other.close();
      other = await startHarness({ ...options, sharing: one });
      return withRetries(other);
    },
    async close() {
      await other.close();
      await one.close();
    },
  };
};

const statusOf = async ({ request: requestFrom }: Harness, token: string, path = '/auth/session'): Promise<number> =>
  (await requestFrom('GET', path, { as: `token ${token}` })).status;

/** Polls until a request returns the status. If it never does, the test times out. */
const waitForStatus = async (
  t: ExecutionContext,
  harness: Harness,
  token: string,
  status: number,
  path?: string,
): Promise<void> => {
  const began = performance.now();
  while ((await statusOf(harness, token, path)) !== status) await sleep(5);
  t.pass();
  t.log(`${status} after ${Math.round(performance.now() - began)} ms`);
};

/** The tests for two instances over any store. */
export const instancesSuite = (store: string, openDocuments?: () => Promise<Documents>): void => {
  let instances: Instances;
  test.before(async () => {
    instances = await start(openDocuments);
  });
  test.after.always(() => instances?.close());

  const signIn = async (email: string): Promise<{ token: string; refreshToken: string; user: { id: string } }> =>
    (await instances.one.request('POST', '/auth/login', { as: 'nobody', body: { email, password } })).body;

  test.serial(
    `${store}: a session started on one instance is valid on the other at once, and invalid on both after its end`,
    async (t) => {
      const { one, other } = instances;
      const { token, refreshToken } = await signIn('owner@a.example');
      t.is(await statusOf(other, token), 200);
      t.is((await other.request('POST', '/auth/logout', { as: `token ${token}` })).status, 200);
      t.is(await statusOf(other, token), 401, 'ended at once on the instance that ended it');
      await waitForStatus(t, one, token, 401);
      t.is((await one.request('POST', '/auth/refresh', { as: 'nobody', body: { refreshToken } })).status, 401);
    },
  );

  test.serial(`${store}: two instances that refresh one session concurrently get the same successor`, async (t) => {
    const { one, other } = instances;
    const { refreshToken } = await signIn('owner@a.example');
    const refresh = ({ request: send }: Harness) =>
      send('POST', '/auth/refresh', { as: 'nobody', body: { refreshToken } });
    const responses = await Promise.all([refresh(one), refresh(other), refresh(one), refresh(other)]);
    t.deepEqual(
      responses.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    t.is(new Set(responses.map(({ body }) => body.refreshToken)).size, 1);
    for (const { body } of responses) t.is(await statusOf(other, body.token), 200);
  });

  test.serial(`${store}: an API token is valid on both instances, and invalid on both after its end`, async (t) => {
    const { one, other } = instances;
    const account = await one.request('POST', '/api/service-accounts', { body: { name: store, role: 'viewer' } });
    const path = `/api/service-accounts/${account.body.id}/tokens`;
    const { body } = await one.request('POST', path, { body: { name: 'Token', scopes: ['projects:read'] } });
    t.is(await statusOf(one, body.token, '/api/projects'), 200);
    t.is(await statusOf(other, body.token, '/api/projects'), 200);
    t.is((await other.request('DELETE', `${path}/${body.id}`)).status, 200);
    t.is(await statusOf(other, body.token, '/api/projects'), 401);
    await waitForStatus(t, one, body.token, 401, '/api/projects');
  });

  test.serial(
    `${store}: a lower role, a disabled membership and a disabled user take effect on both instances`,
    async (t) => {
      const { one, other } = instances;
      const { token, user } = await signIn('admin@b.example');
      const members = one.documents.forTenant('b').collection(memberships);
      await members.update(user.id, { role: 'viewer' });
      await waitForStatus(t, other, token, 403, '/api/dead-letter');
      await members.update(user.id, { role: 'admin', disabled: true });
      await waitForStatus(t, other, token, 401);
      await members.update(user.id, { disabled: false });
      await waitForStatus(t, other, token, 200);
      await one.documents.forTenant(usersTenant).collection(users).update(user.id, { disabled: true });
      await waitForStatus(t, other, token, 401);
      await waitForStatus(t, one, token, 401);
    },
  );

  test.serial(`${store}: a restart neither ends a session nor restores an ended session`, async (t) => {
    const [activeSession, ended] = [await signIn('editor@a.example'), await signIn('editor@a.example')];
    await instances.one.request('POST', '/auth/logout', { as: `token ${ended.token}` });
    const restarted = await instances.restart();
    t.is(await statusOf(restarted, activeSession.token), 200);
    t.is(await statusOf(restarted, ended.token), 401);
    const body = { refreshToken: activeSession.refreshToken };
    t.is((await restarted.request('POST', '/auth/refresh', { as: 'nobody', body })).status, 200);
  });
};
