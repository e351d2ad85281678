/** Incidents through the API: states, lists, and refused requests. */
import test from 'ava';
import { alertRuleResource } from '../../api/groups/alerts/alert-rule.ts';
import { freezeResolved, resolveEnded } from '../../api/groups/incidents/resolve-incidents.ts';
import { readTelemetryEntries } from '../../api/groups/incidents/timeline-sources.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { alertAcknowledgements } from '../../schemas/resources/alert-rule.ts';
import { EscalationPolicyFields, escalationPolicies } from '../../schemas/resources/escalation-policy.ts';
import { IncidentFields, incidentEvidence, incidents } from '../../schemas/resources/incident.ts';
import { readPlan } from '../../schemas/resources/tenant-plan.ts';
import { initialFields } from '../../subjects/incidents/state.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness.close());

const request = (method: string, path: string, body?: object, as = 'editor') =>
  harness.request(method, `/api/incidents${path}`, { as, ...(body && { body }) } as never);

const declare = async (fields: object): Promise<string> => {
  const { status, body } = await request('POST', '', fields);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.id;
};

test('an action changes an incident once; a repetition returns 200 with the same version', async (t) => {
  const id = await declare({ title: 'repeated actions', services: ['cart'] });
  for (const [action, state] of [
    ['acknowledge', 'acknowledged'],
    ['resolve', 'resolved'],
    ['reopen', 'open'],
  ]) {
    const first = await request('POST', `/${id}/${action}`);
    const second = await request('POST', `/${id}/${action}`);
    t.is(first.body.status, state);
    t.is(second.status, 200);
    t.deepEqual(second.body, first.body);
  }
});

test('an action that the state does not allow is refused with the state', async (t) => {
  const id = await declare({ title: 'impossible actions' });
  await request('POST', `/${id}/resolve`);
  const { status, body } = await request('POST', `/${id}/acknowledge`);
  t.is(status, 409);
  t.regex(body.message, /is resolved and cannot become acknowledged/);
});

test('an incident is merged into an open incident, once, and not in a circle', async (t) => {
  const [one, other, ended] = [
    await declare({ title: 'one' }),
    await declare({ title: 'other' }),
    await declare({ title: 'ended' }),
  ];
  await request('POST', `/${ended}/resolve`);
  const merge = (id: string, mergedInto: string) => request('PATCH', `/${id}`, { status: 'merged', mergedInto });
  t.is((await merge(one, ended)).status, 409);
  t.is((await merge(one, one)).status, 400);
  t.is((await merge(one, 'nothing')).status, 400);
  const merged = await merge(one, other);
  t.is(merged.body.status, 'merged');
  t.is((await merge(one, other)).body.version, merged.body.version);
  t.is((await merge(one, ended)).status, 409);
  t.is((await merge(other, one)).status, 409);
  for (const action of ['acknowledge', 'resolve', 'reopen'])
    t.regex((await request('POST', `/${one}/${action}`)).body.message, /is merged/);
  const { body } = await request('GET', `?mergedInto=${other}`);
  t.deepEqual(
    body.items.map(({ id }: { readonly id: string }) => id),
    [one],
  );
});

test('a new incident is open, roles are assigned to users of the organization, and Viewers cannot change anything', async (t) => {
  t.is((await request('POST', '', { title: 'x', status: 'resolved' })).status, 400);
  const refused = await request('POST', '', { title: 'x', roles: [{ role: 'commander', userId: 'nobody' }] });
  t.is(refused.body.details[0].path, 'roles.0.userId');
  t.is((await request('POST', '', { title: 'x' }, 'viewer')).status, 403);
  const id = await declare({ title: 'for viewers' });
  t.is((await request('POST', `/${id}/resolve`, undefined, 'viewer')).status, 403);
  t.is((await request('GET', `/${id}`, undefined, 'viewer')).body.title, 'for viewers');
});

