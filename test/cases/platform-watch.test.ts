/** Notifications to organizations and the operator if rules are not evaluated or records are late. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { createFileMailer } from '../../adapters/mail-file.ts';
import { ensureCollections } from '../../api/index.ts';
import { createOperatorChannels, type Problem } from '../../api/platform-watch/operator.ts';
import { PlatformWatch } from '../../api/platform-watch/watch.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import type { GroupStatus } from '../../schemas/ports/group-status.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { detectionRules } from '../../schemas/resources/detection-rule.ts';
import { notificationChannels } from '../../schemas/resources/notification-channel.ts';
import { channelHealths } from '../../schemas/resources/notification-delivery.ts';
import { Organization, organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { defaultPlans, type Plan, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { platformAlerts } from '../../schemas/resources/platform-alert.ts';
import { recordingGroups } from '../../schemas/resources/recording-group.ts';
import { slos } from '../../schemas/resources/slo.ts';
import { parseSettings } from '../../schemas/settings.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const telemetry = ['sinks.logs', 'sinks.metrics', 'sinks.traces', 'processors.detections'];

const open = async (t: ExecutionContext) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-watch-'));
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  await ensureCollections(documents);
  const clock = { nowMs: Date.now(), now: () => clock.nowMs };
  /** The last evaluation of the rule by organization; `faults` make the tables or the webhook fail. */
  const evaluated = new Map<string, number>();
  const faults = { columns: false, webhook: false };
  const transitions: AlertTransition[] = [];
  const events: PlatformEvent[] = [];
  const notices: (readonly string[])[] = [];
  let groups: GroupStatus[] = [];
  /** The observed groups, with the given ages of their oldest records. */
  const setGroups = (ages: Readonly<Record<string, number>>, problems: Readonly<Record<string, string>> = {}): void => {
    groups = telemetry.map((group) => ({
      group,
      members: 1,
      problem: problems[group],
      sinceMs: clock.nowMs,
      partitions: [{ topic: group, partition: 0, lag: 1, ageMs: ages[group] ?? 0 }],
    }));
  };
  setGroups({});
  const watch = new PlatformWatch({
    documents,
    clock,
    groupStatuses: { getStatuses: () => groups },
    columns: {
      async query<Row>(): Promise<Row[]> {
        if (faults.columns) throw new Error('no answer');
        return [...evaluated].map(([tenant, ms]) => ({ tenant, rule: 'rule', evaluated: String(ms) }) as Row);
      },
    },
    publish: async (transition) => void transitions.push(transition),
    publishEvent: async (event) => void events.push(event),
    operator: ['webhook', 'email'].map((type) => ({
      type,
      async notify(problems: readonly Problem[]) {
        const names = problems.map(({ name, endedMs }) => (endedMs === undefined ? name : `${name} is over`));
        notices.push([type, ...names]);
        return type !== 'webhook' || !faults.webhook;
      },
    })),
  });
  t.teardown(async () => {
    await watch.close();
    await documents.close();
    rmSync(directory, { recursive: true, force: true });
  });
  await documents
    .forTenant(plansTenant)
    .collection(plans)
    .insert({ id: 'pro', ...(defaultPlans['pro'] as Plan) });
  const organization = async (id: string, fields: Partial<Organization> = {}): Promise<void> => {
    const whole = Organization.parse({ name: id, planId: 'pro', ...fields });
    await documents
      .forTenant(organizationsTenant)
      .collection(organizations)
      .insert({ id, ...whole });
    await documents
      .forTenant(id)
      .collection(alertRules)
      .insert({ id: 'rule', name: 'rule', enabled: true, condition: { kind: 'threshold' }, queryVersion: 1 });
    evaluated.set(id, clock.nowMs);
  };
  return {
    documents,
    clock,
    evaluated,
    faults,
    transitions,
    events,
    notices,
    watch,
    setGroups,
    organization,
    /** Checks twice a minute for the given time, while rules of these organizations are evaluated. */
    async pass(ms: number, going: readonly string[] = []): Promise<void> {
      for (let passed = 0; passed < ms; passed += 30 * secondMs) {
        clock.nowMs += 30 * secondMs;
        for (const id of going) evaluated.set(id, clock.nowMs);
        await watch.checkPlatform();
      }
    },
  };
};

const changes = (transitions: readonly AlertTransition[]): string[] =>
  transitions.map(({ tenantId, labels, to }) => `${tenantId} ${labels['alertname']} ${to}`);

