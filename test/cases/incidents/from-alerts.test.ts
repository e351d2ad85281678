/** Incidents opened by alert groups: one per group, despite repeats, redelivery and concurrent writers. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../../adapters/documents-sqlite/documents-sqlite.ts';
import { applyAlerts } from '../../../processors/incidents/consume-alerts.ts';
import type { Notification } from '../../../schemas/notifications.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { EscalationPolicyFields, escalationPolicies } from '../../../schemas/resources/escalation-policy.ts';
import { type Incident, incidents } from '../../../schemas/resources/incident.ts';
import { changeState } from '../../../subjects/incidents/state.ts';

const openedMs = Date.parse('2026-11-25T10:00:00.000Z');
const minute = 60_000;
const at = (minutes: number): string => new Date(openedMs + minutes * minute).toISOString();

interface Firing {
  readonly id: string;
  /** Minutes since the start. */
  readonly since: number;
  readonly severity?: string;
  readonly status?: 'firing' | 'resolved';
}

const makeNotification = (
  minutes: number,
  alerts: readonly Firing[],
  more: Partial<Notification> = {},
): Notification => ({
  tenantId: 'acme',
  id: `n${minutes}`,
  channelId: '',
  escalationPolicyId: 'policy',
  receiver: 'team',
  groupKey: '{}:{alertname="Slow"}',
  groupLabels: { alertname: 'Slow' },
  commonLabels: { alertname: 'Slow' },
  commonAnnotations: {},
  status: 'firing',
  reason: 'first',
  truncatedAlerts: 0,
  atMs: openedMs + minutes * minute,
  firing: alerts.length,
  resolved: 0,
  alerts: alerts.map(({ id, since, severity = 'warning', status = 'firing' }) => ({
    alertId: id,
    ruleId: 'r',
    status,
    labels: { severity, service: `of-${id}` },
    annotations: {},
    value: 1,
    startsAtMs: openedMs + since * minute,
  })),
  ...more,
});

const open = async (): Promise<Documents> =>
  openSqliteDocuments({ path: join(mkdtempSync(join(tmpdir(), 'incidents-')), 'documents.db') });
const all = async (documents: Documents, tenantId = 'acme') =>
  (
    await documents
      .forTenant(tenantId)
      .collection(incidents)
      .list({ sort: { openedAt: 1 } })
  ).items;

const resolve = async (documents: Documents, id: string, minutes: number): Promise<void> => {
  const stored = documents.forTenant('acme').collection(incidents);
  const found = await stored.find(id);
  if (found === undefined) throw new Error('no incident');
  const { id: _, version, createdAt: __, updatedAt: ___, ...fields } = found;
  const next = changeState<Incident>(fields, 'resolved', { by: 'u', at: at(minutes) });
  await stored.replace(id, next as Incident, version);
};

test('an alert group gives one incident, regardless of repeated or concurrent notifications', async (t) => {
  const documents = await open();
  const first = makeNotification(0, [{ id: 'a', since: -1 }]);
  await Promise.all(Array.from({ length: 8 }, () => applyAlerts(documents, first)));
  const more = makeNotification(5, [
    { id: 'a', since: -1 },
    { id: 'b', since: 4, severity: 'critical' },
  ]);
  await Promise.all(Array.from({ length: 8 }, () => applyAlerts(documents, more)));
  await applyAlerts(documents, first);
  const found = await all(documents);
  t.is(found.length, 1);
  t.deepEqual(found[0]?.alertIds, ['a', 'b']);
  t.deepEqual(found[0]?.services, ['of-a', 'of-b']);
  t.is(found[0]?.severity, 'critical');
  t.is(found[0]?.escalationPolicyId, 'policy');
  t.is(found[0]?.title, 'Slow');
  t.is(found[0]?.version, 2);
  await documents.close();
});

test('the incident-opened event is emitted again with its original id', async (t) => {
  const documents = await open();
  const first = makeNotification(0, [{ id: 'a', since: -1 }]);
  const [once] = await applyAlerts(documents, first);
  const [again] = await applyAlerts(documents, first);
  t.truthy(once);
  t.deepEqual(again, once);
  t.deepEqual(await applyAlerts(documents, makeNotification(60, [{ id: 'a', since: -1 }], { reason: 'repeated' })), []);
  await documents.close();
});

test('a policy that the receiver gets while the alerts fire escalates their incident', async (t) => {
  const documents = await open();
  const alerts = [{ id: 'a', since: -1 }];
  const first = makeNotification(0, alerts);
  await applyAlerts(documents, first);
  const replaced = { escalationPolicyId: 'another' };
  await applyAlerts(documents, makeNotification(5, alerts, replaced));
  await applyAlerts(documents, first);
  const [incident, ...others] = await all(documents);
  t.deepEqual([incident?.escalationPolicyId, incident?.escalatesAt, others], ['another', at(5), []]);
  // The receiver did not change: the alert ended and fires again, or the notification is a repeat.
  await applyAlerts(documents, makeNotification(6, [{ id: 'a', since: 6 }], { escalationPolicyId: 'third' }));
  await applyAlerts(documents, makeNotification(7, alerts, { escalationPolicyId: 'third', reason: 'repeated' }));
  t.is((await all(documents))[0]?.escalationPolicyId, 'another');
  await documents.close();
});