test('a list is filtered and returned in pages without duplicates', async (t) => {
  const expectedIds = new Set<string>();
  for (let index = 0; index < 5; index += 1)
    expectedIds.add(await declare({ title: `page ${index}`, tags: ['paged'] }));
  const resolved = [...expectedIds][2] as string;
  await request('POST', `/${resolved}/resolve`);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body }: { body: { items: { id: string }[]; nextCursor: string | null } } = await request(
      'GET',
      `?tag=paged&limit=2&sort=-openedAt${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    seen.push(...body.items.map(({ id }) => id));
    cursor = body.nextCursor;
  }
  t.deepEqual([...seen].sort(), [...expectedIds].sort());
  const { body } = await request('GET', '?tag=paged&status=resolved');
  t.deepEqual(
    body.items.map(({ id }: { readonly id: string }) => id),
    [resolved],
  );
});

test('the timeline lists the changes of configuration that concern the services of the incident', async (t) => {
  const createSlo = (name: string, service: string) =>
    harness.request('POST', '/api/slos', { body: { name, service } });
  await createSlo('concerned', 'timeline-service');
  for (const name of ['foreign one', 'foreign two']) await createSlo(name, 'another-service');
  const id = await declare({ title: 'of a service', services: ['timeline-service'] });
  const { items } = (await request('GET', `/${id}/timeline`)).body;
  t.deepEqual(
    items
      .filter(({ kind }: { readonly kind: string }) => kind === 'config')
      .map(({ title }: { readonly title: string }) => title),
    ['service-level-objective.create concerned'],
  );
});

test('the timeline lists who did what, in order, and is frozen when the incident is resolved', async (t) => {
  const id = await declare({ title: 'a timeline' });
  const noted = await request('POST', `/${id}/timeline`, { text: 'cache restarted', at: 'now-2m' });
  t.is(noted.body.kind, 'note');
  t.is((await request('POST', `/${id}/timeline`, { text: 'x', at: 'now+5m' })).status, 400);
  await request('POST', `/${id}/acknowledge`);
  const before = (await request('GET', `/${id}/timeline`)).body;
  const kinds = before.items
    .map(({ kind }: { readonly kind: string }) => kind)
    .filter((kind: string) => kind !== 'config');
  t.deepEqual(kinds, ['note', 'change', 'acknowledgement']);
  t.is(before.evidence, null);
  t.deepEqual(before.missing, []);

  const { body: resolved } = await request('POST', `/${id}/resolve`);
  await request('POST', `/${id}/timeline`, { text: 'written later' });
  const { body: frozen } = await request('GET', `/${id}/timeline`);
  t.is(frozen.evidence.sha256, resolved.evidenceHash);
  t.true(frozen.evidence.isIntact);
  t.is(frozen.items.at(-1).text, 'written later');
  for (const entry of before.items) t.true(frozen.items.some(({ id: of }: { readonly id: string }) => of === entry.id));

  const paged: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body }: { body: { items: { id: string }[]; nextCursor: string | null } } = await request(
      'GET',
      `/${id}/timeline?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    paged.push(...body.items.map((entry) => entry.id));
    cursor = body.nextCursor;
  }
  t.deepEqual(
    paged,
    frozen.items.map((entry: { readonly id: string }) => entry.id),
  );
});

test('evidence modified in the store is reported as not intact', async (t) => {
  const id = await declare({ title: 'touched evidence' });
  await request('POST', `/${id}/resolve`);
  const stored = harness.documents.forTenant('a').collection(incidentEvidence);
  const [found] = (await stored.list({ filter: { incidentId: id } })).items;
  if (found === undefined) throw new Error('there is no frozen evidence');
  await stored.update(found.id, { content: '[]' }, found.version);
  const { body } = await request('GET', `/${id}/timeline`);
  t.false(body.evidence.isIntact);
  t.is(body.missing.length, 1);
});

