/** Incidents through the API: their states, lists, and what is refused. */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness.close());

const ask = (method: string, path: string, body?: object, as = 'editor') =>
  harness.ask(method, `/api/incidents${path}`, { as, ...(body && { body }) } as never);

const declare = async (fields: object): Promise<string> => {
  const { status, body } = await ask('POST', '', fields);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.id;
};

test('an action changes an incident once: repeated, it answers 200 with the same version', async (t) => {
  const id = await declare({ title: 'repeated actions', services: ['cart'] });
  for (const [action, state] of [
    ['acknowledge', 'acknowledged'],
    ['resolve', 'resolved'],
    ['reopen', 'open'],
  ]) {
    const first = await ask('POST', `/${id}/${action}`);
    const second = await ask('POST', `/${id}/${action}`);
    t.is(first.body.status, state);
    t.is(second.status, 200);
    t.deepEqual(second.body, first.body);
  }
});

test('an impossible action is refused with the state', async (t) => {
  const id = await declare({ title: 'impossible actions' });
  await ask('POST', `/${id}/resolve`);
  const { status, body } = await ask('POST', `/${id}/acknowledge`);
  t.is(status, 409);
  t.regex(body.message, /is resolved and cannot become acknowledged/);
});

test('an incident is merged into one that goes on, once, and not in a circle', async (t) => {
  const [one, other, ended] = [
    await declare({ title: 'one' }),
    await declare({ title: 'other' }),
    await declare({ title: 'ended' }),
  ];
  await ask('POST', `/${ended}/resolve`);
  const merge = (id: string, mergedInto: string) => ask('PATCH', `/${id}`, { status: 'merged', mergedInto });
  t.is((await merge(one, ended)).status, 409);
  t.is((await merge(one, one)).status, 400);
  t.is((await merge(one, 'nothing')).status, 400);
  const merged = await merge(one, other);
  t.is(merged.body.status, 'merged');
  t.is((await merge(one, other)).body.version, merged.body.version);
  t.is((await merge(one, ended)).status, 409);
  t.is((await merge(other, one)).status, 409);
  for (const action of ['acknowledge', 'resolve', 'reopen'])
    t.regex((await ask('POST', `/${one}/${action}`)).body.message, /is merged/);
  const { body } = await ask('GET', `?mergedInto=${other}`);
  t.deepEqual(
    body.items.map(({ id }: { readonly id: string }) => id),
    [one],
  );
});

test('a new incident is open, roles are of users of the organization, and viewers change nothing', async (t) => {
  t.is((await ask('POST', '', { title: 'x', status: 'resolved' })).status, 400);
  const refused = await ask('POST', '', { title: 'x', roles: [{ role: 'commander', userId: 'nobody' }] });
  t.is(refused.body.details[0].path, 'roles.0.userId');
  t.is((await ask('POST', '', { title: 'x' }, 'viewer')).status, 403);
  const id = await declare({ title: 'for viewers' });
  t.is((await ask('POST', `/${id}/resolve`, undefined, 'viewer')).status, 403);
  t.is((await ask('GET', `/${id}`, undefined, 'viewer')).body.title, 'for viewers');
});

test('a list is filtered and comes in pages without repeats', async (t) => {
  const wanted = new Set<string>();
  for (let index = 0; index < 5; index += 1) wanted.add(await declare({ title: `page ${index}`, tags: ['paged'] }));
  const resolved = [...wanted][2] as string;
  await ask('POST', `/${resolved}/resolve`);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body }: { body: { items: { id: string }[]; nextCursor: string | null } } = await ask(
      'GET',
      `?tag=paged&limit=2&sort=-openedAt${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    seen.push(...body.items.map(({ id }) => id));
    cursor = body.nextCursor;
  }
  t.deepEqual([...seen].sort(), [...wanted].sort());
  const { body } = await ask('GET', '?tag=paged&status=resolved');
  t.deepEqual(
    body.items.map(({ id }: { readonly id: string }) => id),
    [resolved],
  );
});
