/** Schedules, overrides, shifts and escalation policies through the API, with a clock that the test controls. */
import test from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { memberships } from '../../schemas/resources/user.ts';
import { readEscalationPolicy, readOnCall } from '../../subjects/on-call/read-on-call.ts';
import { startHarness } from './api-harness.ts';

/** Shorter than the lifetime of a session token. */
const stepMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const clock = { ms: Math.floor(Date.now() / dayMs) * dayMs + 10 * hourMs };
const now = (): number => clock.ms;
const harness = await startHarness({ now, openDocuments: (path) => openSqliteDocuments({ path, clock: { now } }) });
test.after.always(() => harness.close());

const schedules = '/api/on-call/schedules';
const policies = '/api/on-call/escalation-policies';
const own = () => harness.documents.forTenant('a');
const iso = (ms: number): string => new Date(ms).toISOString();
const wall = (ms: number): string => iso(ms).slice(0, 16);
const today = clock.ms;

const people = async (): Promise<readonly [string, string, string]> => {
  const { items } = await own().collection(memberships).list({ limit: 10 });
  // Eve gets blocked, so she must not be a user that sends requests.
  const canRequest = ({ role }: { readonly role: string }): boolean =>
    ['viewer', 'editor', 'admin', 'owner'].includes(role);
  const [ann = '', ben = ''] = items.filter(canRequest).map(({ id }) => id);
  const [eve = ''] = items.filter((each) => !canRequest(each)).map(({ id }) => id);
  return [ann, ben, eve];
};
const [ann, ben, eve] = await people();

let created = 0;
const bodyOf = (participants: string[][], more: object = {}) => ({
  name: `schedule ${created++}`,
  timeZone: 'UTC',
  layers: [
    {
      name: 'first',
      startsAt: wall(today - 10 * hourMs),
      participants,
      rotation: { every: 1, unit: 'days' },
      ...more,
    },
  ],
});
const create = async (participants: string[][]) => {
  const body = bodyOf(participants);
  const response = await harness.request('POST', schedules, { body });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return { ...body, id: String(response.body.id) };
};
const at = async (id: string, ms: number): Promise<string[]> => {
  const response = await harness.request('GET', `/api/on-call/now?scheduleId=${id}&at=${iso(ms)}`, { as: 'viewer' });
  return response.body.items[0]?.userIds;
};

test.serial('the on-call user follows the rotation, and past shifts stay unchanged through every edit', async (t) => {
  clock.ms = today;
  const { id, ...body } = await create([[ann], [ben]]);
  t.deepEqual(await at(id, today), [ann]);
  t.deepEqual(await at(id, today + dayMs), [ben]);
  clock.ms = today + stepMs;
  const changed = { ...body, layers: [{ ...body.layers[0], participants: [[eve]] }] };
  const response = await harness.request('PUT', `${schedules}/${id}`, {
    body: changed,
    headers: { 'if-match': '"1"' },
  });
  t.is(response.status, 200, JSON.stringify(response.body));
  t.is(response.headers.get('etag'), '"2"');
  t.deepEqual(await at(id, today + stepMs - 1), [ann]);
  t.deepEqual(await at(id, today + stepMs), [eve]);
  clock.ms = today + 2 * stepMs;
  t.is((await harness.request('DELETE', `${schedules}/${id}`)).status, 200);
  t.deepEqual(await at(id, today + stepMs), [eve]);
  const all = await harness.request('GET', '/api/on-call/now');
  t.false(JSON.stringify(all.body).includes(id));
});

test.serial('a dry run lists the on-call changes, and writes nothing', async (t) => {
  clock.ms = today;
  const { id, ...body } = await create([[ann], [ben]]);
  const changed = { ...body, layers: [{ ...body.layers[0], participants: [[ann], [eve]] }] };
  const { status, body: dryRun } = await harness.request('PUT', `${schedules}/${id}?dryRun=true&days=2`, {
    body: changed,
  });
  t.is(status, 200, JSON.stringify(dryRun));
  const [from, to] = [today + 14 * hourMs, today + 38 * hourMs];
  t.deepEqual(dryRun.differences, [{ from: iso(from), to: iso(to), before: [ben], after: [eve] }]);
  t.is((await harness.request('GET', `${schedules}/${id}`)).body.version, 1);
});

