/**
 * A storm: 1,000 groups of alerts, or as many as the argument, open incidents of one policy, and their first pages are
 * queued. Prints one line of JSON: total milliseconds and CPU-ms, on SQLite.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { escalateDue } from '../../api/groups/incidents/escalate.ts';
import { resolveEnded } from '../../api/groups/incidents/resolve-incidents.ts';
import { createMailQueue } from '../../api/mail/queue.ts';
import { applyAlerts } from '../../processors/incidents/consume-alerts.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import type { Notification } from '../../schemas/notifications.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { escalationActions, escalations } from '../../schemas/resources/escalation.ts';
import { EscalationPolicyFields, escalationPolicies } from '../../schemas/resources/escalation-policy.ts';
import { incidents } from '../../schemas/resources/incident.ts';
import { pendingDeliveries } from '../../schemas/resources/notification-delivery.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { outgoingMails } from '../../schemas/resources/outgoing-mail.ts';
import { defaultPlans, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';

const groups = Number(process.argv[2] ?? 1000);
const tenantId = 'acme';
const directory = mkdtempSync(join(tmpdir(), 'oiq-storm-'));
const clock = systemClock;
const documents = await openSqliteDocuments({ path: join(directory, 'documents.db'), clock });
await documents.ensureCollections([
  ...[incidents, escalations, escalationActions, pendingDeliveries, outgoingMails, memberships, users],
]);
const own = documents.forTenant(tenantId);
const organization = { name: 'Acme', planId: 'free', retentionDays: {}, shards: 1, disabled: false };
await documents
  .forTenant(organizationsTenant)
  .collection(organizations)
  .insert({ id: tenantId, ...organization });
await documents
  .forTenant(plansTenant)
  .collection(plans)
  .insert({ id: 'free', ...Object.values(defaultPlans)[0] } as never);
const people = Array.from({ length: 20 }, (_, at) => `person-${at}`);
for (const id of people) {
  await documents
    .forTenant(usersTenant)
    .collection(users)
    .insert({ id, email: `${id}@acme.example`, name: id, passwordHash: null, disabled: false });
  await own.collection(memberships).insert({ id, role: 'editor', disabled: false });
}
const steps = [{ targets: people.slice(0, 2).map((id) => ({ kind: 'person', id })) }];
await own
  .collection(escalationPolicies)
  .insert({ id: 'policy', ...EscalationPolicyFields.parse({ name: 'Shop', steps }) });

const notificationOf = (group: number): Notification => ({
  tenantId,
  id: `n-${group}`,
  channelId: '',
  escalationPolicyId: 'policy',
  receiver: 'all',
  groupKey: `{}:{g="${group}"}`,
  groupLabels: { g: String(group) },
  commonLabels: { alertname: 'Slow' },
  commonAnnotations: {},
  status: 'firing',
  reason: 'first',
  firing: 1,
  resolved: 0,
  truncatedAlerts: 0,
  atMs: clock.now(),
  alerts: [
    {
      alertId: `a-${group}`,
      ruleId: 'r',
      status: 'firing',
      annotations: {},
      startsAtMs: clock.now(),
      value: 1,
      labels: { alertname: 'Slow', severity: 'critical' },
    },
  ],
});

/** Milliseconds and CPU-ms of some work. */
const measured = async (work: () => Promise<void>) => {
  const [cpu, start] = [process.cpuUsage(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: Math.round(performance.now() - start), cpuMs: Math.round((user + system) / 1000) };
};

const box = createSecretBox('k'.repeat(40));
const ports = {
  documents,
  clock,
  log: silentLog,
  counters: createMemoryCounters({ clock }),
  mail: createMailQueue({ documents, clock, box, isConfigured: true }),
  settings: { PUBLIC_URL: undefined, HTTP_ADDRESS: '127.0.0.1:8080' },
};
const opened = await measured(async () => {
  for (let group = 0; group < groups; group++) await applyAlerts(documents, notificationOf(group));
});
const again = await measured(async () => {
  for (let group = 0; group < groups; group++) await applyAlerts(documents, notificationOf(group));
});
const paged = await measured(() => escalateDue(ports, new AbortController().signal));
const idle = await measured(() => escalateDue(ports, new AbortController().signal));
// All alerts ended longer ago than the policy waits.
const endedMs = String(clock.now() - 3_600_000);
const query = async (_sql: string, parameters: { readonly alerts?: readonly string[] } = {}) =>
  (parameters.alerts ?? []).map((alert) => ({ alert, state: 'inactive', ms: endedMs }));
const columns = { forTenant: () => ({ query, queryNative: query }) } as never;
const resolved = await measured(() =>
  resolveEnded({ ...ports, columns, configurationActions: [] }, new AbortController().signal),
);
const counts = {
  resolved: await own.collection(incidents).count({ status: 'resolved' }),
  incidents: await own.collection(incidents).count({}),
  pages: await own.collection(pendingDeliveries).count({}),
};
process.stdout.write(`${JSON.stringify({ groups, ...counts, opened, again, paged, idle, resolving: resolved })}\n`);
await documents.close();
rmSync(directory, { recursive: true });