test('a manually set severity is preserved when the same alerts are received again', async (t) => {
  const documents = await open();
  await applyAlerts(documents, makeNotification(0, [{ id: 'a', since: -1, severity: 'critical' }]));
  const [found] = await all(documents);
  await documents
    .forTenant('acme')
    .collection(incidents)
    .update(found?.id ?? '', { severity: 'info' }, 1);
  await applyAlerts(documents, makeNotification(60, [{ id: 'a', since: -1, severity: 'critical' }]));
  t.is((await all(documents))[0]?.severity, 'info');
  await documents.close();
});

test('after resolution the same alerts open nothing, an alert soon after reopens the incident, and a late one opens another', async (t) => {
  const documents = await open();
  await applyAlerts(documents, makeNotification(0, [{ id: 'a', since: -1 }]));
  const [one] = await all(documents);
  const id = one?.id ?? '';
  await resolve(documents, id, 10);
  await applyAlerts(documents, makeNotification(11, [{ id: 'a', since: -1 }]));
  t.is((await all(documents))[0]?.status, 'resolved');
  const soon = makeNotification(20, [{ id: 'a', since: 19 }]);
  await applyAlerts(documents, soon);
  await applyAlerts(documents, soon);
  const [reopened] = await all(documents);
  t.is(reopened?.status, 'open');
  t.is(reopened?.reopenedAt, at(20));
  await resolve(documents, id, 30);
  // An alert that continues to fire is part of the next incident too, and does not prevent it.
  const late = makeNotification(120, [
    { id: 'a', since: 19 },
    { id: 'b', since: 119 },
  ]);
  for (let time = 0; time < 3; time++) await applyAlerts(documents, late);
  const both = await all(documents);
  t.deepEqual(
    both.map(({ status, alertIds }) => ({ status, alertIds })),
    [
      { status: 'resolved', alertIds: ['a'] },
      { status: 'open', alertIds: ['a', 'b'] },
    ],
  );
  // Redelivery of old notifications changes neither incident.
  for (const old of [makeNotification(0, [{ id: 'z', since: -1 }]), soon]) await applyAlerts(documents, old);
  t.deepEqual(await all(documents), both);
  await documents.close();
});

test('an alert that was muted until its incident was resolved reopens it, and opens another incident long after that', async (t) => {
  const documents = await open();
  await applyAlerts(documents, makeNotification(0, [{ id: 'a', since: -1 }]));
  const id = (await all(documents))[0]?.id ?? '';
  await resolve(documents, id, 10);
  const soon = makeNotification(15, [{ id: 'muted', since: -1 }]);
  for (let time = 0; time < 3; time++) await applyAlerts(documents, soon);
  t.deepEqual(
    (await all(documents)).map(({ status, alertIds }) => [status, alertIds]),
    [['open', ['a', 'muted']]],
  );
  await resolve(documents, id, 20);
  const late = makeNotification(500, [{ id: 'muted too', since: -1 }]);
  for (let time = 0; time < 3; time++) await applyAlerts(documents, late);
  t.deepEqual(
    (await all(documents)).map(({ status, alertIds }) => [status, alertIds]),
    [
      ['resolved', ['a', 'muted']],
      ['open', ['muted too']],
    ],
  );
  await documents.close();
});

test('the policy of an incident defines how long an alert reopens it', async (t) => {
  const documents = await open();
  const steps = [{ targets: [{ kind: 'person', id: 'ann' }] }];
  const policy = EscalationPolicyFields.parse({ name: 'patient', steps, reopenWithinMinutes: 120 });
  await documents
    .forTenant('acme')
    .collection(escalationPolicies)
    .insert({ id: 'policy', ...policy });
  await applyAlerts(documents, makeNotification(0, [{ id: 'a', since: -1 }]));
  const id = (await all(documents))[0]?.id ?? '';
  await resolve(documents, id, 10);
  await applyAlerts(documents, makeNotification(125, [{ id: 'a', since: 124 }]));
  t.deepEqual(
    (await all(documents)).map(({ status }) => status),
    ['open'],
  );
  await resolve(documents, id, 126);
  await applyAlerts(documents, makeNotification(250, [{ id: 'a', since: 249 }]));
  t.deepEqual(
    (await all(documents)).map(({ status }) => status),
    ['resolved', 'open'],
  );
  await documents.close();
});

test('alerts of a merged incident join the surviving incident', async (t) => {
  const documents = await open();
  await applyAlerts(documents, makeNotification(0, [{ id: 'a', since: -1 }]));
  await applyAlerts(documents, makeNotification(1, [{ id: 'x', since: 0 }], { groupKey: 'another' }));
  const [one, other] = await all(documents);
  const merged = { status: 'merged', mergedInto: other?.id ?? '' } as const;
  await documents
    .forTenant('acme')
    .collection(incidents)
    .update(one?.id ?? '', merged, 1);
  await applyAlerts(documents, makeNotification(5, [{ id: 'b', since: 4 }]));
  const found = await all(documents);
  t.is(found.length, 2);
  t.deepEqual(found[1]?.alertIds, ['x', 'b']);
  await documents.close();
});

test('organizations have separate incidents, and an alert that only ended opens no incident', async (t) => {
  const documents = await open();
  await applyAlerts(documents, makeNotification(0, [{ id: 'a', since: -1 }]));
  await applyAlerts(documents, makeNotification(0, [{ id: 'a', since: -1 }], { tenantId: 'other' }));
  await applyAlerts(
    documents,
    makeNotification(0, [{ id: 'c', since: -1, status: 'resolved' }], { tenantId: 'third' }),
  );
  t.is((await all(documents)).length, 1);
  t.is((await all(documents, 'other')).length, 1);
  t.is((await all(documents, 'third')).length, 0);
  await documents.close();
});