test('a postmortem starts with facts, respects If-Match, and is exported as Markdown', async (t) => {
  const id = await declare({ title: 'a postmortem', services: ['cart'] });
  await request('POST', `/${id}/resolve`);
  const put = (version: number | undefined, body: object) =>
    harness.request('PUT', `/api/incidents/${id}/postmortem`, {
      as: 'editor',
      body,
      headers: version === undefined ? {} : { 'if-match': `"${version}"` },
    });
  const { body: empty } = await request('GET', `/${id}/postmortem`);
  t.is(empty.version, 0);
  t.deepEqual(empty.facts.services, ['cart']);
  t.is((await put(undefined, { impact: 'x' })).status, 428);
  const written = {
    impact: 'No orders',
    causes: 'A full disk',
    actions: [{ text: 'Watch disks', dueOn: '2026-12-01' }],
  };
  const { body: first } = await put(0, written);
  t.is(first.version, 1);
  t.is((await put(0, { ...written, impact: 'y' })).status, 412);
  t.is((await put(1, written)).body.version, 1);
  const stranger = await put(1, { actions: [{ text: 'x', ownerId: 'nobody' }] });
  t.is(stranger.body.details[0].path, 'actions.0.ownerId');
  const token = await harness.signIn('viewer@a.example');
  const response = await fetch(`${harness.url}/api/incidents/${id}/postmortem?format=markdown`, {
    headers: { authorization: `Bearer ${token}` },
  });
  t.regex(response.headers.get('content-type') ?? '', /^text\/markdown/);
  const text = await response.text();
  t.true(text.startsWith('# a postmortem\n'));
  t.regex(text, /- \[ \] Watch disks \(owner: nobody, due: 2026-12-01\)/);
});

test('each count in the figures equals the length of the list with the same filters', async (t) => {
  const services = ['counted'];
  const ids = [
    await declare({ title: 'one', services }),
    await declare({ title: 'two', services, severity: 'critical' }),
    await declare({ title: 'three', services }),
  ];
  await request('POST', `/${ids[0]}/acknowledge`);
  await request('POST', `/${ids[0]}/resolve`);
  await request('PATCH', `/${ids[2]}`, { status: 'merged', mergedInto: ids[1] });
  const { body: figures } = await request('GET', '/metrics?service=counted');
  const listed = async (more: string) =>
    (await request('GET', `?service=counted&from=${figures.from}&to=${figures.to}${more}`)).body.items.length;
  t.is(figures.incidents, 3);
  t.is(await listed(''), 3);
  for (const status of ['open', 'acknowledged', 'resolved', 'merged'])
    t.is(figures[status], await listed(`&status=${status}`), status);
  t.is(figures.neverAcknowledged, await listed('&acknowledged=never'));
  t.is(figures.timeToResolve.count, 1);
  t.is(figures.bySeverity.find(({ key }: { readonly key: string }) => key === 'critical').incidents, 1);
  t.is((await request('GET', '/metrics?from=yesterday')).status, 400);
});

