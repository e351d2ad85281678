/** Pages of incidents through the API: declared with a policy, shown on the timeline, acknowledged by their links. */
import test from 'ava';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { escalateDue } from '../../api/groups/incidents/escalate.ts';
import { createMailQueue } from '../../api/mail/queue.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { memberships } from '../../schemas/resources/user.ts';
import { createAcknowledgeLink } from '../../subjects/on-call/acknowledge-link.ts';
import { getPageGroupKey } from '../../subjects/on-call/page.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness.close());

const request = (method: string, path: string, body?: object, as = 'editor') =>
  harness.request(method, path, { as, ...(body && { body }) } as never);

const userOf = async (role: string): Promise<string> => {
  const { items } = await harness.documents.forTenant('a').collection(memberships).list({ filter: { role } });
  return items[0]?.id ?? '';
};

let escalated: Promise<unknown> = Promise.resolve();
const escalateNow = () => {
  const { documents } = harness;
  const ports = {
    documents,
    clock: systemClock,
    log: silentLog,
    counters: createMemoryCounters({ clock: systemClock }),
  };
  const mail = createMailQueue({
    documents,
    clock: systemClock,
    box: createSecretBox('k'.repeat(40)),
    isConfigured: true,
  });
  const settings = { PUBLIC_URL: undefined, HTTP_ADDRESS: '127.0.0.1:8080' };
  return escalateDue({ ...ports, mail, settings }, new AbortController().signal);
};
/** Runs one escalation at a time, because a run skips incidents that another run is processing. */
const escalate = (): Promise<unknown> => {
  escalated = escalated.then(escalateNow);
  return escalated;
};

let created = 0;
const policyOf = async (userId: string, more: object = {}): Promise<string> => {
  const body = { name: `policy ${created++}`, steps: [{ targets: [{ kind: 'person', id: userId }] }], ...more };
  const response = await request('POST', '/api/on-call/escalation-policies', body);
  return response.body.id;
};

const declare = async (fields: object) => (await request('POST', '/api/incidents', fields)).body;

const titles = async (id: string, kind: string): Promise<string[]> => {
  const { body } = await request('GET', `/api/incidents/${id}/timeline`);
  return body.items
    .filter((entry: { readonly kind: string }) => entry.kind === kind)
    .map(({ title }: { readonly title: string }) => title);
};

test('an incident declared with a policy pages, and its timeline shows the pages and their delivery', async (t) => {
  const escalationPolicyId = await policyOf(await userOf('viewer'));
  const refused = await request('POST', '/api/incidents', { title: 'x', escalationPolicyId: 'nothing' });
  t.is(refused.body.details[0].path, 'escalationPolicyId');
  const { id, escalatesAt, openedAt } = await declare({ title: 'declared', escalationPolicyId });
  t.is(escalatesAt, openedAt);
  await escalate();
  t.deepEqual(await titles(id, 'page'), ['paged viewer']);
  const { body } = await request('GET', `/api/incidents/${id}/timeline`);
  const page = body.items.find((entry: { readonly kind: string }) => entry.kind === 'page');
  const row = (attempt: number, state: string) =>
    `('a', '${page.id}', 'email', '${getPageGroupKey(id)}', ${attempt}, '${state}', '', now64(3), now64(3), now64(3))`;
  await harness.columns.execute(
    `INSERT INTO notification_deliveries (tenant_id, delivery_id, channel_type, group_key, attempt, state, answer, at, queued_at, received_at)
    VALUES ${[row(0, 'queued'), row(1, 'delivered'), row(1, 'delivered')].join(', ')}`,
  );
  t.deepEqual(await titles(id, 'delivery'), ['page of viewer: delivered']);
  await request('POST', `/api/incidents/${id}/resolve`);
  t.deepEqual(await titles(id, 'delivery'), ['page of viewer: delivered']);
  t.deepEqual(await titles(id, 'page'), ['paged viewer']);
});

test('an incident that gets a policy later starts it from the first step', async (t) => {
  const { id } = await declare({ title: 'policy later' });
  await escalate();
  t.deepEqual(await titles(id, 'page'), []);
  for (const role of ['viewer', 'admin']) {
    const escalationPolicyId = await policyOf(await userOf(role));
    t.is((await request('PATCH', `/api/incidents/${id}`, { escalationPolicyId })).status, 200);
    await escalate();
  }
  t.deepEqual(await titles(id, 'page'), ['paged viewer', 'paged admin']);
});

