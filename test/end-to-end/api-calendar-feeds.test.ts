/** Calendar feeds: a private address that needs no session, and stops responding once it is revoked. */
import test from 'ava';
import { calendarFeeds } from '../../schemas/resources/calendar-feed.ts';
import { memberships } from '../../schemas/resources/user.ts';
import { startHarness } from './api-harness.ts';

const harness = await startHarness();
test.after.always(() => harness.close());

const request = (method: string, path: string, as: string, body?: object) =>
  harness.request(method, path, { as, ...(body && { body }) } as never);
const read = (path: string) => request('GET', path, 'nobody');
const feeds = '/api/on-call/calendar-feeds';
const userOf = async (role: string): Promise<string> => {
  const { items } = await harness.documents.forTenant('a').collection(memberships).list({ filter: { role } });
  return items[0]?.id ?? '';
};
const wall = new Date(Date.now() - 86_400_000).toISOString().slice(0, 16);
let created = 0;
const scheduleOf = async (role: string) => {
  const layer = { name: 'first', startsAt: wall, participants: [[await userOf(role)]] };
  const body = {
    name: `of ${role} ${created++}`,
    timeZone: 'UTC',
    layers: [{ ...layer, rotation: { every: 1, unit: 'weeks' } }],
  };
  return (await request('POST', '/api/on-call/schedules', 'editor', body)).body as {
    readonly id: string;
    readonly name: string;
  };
};

test.serial('a feed of a schedule, and a feed of a person, are read without a session', async (t) => {
  const [of, other] = [await scheduleOf('viewer'), await scheduleOf('admin')];
  const one = await request('POST', feeds, 'viewer', { scheduleId: other.id });
  t.is(one.status, 200, JSON.stringify(one.body));
  const schedule = await read(one.body.path);
  t.is(schedule.status, 200, JSON.stringify(schedule.body));
  t.regex(schedule.headers.get('content-type') ?? '', /^text\/calendar/);
  t.regex(schedule.body, /SUMMARY:On call: admin/);
  const feedResponse = await request('POST', feeds, 'viewer', {});
  const { body } = await read(feedResponse.body.path);
  t.true(body.includes(`DESCRIPTION:${of.name}`));
  t.false(body.includes(other.name));
});

test.serial(
  'only a hash of the address is stored, and another text of the same length is not an address',
  async (t) => {
    const { body } = await request('POST', feeds, 'viewer', {});
    const token = body.path.split('/').at(-1);
    const stored = await harness.documents.forTenant('a').collection(calendarFeeds).find(body.id);
    t.false(JSON.stringify(stored).includes(token));
    t.false(JSON.stringify((await request('GET', feeds, 'viewer')).body).includes(token));
    const wrong = `${body.path.slice(0, -1)}${body.path.endsWith('A') ? 'B' : 'A'}`;
    t.is((await read(wrong)).status, 404);
  },
);

test.serial('a feed is revoked by its person or an Admin, and stops responding', async (t) => {
  for (const [revoker, status] of [
    ['editor', 404],
    ['viewer', 200],
    ['admin', 200],
  ] as const) {
    const { body } = await request('POST', feeds, 'viewer', {});
    t.is((await request('DELETE', `${feeds}/${body.id}`, revoker)).status, status);
    t.is((await read(body.path)).status, status === 200 ? 404 : 200);
  }
});

test.serial('a feed stops responding once its schedule is deleted or its person is blocked', async (t) => {
  const { id } = await scheduleOf('admin');
  const { body } = await request('POST', feeds, 'auditor', { scheduleId: id });
  t.is((await read(body.path)).status, 200);
  t.is((await request('PATCH', `/api/users/${await userOf('auditor')}`, 'owner', { disabled: true })).status, 200);
  t.is((await read(body.path)).status, 404);
  const again = await request('POST', feeds, 'viewer', { scheduleId: id });
  t.is((await request('DELETE', `/api/on-call/schedules/${id}`, 'editor')).status, 200);
  t.is((await read(again.body.path)).status, 404);
});