test('acknowledging an incident acknowledges its firing alerts, for this firing, and adds them to the timeline', async (t) => {
  const { status, body: rule } = await harness.request('POST', '/api/alerts/rules', {
    as: 'editor',
    body: alertRuleResource.example,
  });
  if (status !== 200) throw new Error(JSON.stringify(rule));
  const startedMs = Date.now() - 5000;
  await harness.columns.execute(
    `INSERT INTO alert_states (tenant_id, rule_id, alert_id, evaluated_ms, last_seen, labels, state, severity, value, reason, since_ms, started_ms, groups, firing) VALUES
      ('a', '${rule.id}', 'fires', ${Date.now()}, now64(3), map(), 'firing', 'critical', 5, 'above', ${startedMs}, ${startedMs}, 1, 1),
      ('a', '${rule.id}', 'ended', ${Date.now()}, now64(3), map(), 'inactive', '', 1, '', 0, 0, 1, 0)`,
  );
  await harness.columns.execute(
    `INSERT INTO alert_transitions (tenant_id, id, alert_id, rule_id, rule_version, rule_name, time, from_state, to_state, severity, labels, value, reason, received_at) VALUES
      ('a', 'began', 'fires', '${rule.id}', 1, 'Slow', now64(3) - 5, 'inactive', 'firing', 'critical', map(), 5, 'above', now64(3)),
      ('a', 'elsewhere', 'other', '${rule.id}', 1, 'Slow', now64(3) - 5, 'inactive', 'firing', 'critical', map(), 5, 'above', now64(3)),
      ('b', 'theirs', 'fires', '${rule.id}', 1, 'Slow', now64(3) - 5, 'inactive', 'firing', 'critical', map(), 5, 'above', now64(3))`,
  );
  const id = await declare({ title: 'with alerts', alertIds: ['fires', 'ended'] });
  await request('POST', `/${id}/acknowledge`);
  const marks = harness.documents.forTenant('a').collection(alertAcknowledgements);
  t.is((await marks.find('fires'))?.startedAtMs, startedMs);
  t.is(await marks.find('ended'), undefined);
  const { body } = await request('GET', `/${id}/timeline`);
  const alerts = body.items.filter(({ kind }: { readonly kind: string }) => kind === 'alert');
  t.deepEqual(
    alerts.map((entry: { readonly id: string }) => entry.id),
    ['began'],
  );
  await request('POST', `/${id}/resolve`);
  await harness.columns.execute(
    "ALTER TABLE alert_transitions DELETE WHERE tenant_id = 'a' AND alert_id = 'fires' SETTINGS mutations_sync = 2",
  );
  const { body: timeline } = await request('GET', `/${id}/timeline`);
  t.true(timeline.items.some((entry: { readonly id: string }) => entry.id === 'began'));
});

test('an incident opened by alerts resolves once all have ended for five minutes, with its evidence, and an unknown state is no end', async (t) => {
  const endedMs = Date.now() - 10 * 60_000;
  const alertIds = ['first', 'second'].map((name) => `resolved-${name}`);
  const opened = await harness.documents
    .forTenant('a')
    .collection(incidents)
    .insert({
      ...IncidentFields.parse({ title: 'of alerts', alertIds }),
      ...initialFields,
      groupId: 'g',
      escalationPolicyId: 'p',
      openedBy: '',
      openedAt: new Date(endedMs - 60_000).toISOString(),
    });
  const transition = (alert: string | undefined, to: string, ms: number, tenant = 'a') =>
    harness.columns.execute(
      `INSERT INTO alert_transitions (tenant_id, id, alert_id, rule_id, rule_version, rule_name, time, from_state, to_state, severity, labels, value, reason, received_at) VALUES
        ('${tenant}', '${alert}-${to}-${ms}', '${alert}', 'r', 1, 'Slow', fromUnixTimestamp64Milli(${ms}), 'firing', '${to}', 'critical', map(), 5, '', now64(3))`,
    );
  const resolveAt = async (nowMs: number) => {
    const { documents, columns } = harness;
    const clock = { now: () => nowMs };
    const ports = { documents, columns, clock, log: silentLog, configurationActions: [] };
    await resolveEnded(ports, new AbortController().signal);
    await freezeResolved(ports, new AbortController().signal);
    return (await request('GET', `/${opened.id}`)).body;
  };
  await transition(alertIds[0], 'inactive', endedMs);
  t.is((await resolveAt(Date.now())).status, 'open', 'there is no state of the second alert');
  await transition(alertIds[1], 'unknown', endedMs - 5000);
  await transition(alertIds[1], 'inactive', endedMs, 'b');
  t.is((await resolveAt(Date.now())).status, 'open', 'the second alert is unknown');
  await transition(alertIds[1], 'inactive', endedMs + 1000);
  t.is((await resolveAt(endedMs + 4 * 60_000)).status, 'open', 'the alerts have not ended for long enough');
  const resolved = await resolveAt(endedMs + 6 * 60_000);
  t.is(resolved.status, 'resolved');
  t.is(resolved.resolvedAt, new Date(endedMs + 1000).toISOString());
  t.is((await resolveAt(Date.now())).version, resolved.version);
  const { body } = await request('GET', `/${opened.id}/timeline`);
  t.is(body.evidence.sha256, resolved.evidenceHash);
  t.is(body.items.filter(({ kind }: { readonly kind: string }) => kind === 'alert').length, 3);
  t.deepEqual(body.items.find(({ title }: { readonly title: string }) => title === 'incident.resolve').actor, {
    type: 'system',
    id: '',
  });
});

