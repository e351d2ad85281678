/**
 * Two organizations: references, pages and acknowledgements of one never reach the other, and links work only for their
 * purpose.
 */
import test from 'ava';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { escalateDue } from '../../api/groups/incidents/escalate.ts';
import { createToken } from '../../api/identity/accounts/one-time-tokens.ts';
import { createMailQueue } from '../../api/mail/queue.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import { getFields } from '../../runtime/stored-fields.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { escalationActions } from '../../schemas/resources/escalation.ts';
import { type Incident, incidents } from '../../schemas/resources/incident.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { projects } from '../../schemas/resources/project.ts';
import { memberships } from '../../schemas/resources/user.ts';
import { createAcknowledgeLink } from '../../subjects/on-call/acknowledge-link.ts';
import { type Answer, type Harness, startHarness } from '../end-to-end/api-harness.ts';

let harness: Harness;
const tokens = { a: '', b: '' };
type Tenant = keyof typeof tokens;

const request = (tenant: Tenant, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  harness.request(method, path, { as: `token ${tokens[tenant]}`, ...(body !== undefined && { body }), headers });
const nobody = (method: string, path: string, body?: unknown) =>
  harness.request(method, path, { as: 'nobody', ...(body !== undefined && { body }) });
const make = async (tenant: Tenant, path: string, body: object): Promise<string> => {
  const response = await request(tenant, 'POST', path, body);
  if (response.status !== 200) throw new Error(`POST ${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body.id;
};
const userOf = async (tenant: Tenant, role: string): Promise<string> => {
  const { items } = await harness.documents.forTenant(tenant).collection(memberships).list({ filter: { role } });
  return items[0]?.id ?? '';
};

const [schedules, policies] = ['/api/on-call/schedules', '/api/on-call/escalation-policies'];
const scheduleOf = (userId: string, name: string) => {
  const layer = { name: 'first', startsAt: '2026-01-01T00:00', rotation: { every: 1, unit: 'weeks' } };
  return { name, timeZone: 'UTC', layers: [{ ...layer, participants: [[userId]] }] };
};
const policyOf = (kind: string, id: string, name: string) => ({ name, steps: [{ targets: [{ kind, id }] }] });

/** One entity of each kind that can be referenced by an id. */
const createEntities = async (tenant: Tenant) => {
  const person = await userOf(tenant, 'viewer');
  const stored = harness.documents.forTenant(tenant).collection(projects);
  const hook = { type: 'webhook', url: 'https://example.com/hook' };
  return {
    person,
    schedule: await make(tenant, schedules, scheduleOf(person, 'one')),
    policy: await make(tenant, policies, policyOf('person', person, 'one')),
    channel: await make(tenant, '/api/notification-channels', { name: 'one', settings: hook }),
    contact: await make(tenant, '/api/contacts', { name: 'one', settings: { type: 'ntfy', topic: 'pages' } }),
    incident: await make(tenant, '/api/incidents', { title: 'one' }),
    project: (await stored.insert({ id: `project-${tenant}`, name: 'one', description: '' })).id,
  };
};
type Entities = Awaited<ReturnType<typeof createEntities>>;
let own: Entities;
let otherEntities: Entities;

test.before(async () => {
  harness = await startHarness({ runsJobs: false });
  for (const tenant of ['a', 'b'] as const) tokens[tenant] = await harness.signIn(`owner@${tenant}.example`);
  [own, otherEntities] = [await createEntities('a'), await createEntities('b')];
});
test.after.always(() => harness?.close());

interface Field {
  readonly of: keyof Entities;
  readonly title: string;
  /** The subject of an error message. */
  readonly path: string;
  send(id: string): Promise<Answer>;
}

const incident = (changes: object) => request('a', 'PATCH', `/api/incidents/${own.incident}`, changes);
const newIncident = (more: object) => request('a', 'POST', '/api/incidents', { title: 'new', ...more });
const commander = (userId: string) => ({ roles: [{ role: 'commander', userId }] });
const override = { from: '2036-01-01T00:00:00Z', to: '2036-01-02T00:00:00Z' };
const maintenance = { name: 'new', timeZone: 'UTC', startsAt: '2036-01-01T00:00', durationMinutes: 5 };
const withReceiver = async (receiver: object): Promise<Answer> => {
  const path = '/api/v2/alerts/routing';
  const etag = (await request('a', 'GET', path)).headers.get('etag') ?? '';
  const body = { route: { receiver: 'team' }, receivers: [{ name: 'team', ...receiver }] };
  return request('a', 'PUT', path, body, { 'if-match': etag });
};

const ofPeople: Omit<Field, 'of'>[] = [
  {
    title: 'a rotation of a new schedule',
    path: 'layers.0.participants',
    send: (id) => request('a', 'POST', schedules, scheduleOf(id, 'new')),
  },
  {
    title: 'a rotation of a schedule',
    path: 'layers.0.participants',
    send: (id) => request('a', 'PUT', `${schedules}/${own.schedule}`, scheduleOf(id, 'one')),
  },
  {
    title: 'a rotation in a preview',
    path: 'layers.0.participants',
    send: (id) => request('a', 'PUT', `${schedules}/${own.schedule}?dryRun=true`, scheduleOf(id, 'one')),
  },
  {
    title: 'who is on call instead',
    path: 'userIds',
    send: (id) => request('a', 'POST', `${schedules}/${own.schedule}/overrides`, { ...override, userIds: [id] }),
  },
  { title: 'a role of a new incident', path: 'roles.0.userId', send: (id) => newIncident(commander(id)) },
  { title: 'a role of an incident', path: 'roles.0.userId', send: (id) => incident(commander(id)) },
  {
    title: 'the assignee of a postmortem action',
    path: 'actions.0.ownerId',
    send(ownerId) {
      const body = { actions: [{ text: 'Mend it', ownerId }] };
      return request('a', 'PUT', `/api/incidents/${own.incident}/postmortem`, body, { 'if-match': '"0"' });
    },
  },
];

const ofTargets = (['person', 'channel', 'schedule'] as const).flatMap((kind): Field[] => {
  const path = kind === 'schedule' ? 'steps.targets.id' : 'steps.0.targets.0.id';
  return [
    {
      of: kind,
      title: `a ${kind} of a new policy`,
      path,
      send: (id) => request('a', 'POST', policies, policyOf(kind, id, 'new')),
    },
    {
      of: kind,
      title: `a ${kind} of a policy`,
      path,
      send: (id) => request('a', 'PUT', `${policies}/${own.policy}`, policyOf(kind, id, 'one')),
    },
  ];
});

/** Every field that takes an id in these groups, and fields in other groups that reference them. */
const fields: readonly Field[] = [
  ...ofPeople.map((field): Field => ({ of: 'person', ...field })),
  ...ofTargets,
  {
    of: 'policy',
    title: 'the policy of a new incident',
    path: 'escalationPolicyId',
    send: (escalationPolicyId) => newIncident({ escalationPolicyId }),
  },
  {
    of: 'policy',
    title: 'the policy of an incident',
    path: 'escalationPolicyId',
    send: (escalationPolicyId) => incident({ escalationPolicyId }),
  },
  {
    of: 'policy',
    title: 'the policy of a receiver',
    path: 'receivers.0.escalationPolicyId',
    send: (escalationPolicyId) => withReceiver({ escalationPolicyId }),
  },
  {
    of: 'channel',
    title: 'a channel of a receiver',
    path: 'receivers.0.channelIds',
    send: (id) => withReceiver({ channelIds: [id] }),
  },
  {
    of: 'incident',
    title: 'the incident that another one is merged into',
    path: 'mergedInto',
    send: (mergedInto) => incident({ status: 'merged', mergedInto }),
  },
  {
    of: 'schedule',
    title: 'the schedule of a calendar feed',
    path: 'scheduleId',
    send: (scheduleId) => request('a', 'POST', '/api/on-call/calendar-feeds', { scheduleId }),
  },
  {
    of: 'schedule',
    title: 'the schedule in a request for who is on call',
    path: 'scheduleId',
    send: (id) => request('a', 'GET', `/api/on-call/now?scheduleId=${id}`),
  },
  {
    of: 'project',
    title: 'a project of a maintenance window',
    path: 'projectIds',
    send: (id) => request('a', 'POST', '/api/maintenance-windows', { ...maintenance, projectIds: [id] }),
  },
  {
    of: 'contact',
    title: 'a contact by which I am paged',
    path: 'contacts.0.contactId',
    send: (contactId) => request('a', 'PUT', '/api/preferences', { contacts: [{ contactId }] }),
  },
];

const nothing = 'nothing-of-that-id';
const without = ({ status, body }: Answer, id: string): string =>
  `${status} ${JSON.stringify({ ...body, requestId: '' })}`.replaceAll(id, '{id}');

for (const { of, title, path, send } of fields)
  test.serial(
    `${title} cannot reference another organization, and the error is the same as for an unknown ID`,
    async (t) => {
      const [otherFeed, none] = [await send(otherEntities[of]), await send(nothing)];
      t.is(otherFeed.status, 400, JSON.stringify(otherFeed.body));
      t.is(otherFeed.body.error, 'VALIDATION_FAILED');
      t.is(otherFeed.body.details[0].path, path);
      t.is(without(otherFeed, otherEntities[of]), without(none, nothing));
    },
  );

test.serial('refused requests wrote nothing', async (t) => {
  for (const path of [schedules, policies, '/api/incidents']) {
    const { items } = (await request('a', 'GET', path)).body;
    t.deepEqual([items.length, items[0].version], [1, 1], path);
  }
  t.is((await request('a', 'GET', '/api/maintenance-windows')).body.items.length, 0);
  t.is((await request('a', 'GET', '/api/on-call/calendar-feeds')).body.items.length, 0);
});

const baseUrl = 'https://oiq.example';
const linkOf = async (tenant: Tenant, incidentId: string, personId: string): Promise<string> => {
  const page = { tenantId: tenant, incidentId, personId };
  return (await createAcknowledgeLink(harness.documents, page, { baseUrl, nowMs: Date.now() })).token;
};
const acknowledge = (token: string, headers: Record<string, string> = {}) =>
  harness.request('POST', '/auth/acknowledge-incident', { as: 'nobody', body: { token }, headers });
const stateOf = async (tenant: Tenant, id: string) =>
  (await harness.documents.forTenant(tenant).collection(incidents).find(id))?.status;

test.serial(
  'a link acknowledges the incident of its own organization, whoever sends it and whatever else has that ID',
  async (t) => {
    const id = otherEntities.incident;
    const twin = await harness.documents.forTenant('b').collection(incidents).find(id);
    if (twin !== undefined)
      await harness.documents
        .forTenant('a')
        .collection(incidents)
        .insert({ ...getFields<Incident>(twin), id });
    const person = await userOf('b', 'viewer');
    const token = await linkOf('b', id, person);
    t.is((await acknowledge(token, { authorization: `Bearer ${tokens.a}` })).status, 200);
    t.deepEqual([await stateOf('a', id), await stateOf('b', id)], ['open', 'acknowledged']);
    t.is((await request('b', 'GET', `/api/incidents/${id}`)).body.acknowledgedBy, person);
  },
);

test.serial('a link of a user who moved to another organization no longer acknowledges anything', async (t) => {
  const person = await userOf('a', 'auditor');
  const token = await linkOf('a', own.incident, person);
  await harness.documents.forTenant('a').collection(memberships).delete(person);
  await harness.documents.forTenant('b').collection(memberships).insert({ id: person, role: 'editor' });
  t.is((await acknowledge(token)).body.error, 'TOKEN_INVALID');
  t.is(await stateOf('a', own.incident), 'open');
});

test.serial('a token is valid for one purpose, and is not used up when refused for another', async (t) => {
  const { documents } = harness;
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const userId = await userOf('a', 'editor');
  const reset = await createToken(documents, { purpose: 'reset-password', userId, expiresAt });
  t.is((await acknowledge(reset.token)).body.error, 'TOKEN_INVALID');
  const link = await linkOf('a', own.incident, userId);
  const password = 'another horse battery staple';
  for (const [path, body] of [
    ['/auth/reset-password', { token: link, password }],
    ['/auth/accept-invite', { token: link, name: 'x', password }],
  ] as const)
    t.is((await nobody('POST', path, body)).body.error, 'TOKEN_INVALID', path);
  t.is((await nobody('GET', `/api/on-call/calendars/${link}`)).status, 404);
  t.is((await nobody('POST', '/auth/reset-password', { token: reset.token, password })).status, 200);
  t.is((await acknowledge(link)).status, 200);
  t.is((await request('a', 'POST', `/api/incidents/${own.incident}/resolve`)).status, 200);
  t.is((await request('a', 'POST', `/api/incidents/${own.incident}/reopen`)).status, 200);
});

const feedOf = async (tenant: Tenant, scheduleId: string | null) =>
  (await request(tenant, 'POST', '/api/on-call/calendar-feeds', { scheduleId })).body as {
    readonly id: string;
    readonly path: string;
  };

test.serial(
  'a calendar feed can be listed and revoked only by its own organization, and combined parts of two addresses are invalid',
  async (t) => {
    const [ownFeed, otherFeed] = [await feedOf('a', own.schedule), await feedOf('b', otherEntities.schedule)];
    t.is((await request('a', 'DELETE', `/api/on-call/calendar-feeds/${otherFeed.id}`)).status, 404);
    t.false(JSON.stringify((await request('a', 'GET', '/api/on-call/calendar-feeds')).body).includes(otherFeed.id));
    t.false((await nobody('GET', ownFeed.path)).body.includes(otherEntities.schedule));
    const half = Math.floor(ownFeed.path.length / 2);
    for (const path of [
      ownFeed.path.slice(0, half) + otherFeed.path.slice(half),
      otherFeed.path.slice(0, half) + ownFeed.path.slice(half),
    ])
      t.is((await nobody('GET', path)).status, 404);
    const { status, body } = await nobody('GET', `/api/on-call/calendars/${ownFeed.id}`);
    t.deepEqual([status, body.message], [404, 'the calendar does not exist or was revoked']);
    for (const method of ['HEAD', 'GET', 'POST', 'DELETE'] as const)
      for (const path of [ownFeed.path, `/api/on-call/calendar-feeds/${ownFeed.id}`]) await nobody(method, path);
    t.is((await nobody('GET', ownFeed.path)).status, 200);
  },
);

const box = createSecretBox('k'.repeat(40));
const escalate = () => {
  const { documents } = harness;
  const mail = createMailQueue({ documents, clock: systemClock, box, isConfigured: true });
  const ports = {
    documents,
    mail,
    clock: systemClock,
    log: silentLog,
    counters: createMemoryCounters({ clock: systemClock }),
  };
  const settings = { PUBLIC_URL: undefined, HTTP_ADDRESS: '127.0.0.1:8080' };
  return escalateDue({ ...ports, settings }, new AbortController().signal);
};

test.serial(
  'in a closed organization nobody is paged, no link acknowledges and no feed responds, until it is reopened',
  async (t) => {
    const id = await make('b', '/api/incidents', { title: 'closed', escalationPolicyId: otherEntities.policy });
    const [link, feed] = [await linkOf('b', id, otherEntities.person), await feedOf('b', null)];
    const stored = harness.documents.forTenant(organizationsTenant).collection(organizations);
    const pages = () => harness.documents.forTenant('b').collection(escalationActions).count({ incidentId: id });
    t.is((await nobody('GET', feed.path)).status, 200);
    await stored.update('b', { disabled: true });
    await escalate();
    t.is(await pages(), 0);
    t.is((await acknowledge(link)).body.error, 'TOKEN_INVALID');
    t.is((await nobody('GET', feed.path)).status, 404);
    await stored.update('b', { disabled: false });
    await escalate();
    t.is(await pages(), 1);
    t.is((await nobody('GET', feed.path)).status, 200);
    t.is((await acknowledge(link)).status, 200);
  },
);

test.serial('guessed tokens are refused as wrong, and soon no longer looked up', async (t) => {
  const link = await linkOf('a', own.incident, await userOf('a', 'editor'));
  const guesses = Array.from({ length: 70 }, (_, index) => `${link.slice(0, -2)}${String(index).padStart(2, '0')}`);
  const errors = new Set<string>();
  for (const guess of guesses) errors.add((await acknowledge(guess)).body.error);
  t.deepEqual([...errors], ['TOKEN_INVALID', 'RATE_LIMITED']);
  t.is(await stateOf('a', own.incident), 'open');
});