test.serial('users who may edit on-call schedules get the names of all members except blocked ones', async (t) => {
  clock.ms = today;
  const getOnCall = async (as: Parameters<typeof harness.request>[2]) =>
    harness.request('GET', '/api/on-call/now?names=all', as);
  const { body } = await getOnCall({ as: 'editor' });
  t.deepEqual(
    [body.names[ann], body.names[ben], body.names[eve]].map((name) => typeof name),
    ['string', 'string', 'string'],
  );
  t.is(Object.keys(body.names).length, (await own().collection(memberships).list({ limit: 100 })).items.length);
  t.is((await harness.request('PATCH', `/api/users/${eve}`, { as: 'owner', body: { disabled: true } })).status, 200);
  t.false(eve in (await getOnCall({ as: 'editor' })).body.names);
  t.is((await harness.request('PATCH', `/api/users/${eve}`, { as: 'owner', body: { disabled: false } })).status, 200);
  t.is((await getOnCall({ as: 'viewer' })).status, 403);
});

test.serial('an override takes precedence while it lasts; after its deletion, its past shifts remain', async (t) => {
  clock.ms = today;
  const { id } = await create([[ann]]);
  const body = { from: iso(today), to: iso(today + 4 * hourMs), userIds: [ben] };
  const { body: override } = await harness.request('POST', `${schedules}/${id}/overrides`, { body });
  t.deepEqual(await at(id, today + 3 * hourMs), [ben]);
  t.deepEqual(await at(id, today + 4 * hourMs), [ann]);
  clock.ms = today + stepMs;
  t.is((await harness.request('DELETE', `${schedules}/${id}/overrides/${override.id}`)).status, 200);
  t.is((await harness.request('DELETE', `${schedules}/${id}/overrides/${override.id}`)).status, 404);
  t.deepEqual(await at(id, today), [ben]);
  t.deepEqual(await at(id, today + 3 * hourMs), [ann]);
});

test.serial('an invalid override or layer is refused with its path', async (t) => {
  clock.ms = today;
  const { id, ...body } = await create([[ann]]);
  const nextHour = { from: iso(today), to: iso(today + hourMs) };
  const overrides = `${schedules}/${id}/overrides`;
  for (const [given, path] of [
    [{ ...nextHour, userIds: ['nobody'] }, 'userIds'],
    [{ ...nextHour, userIds: [ann], layer: 'none' }, 'layer'],
    [{ from: iso(today - hourMs), to: iso(today), userIds: [ann] }, 'to'],
    [{ from: iso(today + hourMs), to: iso(today), userIds: [ann] }, 'to'],
  ] as const) {
    const response = await harness.request('POST', overrides, { body: given });
    t.is(response.status, 400);
    t.is(response.body.details[0].path, path);
  }
  const unknown = await harness.request('POST', schedules, { body: bodyOf([[ann], ['nobody']]) });
  t.is(unknown.body.details[0].path, 'layers.0.participants');
  t.is(
    (await harness.request('POST', overrides, { body: { ...nextHour, userIds: [ben], layer: 'first' } })).status,
    200,
  );
  const renamed = { ...body, layers: [{ ...body.layers[0], name: 'other' }] };
  const apiResponse = await harness.request('PUT', `${schedules}/${id}`, { body: renamed });
  t.is(apiResponse.status, 400);
  t.is(apiResponse.body.details[0].path, 'layers');
});

test.serial('a user who was blocked and returned was not on call meanwhile', async (t) => {
  clock.ms = today;
  const { id } = await create([[eve]]);
  for (const [step, disabled] of [
    [1, true],
    [2, false],
  ] as const) {
    clock.ms = today + step * stepMs;
    const changed = await harness.request('PATCH', `/api/users/${eve}`, { as: 'owner', body: { disabled } });
    t.is(changed.status, 200, JSON.stringify(changed.body));
  }
  const [from, to] = [today, today + 3 * stepMs].map(iso);
  const { body } = await harness.request('GET', `${schedules}/${id}/shifts?from=${from}&to=${to}`);
  t.deepEqual(body.gaps, [{ from: iso(today + stepMs), to: iso(today + 2 * stepMs), reason: 'unreachable' }]);
  t.deepEqual(await at(id, today + stepMs), []);
  t.deepEqual(await at(id, today + 2 * stepMs), [eve]);
});