test('an organization whose rules are not evaluated is notified once, and once when evaluation resumes', async (t) => {
  const { organization, pass, transitions, events, documents, clock } = await open(t);
  await organization('acme');
  await organization('other');
  await pass(5 * minuteMs, ['acme', 'other']);
  t.deepEqual(changes(transitions), []);
  const sinceMs = clock.nowMs;
  await pass(3 * minuteMs, ['other']);
  t.deepEqual(changes(transitions), []);
  await pass(30 * minuteMs, ['other']);
  t.deepEqual(changes(transitions), ['acme PlatformRulesNotEvaluated firing']);
  t.like(transitions[0], {
    severity: 'critical',
    from: 'inactive',
    labels: { severity: 'critical', origin: 'platform' },
    reason: `All 1 alert rules have not been evaluated since ${new Date(sinceMs).toISOString()}: alert states may be outdated`,
  });
  t.is((await documents.forTenant('acme').collection(platformAlerts).list()).items.length, 1);
  await pass(5 * minuteMs, ['acme', 'other']);
  t.deepEqual(changes(transitions).slice(1), ['acme PlatformRulesNotEvaluated inactive']);
  t.is(transitions[1]?.startedAtMs, transitions[0]?.startedAtMs);
  t.deepEqual(
    events.map(({ tenantId, kind, severity, title }) => [tenantId, kind, severity, title]),
    [
      ['acme', 'alert', 'critical', 'Alert rules are not evaluated fires'],
      ['acme', 'alert', 'info', 'Alert rules are not evaluated ended'],
    ],
  );
  t.is((await documents.forTenant('acme').collection(platformAlerts).list()).items.length, 0);
});

test('recording rule groups without evaluation are reported like alert rules, unless the plan lacks metrics', async (t) => {
  const { organization, pass, transitions, documents } = await open(t);
  await documents
    .forTenant(plansTenant)
    .collection(plans)
    .insert({ id: 'logs', ...(defaultPlans['pro'] as Plan), name: 'logs', entitlements: ['logs'] });
  for (const [id, planId] of [
    ['acme', 'pro'],
    ['other', 'logs'],
  ] as const) {
    await organization(id, { planId });
    await documents
      .forTenant(id)
      .collection(recordingGroups)
      .insert({
        name: 'g',
        file: '',
        enabled: true,
        interval: '1m',
        delay: '0s',
        limit: 0,
        rules: [{ record: 'r', expression: 'vector(1)', labels: {} }],
      });
  }
  await pass(10 * minuteMs, ['acme', 'other']);
  t.deepEqual(changes(transitions), ['acme PlatformRulesNotEvaluated firing']);
  t.regex(transitions[0]?.reason ?? '', /^All 1 groups of recording rules have not been evaluated since /);
});

test('rules that were not evaluated while no process watched first get time to become due', async (t) => {
  const { organization, pass, transitions, clock } = await open(t);
  await organization('acme');
  clock.nowMs += 10 * 3_600_000;
  await pass(minuteMs);
  await pass(5 * minuteMs, ['acme']);
  t.deepEqual(changes(transitions), []);
});

test('disabled rules, and rules of a disabled organization, are not reported as missed', async (t) => {
  const { organization, pass, transitions, documents } = await open(t);
  await organization('acme');
  await documents.forTenant('acme').collection(alertRules).update('rule', { enabled: false });
  await organization('closed', { disabled: true });
  await pass(20 * minuteMs);
  t.deepEqual(changes(transitions), []);
});

test('an alert that fires while the organization is disabled ends', async (t) => {
  const { organization, pass, transitions, documents } = await open(t);
  await organization('acme');
  await pass(10 * minuteMs);
  await documents.forTenant(organizationsTenant).collection(organizations).update('acme', { disabled: true });
  await pass(minuteMs);
  t.deepEqual(changes(transitions), [
    'acme PlatformRulesNotEvaluated firing',
    'acme PlatformRulesNotEvaluated inactive',
  ]);
});

test('tables that are unavailable for long are reported; a short outage changes nothing', async (t) => {
  const { organization, pass, transitions, faults } = await open(t);
  await organization('acme');
  await pass(minuteMs, ['acme']);
  faults.columns = true;
  await pass(minuteMs);
  t.deepEqual(changes(transitions), []);
  await pass(2 * minuteMs);
  t.deepEqual(changes(transitions), ['acme PlatformRulesNotEvaluated firing']);
  t.regex(
    transitions[0]?.reason ?? '',
    /^It is unknown whether alert rules are evaluated: the tables have not responded since/,
  );
  faults.columns = false;
  await pass(minuteMs, ['acme']);
  t.is(transitions.length, 2);
});