test('the policy of an incident defines how long its alerts must have ended', async (t) => {
  const endedMs = Date.now() - 10 * 60_000;
  const steps = [{ targets: [{ kind: 'person', id: 'ann' }] }];
  const own = harness.documents.forTenant('a');
  const { id: escalationPolicyId } = await own
    .collection(escalationPolicies)
    .insert(EscalationPolicyFields.parse({ name: 'patient', steps, resolveAfterMinutes: 60 }));
  const { id } = await own.collection(incidents).insert({
    ...IncidentFields.parse({ title: 'patient', alertIds: ['patient'] }),
    ...initialFields,
    escalationPolicyId,
    groupId: 'patient',
    openedBy: '',
    openedAt: new Date(endedMs - 60_000).toISOString(),
  });
  await harness.columns.execute(
    `INSERT INTO alert_transitions (tenant_id, id, alert_id, rule_id, rule_version, rule_name, time, from_state, to_state, severity, labels, value, reason, received_at) VALUES
      ('a', 'patient', 'patient', 'r', 1, 'Slow', fromUnixTimestamp64Milli(${endedMs}), 'firing', 'inactive', 'critical', map(), 5, '', now64(3))`,
  );
  const resolveAt = async (minutes: number) => {
    const { documents, columns } = harness;
    const clock = { now: () => endedMs + minutes * 60_000 };
    const ports = { documents, columns, clock, log: silentLog, configurationActions: [] };
    await resolveEnded(ports, new AbortController().signal);
    return (await request('GET', `/${id}`)).body.status;
  };
  t.is(await resolveAt(59), 'open');
  t.is(await resolveAt(61), 'resolved');
});

test('an incident can be resolved while telemetry cannot be read, and the missing evidence is reported', async (t) => {
  const incident = await harness.documents
    .forTenant('a')
    .collection(incidents)
    .find(await declare({ title: 'no telemetry' }));
  if (incident === undefined) throw new Error('no incident');
  const { documents, columns } = harness;
  const failing = { ...columns.forTenant('a'), query: () => Promise.reject(new Error('away')) };
  const observation = {
    tenantId: 'a',
    reader: { columns: failing, plan: (await readPlan(documents, 'a')) as never, nowMs: Date.now() },
    ports: { documents, clock: { now: () => Date.now() }, log: silentLog, configurationActions: [] },
  };
  const { entries, missing } = await readTelemetryEntries({ ...incident, alertIds: ['x'] }, observation);
  t.deepEqual(entries, []);
  t.is(missing.length, 2);
});

test('a receiver refers to an existing escalation policy, which cannot be deleted meanwhile', async (t) => {
  const put = async (escalationPolicyId: string) => {
    const { headers } = await harness.request('GET', '/api/v2/alerts/routing', { as: 'editor' });
    const body = { route: { receiver: 'team' }, receivers: [{ name: 'team', escalationPolicyId }] };
    const ifMatch = { 'if-match': headers.get('etag') ?? '' };
    return harness.request('PUT', '/api/v2/alerts/routing', { as: 'editor', body, headers: ifMatch });
  };
  const refused = await put('nothing');
  t.is(refused.status, 400);
  t.is(refused.body.details[0].path, 'receivers.0.escalationPolicyId');
  const path = '/api/on-call/escalation-policies';

  const { items } = (await harness.request('GET', '/api/users', { as: 'owner' })).body;
  const steps = [{ targets: [{ kind: 'person', id: items[0].id }] }];
  const { body: policy } = await harness.request('POST', path, { as: 'editor', body: { name: 'used', steps } });
  t.is((await put(policy.id)).status, 200);
  const deleted = await harness.request('DELETE', `${path}/${policy.id}`, { as: 'editor' });
  t.is(deleted.status, 409);
  t.regex(deleted.body.message, /routing document/);
});