const linkOf = async (id: string, role: string): Promise<string> => {
  const page = { tenantId: 'a', incidentId: id, personId: await userOf(role) };
  return (await createAcknowledgeLink(harness.documents, page, { baseUrl: harness.url, nowMs: Date.now() })).token;
};
const acknowledge = (token: string) => request('POST', '/auth/acknowledge-incident', { token }, 'nobody');

test('the link of a page opens a form that changes nothing, and its button acknowledges as the paged person', async (t) => {
  const { id } = await declare({ title: 'by a link' });
  const token = await linkOf(id, 'viewer');
  const page = await request('GET', `/acknowledge?token=${token}`, undefined, 'nobody');
  t.is(page.status, 200);
  t.regex(page.body, /data-to="\/auth\/acknowledge-incident"/);
  // Like a mail scanner that requests every address, with and without the token.
  for (const method of ['GET', 'HEAD'] as const)
    for (const path of ['/acknowledge', '/auth/acknowledge-incident', `/incidents/${id}`])
      for (const more of ['', `?token=${token}`, `/${token}`, `?token=${token}&confirm=true`]) {
        const { status } = await fetch(`${harness.url}${path}${more}`, { method, redirect: 'manual' });
        t.true(status < 500, `${method} ${path}${more}: ${status}`);
      }
  t.like((await request('GET', `/api/incidents/${id}`)).body, { status: 'open', version: 1 });

  t.deepEqual((await acknowledge(token)).body, { title: 'by a link', status: 'acknowledged' });
  const { body: acknowledged } = await request('GET', `/api/incidents/${id}`);
  t.is(acknowledged.acknowledgedBy, await userOf('viewer'));
  t.is((await acknowledge(token)).status, 200);
  t.is((await request('GET', `/api/incidents/${id}`)).body.version, acknowledged.version);
  const { body } = await request('GET', `/api/incidents/${id}/timeline`);
  const entry = body.items.find(({ kind }: { readonly kind: string }) => kind === 'acknowledgement');
  t.deepEqual(entry.actor, { type: 'user', id: await userOf('viewer') });

  await request('POST', `/api/incidents/${id}/resolve`);
  const late = await acknowledge(token);
  t.is(late.status, 409);
  t.regex(late.body.message, /is resolved/);
});

test('a link that is wrong, too old, or of a blocked person acknowledges nothing', async (t) => {
  const { id } = await declare({ title: 'no link' });
  t.is((await acknowledge('wrong')).body.error, 'TOKEN_INVALID');
  const page = { tenantId: 'a', incidentId: id, personId: await userOf('viewer') };
  const eightDays = 8 * 86_400_000;
  const old = await createAcknowledgeLink(harness.documents, page, { baseUrl: '', nowMs: Date.now() - eightDays });
  t.is((await acknowledge(old.token)).body.error, 'TOKEN_INVALID');
  const token = await linkOf(id, 'auditor');
  await harness.documents
    .forTenant('a')
    .collection(memberships)
    .update(await userOf('auditor'), { disabled: true });
  t.is((await acknowledge(token)).body.error, 'TOKEN_INVALID');
  t.is((await request('GET', `/api/incidents/${id}`)).body.status, 'open');
});

test('a preview shows who would be paged when, and which steps would page nobody', async (t) => {
  const [admin, viewer] = [await userOf('admin'), await userOf('viewer')];
  const outside = { times: [{ startTime: '00:00', endTime: '00:01' }], location: 'UTC' };
  const steps = [
    { targets: [{ kind: 'person', id: admin }] },
    { targets: [{ kind: 'person', id: admin }], afterMinutes: 10, hours: [outside] },
    { targets: [{ kind: 'person', id: viewer }], afterMinutes: 5 },
  ];
  const id = await policyOf(admin, { steps });
  const path = `/api/on-call/escalation-policies/${id}`;
  t.is((await request('GET', path, undefined, 'viewer')).body.preview, undefined);
  const { body } = await request('GET', `${path}?preview=true&at=2026-11-25T10:00:00Z`, undefined, 'viewer');
  const person = (step: number, of: string, name: string) => ({ round: 0, step, kind: 'person', id: of, name });
  t.deepEqual(body.preview, [
    { at: '2026-11-25T10:00:00.000Z', pages: [person(0, admin, 'admin')], skipped: [] },
    {
      at: '2026-11-25T10:10:00.000Z',
      pages: [person(2, viewer, 'viewer')],
      skipped: [{ step: 1, reason: 'outside-hours' }],
    },
  ]);
});