test('late records are reported to organizations with rules or objectives, and late detections to those with detection rules', async (t) => {
  const { organization, pass, transitions, documents, setGroups } = await open(t);
  await organization('acme');
  await organization('siem');
  const detection = { kind: 'rule', title: 'a', source: '', enabled: true, severity: 'high', riskScore: 1 } as const;
  await documents
    .forTenant('siem')
    .collection(detectionRules)
    .insert({ ...detection, suppression: null, exceptions: [], anySource: false });
  // None of these has an alert rule, and one has a measured objective.
  for (const id of ['objective', 'neither', 'disabled']) {
    await organization(id);
    await documents.forTenant(id).collection(alertRules).delete('rule');
    if (id === 'neither') continue;
    const slo = { name: 'a', enabled: id === 'objective', query: {}, queryVersion: 1 };
    await documents.forTenant(id).collection(slos).insert(slo);
  }
  const both = ['acme', 'siem'];
  setGroups({ 'sinks.logs': 119 * secondMs });
  await pass(minuteMs, both);
  t.deepEqual(changes(transitions), []);
  setGroups({ 'sinks.logs': 121 * secondMs, 'processors.detections': 300 * secondMs });
  await pass(5 * minuteMs, both);
  t.deepEqual(changes(transitions).toSorted(), [
    'acme PlatformRecordsLate firing',
    'objective PlatformRecordsLate firing',
    'siem PlatformDetectionsLate firing',
    'siem PlatformRecordsLate firing',
  ]);
  t.is(transitions[0]?.reason, 'sinks.logs lags: the oldest record has been waiting for 121 seconds');
  setGroups({ 'sinks.logs': 90 * secondMs });
  await pass(minuteMs, both);
  t.deepEqual(
    changes(transitions.slice(4)),
    ['siem PlatformDetectionsLate inactive'],
    'a lag that only falls a little',
  );
  setGroups({});
  await pass(minuteMs, both);
  t.is(transitions.length, 8);
});

test('the operator is notified once when a group stalls, and once when it resumes', async (t) => {
  const { pass, notices, setGroups, faults } = await open(t);
  await pass(5 * minuteMs);
  setGroups({}, { 'sinks.logs': 'stands still' });
  faults.webhook = true;
  await pass(minuteMs);
  const [webhook, email] = ['webhook', 'email'];
  t.deepEqual(
    notices.splice(0),
    [
      [webhook, 'sinks.logs'],
      [email, 'sinks.logs'],
      [webhook, 'sinks.logs'],
    ],
    'failed notifications are retried, and nothing else is sent twice',
  );
  faults.webhook = false;
  await pass(5 * minuteMs);
  t.deepEqual(notices.splice(0), [[webhook, 'sinks.logs']]);
  setGroups({}, { 'sinks.metrics': 'has no member' });
  await pass(5 * minuteMs);
  t.deepEqual(
    notices.splice(0),
    [webhook, email].map((type) => [type, 'sinks.metrics', 'sinks.logs is over']),
  );
  setGroups({});
  await pass(5 * minuteMs);
  t.deepEqual(
    notices.splice(0),
    [webhook, email].map((type) => [type, 'sinks.metrics is over']),
  );
});

test('an operator is notified by a webhook with the Alertmanager payload, on any network', async (t) => {
  const bodies: unknown[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      bodies.push(body);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const directory = mkdtempSync(join(tmpdir(), 'oiq-operator-'));
  t.teardown(() => {
    server.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const [channel] = createOperatorChannels({
    mailer: createFileMailer({ path: join(directory, 'outbox.jsonl') }),
    clock: { now: () => 2 * minuteMs },
    log: silentLog,
    settings: parseSettings({
      OIQ_OPERATOR_WEBHOOK_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    }),
  });
  t.true(await channel?.notify([{ name: 'sinks.logs', text: 'stands still for 60 seconds', sinceMs: minuteMs }]));
  t.like(bodies[0], {
    version: '4',
    status: 'firing',
    receiver: 'operator',
    alerts: [
      {
        status: 'firing',
        labels: { alertname: 'OiqStalled', severity: 'critical', component: 'sinks.logs' },
        annotations: { summary: 'sinks.logs stands still for 60 seconds' },
      },
    ],
  });
  t.true(
    await channel?.notify([{ name: 'sinks.logs', text: 'stands still', sinceMs: minuteMs, endedMs: 2 * minuteMs }]),
  );
  t.like(bodies[1], { status: 'resolved' });
});

test('the alert of a failing channel ends once it is disabled or deleted, and continues while deliveries are retried', async (t) => {
  const { pass, transitions, events, documents } = await open(t);
  const own = documents.forTenant('acme');
  for (const id of ['tried', 'disabled', 'deleted']) {
    if (id !== 'deleted')
      await own.collection(notificationChannels).insert({
        id,
        name: `Channel ${id}`,
        description: '',
        enabled: id === 'tried',
        maxPerMinute: 60,
        settings: { type: 'email', to: ['a@example.com'] },
        templates: { title: '', text: '' },
      });
    await own.collection(channelHealths).insert({
      id,
      failures: 3,
      failingSince: '2026-01-01T00:00:00.000Z',
      lastDeliveredAt: null,
      lastError: 'refused',
    });
  }
  await pass(2 * minuteMs);
  t.deepEqual(transitions.map(({ labels, to, reason }) => [labels['channel'], to, reason]).toSorted(), [
    ['Channel disabled', 'inactive', 'the channel is disabled'],
    ['deleted', 'inactive', 'the channel is deleted'],
  ]);
  t.is(events.length, 2);
  const { items } = await own.collection(channelHealths).list();
  t.deepEqual(items.map(({ id, failingSince }) => [id, failingSince !== null]).toSorted(), [
    ['disabled', false],
    ['tried', true],
  ]);
});