test('an incident of another organization is not found', async (t) => {
  const id = await declare({ title: 'of one organization' });
  const token = await harness.signIn('owner@b.example');
  for (const path of ['', '/timeline', '/postmortem'])
    t.is((await harness.request('GET', `/api/incidents/${id}${path}`, { as: `token ${token}` })).status, 404, path);
  for (const path of ['/acknowledge', '/resolve', '/reopen'])
    t.is((await harness.request('POST', `/api/incidents/${id}${path}`, { as: `token ${token}` })).status, 404, path);
  const { body } = await harness.request('GET', '/api/incidents/metrics', { as: `token ${token}` });
  t.is(body.incidents, 0);
});

test('an incident suggests merge candidates: incidents of its services, their callers and their callees, with the calls', async (t) => {
  const minuteMs = Math.floor(Date.now() / 60_000) * 60_000;
  const at = (ms: number): string => `fromUnixTimestamp64Milli(${ms})`;
  const edge = (tenant: string, client: string, server: string, requests: number, errors: number): string =>
    `('${tenant}', 'p', 'p', ${at(minuteMs)}, ${at(minuteMs)}, 'http', '${client}', 'service', '${server}', 'service', ${requests}, ${errors})`;
  await harness.columns.execute(
    `INSERT INTO service_edges (tenant_id, project_id, server_project_id, received_at, minute, connection, client, client_kind, server, server_kind, requests, errors) VALUES ${[
      edge('a', 'merge-shop', 'merge-bank', 100, 40),
      edge('a', 'merge-bank', 'merge-ledger', 50, 0),
      edge('b', 'merge-shop', 'merge-ledger', 10, 10),
    ].join(', ')}`,
  );
  const [shop, bank, ledger, again] = [
    await declare({ title: 'shop fails', services: ['merge-shop'] }),
    await declare({ title: 'bank is slow', services: ['merge-bank'] }),
    await declare({ title: 'ledger is locked', services: ['merge-ledger'] }),
    await declare({ title: 'shop fails again', services: ['merge-shop', 'merge-web'] }),
  ];
  const suggestionsOf = async (id: string) => (await request('GET', `/${id}/timeline`)).body.mergeSuggestions;
  const calls = { client: 'merge-shop', server: 'merge-bank', requests: 100, errors: 40 };
  const toLedger = { client: 'merge-bank', server: 'merge-ledger', requests: 50, errors: 0 };
  const shownOf = (suggestions: { incidentId: string; services: string[]; calls: object[] }[]) =>
    suggestions.map(({ incidentId, services, calls: of }) => ({ incidentId, services, calls: of }));
  t.deepEqual(shownOf(await suggestionsOf(shop)), [
    { incidentId: bank, services: [], calls: [calls] },
    { incidentId: again, services: ['merge-shop'], calls: [] },
  ]);
  t.deepEqual(
    new Set((await suggestionsOf(bank)).map((each: { incidentId: string }) => each.incidentId)),
    new Set([shop, again, ledger]),
  );
  t.deepEqual(shownOf(await suggestionsOf(ledger)), [{ incidentId: bank, services: [], calls: [toLedger] }]);
  await request('PATCH', `/${again}`, { status: 'merged', mergedInto: shop });
  t.deepEqual(await suggestionsOf(again), []);
  t.deepEqual(shownOf(await suggestionsOf(shop)), [{ incidentId: bank, services: [], calls: [calls] }]);
});