test('shifts are returned as a calendar by the format parameter or the Accept header, with names', async (t) => {
  const layer = { name: 'first', startsAt: '2026-11-23T09:00', participants: [[await userOf('viewer')]] };
  const body = { name: 'calendar', timeZone: 'UTC', layers: [{ ...layer, rotation: { every: 1, unit: 'weeks' } }] };
  const { body: schedule } = await request('POST', '/api/on-call/schedules', body);
  const path = `/api/on-call/schedules/${schedule.id}/shifts`;
  const calendar = await request('GET', `${path}?format=ics`, undefined, 'viewer');
  t.is(calendar.headers.get('content-type'), 'text/calendar; charset=utf-8');
  t.regex(calendar.body, /^BEGIN:VCALENDAR/);
  t.regex(calendar.body, /SUMMARY:On call: viewer/);
  const accepted = await harness.request('GET', path, { as: 'viewer', headers: { accept: 'text/calendar' } });
  t.regex(accepted.body, /^BEGIN:VCALENDAR/);
  t.true(Array.isArray((await request('GET', path)).body.items));
});

test('a policy with an open incident cannot be deleted, and the error names the incident', async (t) => {
  const escalationPolicyId = await policyOf(await userOf('viewer'));
  const path = `/api/on-call/escalation-policies/${escalationPolicyId}`;
  const { id } = await declare({ title: 'paging by it', escalationPolicyId });
  for (const verb of ['acknowledge', 'resolve']) {
    const refused = await request('DELETE', path);
    t.is(refused.status, 409);
    t.regex(refused.body.message, new RegExp(`incident “paging by it” \\(${id}\\)`));
    await request('POST', `/api/incidents/${id}/${verb}`);
  }
  t.is((await request('DELETE', path)).status, 200);
});

test('the feed shows when an incident is declared, acknowledged, resolved and reopened, and open incidents need attention', async (t) => {
  const { id } = await declare({ title: 'in the feed', severity: 'critical' });
  for (const verb of ['acknowledge', 'resolve', 'reopen']) await request('POST', `/api/incidents/${id}/${verb}`);
  const { body } = await request('GET', '/api/events?kinds=incident&limit=200', undefined, 'viewer');
  const own = body.items.filter(({ details }: { readonly details: object }) => JSON.stringify(details).includes(id));
  t.deepEqual(
    own.map(({ title }: { readonly title: string }) => title),
    ['reopened', 'resolved', 'acknowledged', 'declared'].map((verb) => `Incident ${verb}: in the feed`),
  );
  const config = await request('GET', '/api/events?kinds=config&limit=200', undefined, 'viewer');
  t.false(JSON.stringify(config.body).includes(id));
  const { body: overview } = await request('GET', '/api/overview?attention=true', undefined, 'viewer');
  const item = overview.attention.items.find(({ detail }: { readonly detail: string }) => detail.endsWith(id));
  t.is(item.kind, 'incident');
  t.regex(item.reason, /^critical, since .*: not acknowledged$/);
  t.is((await request('GET', item.detail, undefined, 'viewer')).status, 200);
});

// Runs alone: other tests that page would change the list between the count and the read.
test.serial('each page count equals the length of its list', async (t) => {
  const viewer = await userOf('viewer');
  const escalationPolicyId = await policyOf(viewer);
  await declare({ title: 'counted', escalationPolicyId });
  await escalate();
  const { body } = await request('GET', '/api/incidents/metrics', undefined, 'viewer');
  const { body: all } = await request('GET', '/api/incidents/pages?limit=1000', undefined, 'viewer');
  const { pages } = body;
  t.true(pages.pages > 0);
  t.is(all.total, pages.pages);
  for (const { userId, pages: count, atNight } of pages.byPerson) {
    const of = `userId=${userId}&to=${body.to}`;
    t.is((await request('GET', `/api/incidents/pages?${of}`, undefined, 'viewer')).body.total, count);
    t.is((await request('GET', `/api/incidents/pages?${of}&atNight=true`, undefined, 'viewer')).body.total, atNight);
  }
  const group = body.byPolicy.find(
    (one: { readonly escalationPolicyId: string }) => one.escalationPolicyId === escalationPolicyId,
  );
  const { body: list } = await request(
    'GET',
    `/api/incidents?escalationPolicyId=${escalationPolicyId}`,
    undefined,
    'viewer',
  );
  t.is(group.incidents, list.items.length);
});