test.serial('shifts cover the range, with gaps and reasons, and show the load of each person', async (t) => {
  clock.ms = today;
  const { id } = await create([[ann], []]);
  const to = today + 38 * hourMs;
  const { body } = await harness.request('GET', `${schedules}/${id}/shifts?from=${iso(today)}&to=${iso(to)}`);
  const midnight = iso(today + 14 * hourMs);
  const shift = { from: iso(today), to: midnight, userIds: [ann], layer: 'first', overrideId: null };
  t.deepEqual(body.items, [shift]);
  t.is(body.layers, undefined);
  const perLayer = `${schedules}/${id}/shifts?from=${iso(today)}&to=${iso(to)}&perLayer=true`;
  const { layer, ...layerShift } = shift;
  t.deepEqual((await harness.request('GET', perLayer)).body.layers, [{ name: layer, items: [layerShift] }]);
  t.deepEqual(body.gaps, [{ from: midnight, to: iso(to), reason: 'no-one' }]);
  t.is(body.people[0].hours, 14);
  t.deepEqual(Object.keys(body.names), [ann]);
  const long = await harness.request('GET', `${schedules}/${id}/shifts?to=${iso(today + 401 * dayMs)}`);
  t.is(long.status, 400);
  t.is(long.body.details[0].path, 'to');
});

test.serial('a policy references existing schedules, people and channels, and prevents their deletion', async (t) => {
  clock.ms = today;
  const { id } = await create([[ann]]);
  const settings = { type: 'webhook', url: 'https://hooks.example.com/x' };
  const channel = await harness.request('POST', '/api/notification-channels', { body: { name: 'pages', settings } });
  const targets = [
    { kind: 'schedule', id },
    { kind: 'person', id: eve },
    { kind: 'channel', id: channel.body.id },
  ];
  for (const index of [1, 2]) {
    const wrong = targets.with(index, { ...targets[index], id: 'none' } as (typeof targets)[number]);
    const response = await harness.request('POST', policies, { body: { name: 'wrong', steps: [{ targets: wrong }] } });
    t.is(response.status, 400);
    t.is(response.body.details[0].path, `steps.0.targets.${index}.id`);
  }
  const created = await harness.request('POST', policies, { body: { name: 'shop', steps: [{ targets }], repeat: 1 } });
  t.is(created.status, 200, JSON.stringify(created.body));
  for (const path of [`${schedules}/${id}`, `/api/notification-channels/${channel.body.id}`, `/api/users/${eve}`]) {
    const apiResponse = await harness.request('DELETE', path);
    t.is(apiResponse.status, 409, path);
    t.regex(apiResponse.body.message, /shop/);
  }
  t.is((await readEscalationPolicy(own(), created.body.id))?.repeat, 1);
  const [onCall] = await readOnCall(own(), { atMs: today, nowMs: today, scheduleId: id });
  t.deepEqual(onCall?.userIds, [ann]);
});

test.serial(
  'a maintenance window lists its next occurrences, and invalid recurrence rules or matchers are refused',
  async (t) => {
    clock.ms = today;
    const windows = '/api/maintenance-windows';
    const body = {
      name: 'upgrade',
      timeZone: 'UTC',
      startsAt: wall(today - 7 * dayMs),
      durationMinutes: 60,
      recurrence: 'FREQ=WEEKLY',
      matchers: [{ name: 'service', value: 'cart' }],
    };
    const { status, body: shown } = await harness.request('POST', windows, { body });
    t.is(status, 200, JSON.stringify(shown));
    t.true(shown.isActive);
    t.deepEqual(shown.times[0], { from: iso(today), to: iso(today + hourMs) });
    t.deepEqual(shown.times[1], { from: iso(today + 7 * dayMs), to: iso(today + 7 * dayMs + hourMs) });
    for (const [wrong, path] of [
      [{ recurrence: 'FREQ=HOURLY' }, 'recurrence'],
      [{ matchers: [] }, 'matchers'],
      [{ matchers: [{ name: 'service', operator: '=~', value: '(' }] }, 'matchers.0.value'],
      [{ projectIds: ['none'] }, 'projectIds'],
      [{ timeZone: 'Mars/Base' }, 'timeZone'],
    ] as const) {
      const response = await harness.request('POST', windows, { body: { ...body, name: 'wrong', ...wrong } });
      t.is(response.status, 400);
      t.is(response.body.details[0].path, path);
    }
  },
);
