/**
 * An organization with people, a policy and incidents; the escalation job, and deliveries that send pages, with a clock
 * that the test advances.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryCounters } from '../../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../../adapters/documents-sqlite/documents-sqlite.ts';
import { type EscalatePorts, escalateDue } from '../../../api/groups/incidents/escalate.ts';
import { createMailQueue, openMail } from '../../../api/mail/queue.ts';
import { startDeliveries } from '../../../processors/deliveries/deliveries.ts';
import { openOutbound } from '../../../runtime/outbound.ts';
import { createSecretBox } from '../../../runtime/secret-box.ts';
import type { DeliveryStep } from '../../../schemas/notifications.ts';
import type { Message } from '../../../schemas/ports/bus.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { silentLog } from '../../../schemas/ports/log.ts';
import type { Mail } from '../../../schemas/ports/mail.ts';
import { silentMetrics } from '../../../schemas/ports/metrics.ts';
import { alertRules } from '../../../schemas/resources/alert-rule.ts';
import { type Contact, contacts } from '../../../schemas/resources/contact.ts';
import { type EscalationAction, escalationActions } from '../../../schemas/resources/escalation.ts';
import { EscalationPolicyFields, escalationPolicies } from '../../../schemas/resources/escalation-policy.ts';
import { type Incident, IncidentFields, type IncidentState, incidents } from '../../../schemas/resources/incident.ts';
import { notificationChannels } from '../../../schemas/resources/notification-channel.ts';
import { pendingDeliveries } from '../../../schemas/resources/notification-delivery.ts';
import { outgoingMails, outgoingMailsTenant } from '../../../schemas/resources/outgoing-mail.ts';
import { Preferences, preferences } from '../../../schemas/resources/preferences.ts';
import { type Project, ProjectNotifications, projects } from '../../../schemas/resources/project.ts';
import { memberships, type Role, users, usersTenant } from '../../../schemas/resources/user.ts';
import { topics } from '../../../schemas/topics.ts';
import { changeState, initialFields } from '../../../subjects/incidents/state.ts';
import { formatRecipient } from '../../../subjects/incidents/timeline.ts';
import { eventually } from '../../waiting.ts';

const openedMs = Date.parse('2026-11-25T10:00:00.000Z');
const tenantId = 'acme';

export const openPaging = async () => {
  const clock = { ms: openedMs, now: () => clock.ms };
  const path = join(mkdtempSync(join(tmpdir(), 'paging-')), 'documents.db');
  const documents = await openSqliteDocuments({ path, clock });
  const own = documents.forTenant(tenantId);
  const iso = (): string => new Date(clock.ms).toISOString();
  const change = async (id: string, make: (incident: Incident) => Incident | undefined): Promise<void> => {
    const found = await own.collection(incidents).find(id);
    if (found === undefined) throw new Error('no incident');
    const { id: _, version, createdAt: __, updatedAt: ___, ...fields } = found;
    await own.collection(incidents).replace(id, make(fields) as Incident, version);
  };
  const box = createSecretBox('k'.repeat(40));
  const escalating: EscalatePorts = {
    documents,
    clock,
    log: silentLog,
    counters: createMemoryCounters({ clock }),
    mail: createMailQueue({ documents, clock, box, isConfigured: true }),
    settings: { PUBLIC_URL: 'https://oiq.example', HTTP_ADDRESS: '127.0.0.1:8080' },
  };
  return {
    documents,
    clock,
    pass(minutes: number): void {
      clock.ms += minutes * 60_000;
    },
    async person(name: string, role: Role = 'editor', disabled = false): Promise<string> {
      const fields = { email: `${name}@acme.example`, name, passwordHash: null, disabled: false };
      const { id } = await documents.forTenant(usersTenant).collection(users).insert(fields);
      await own.collection(memberships).insert({ id, role, disabled });
      return id;
    },
    async channel(name: string, settings: object, maxPerMinute = 6000): Promise<string> {
      const created = { name, description: '', enabled: true, maxPerMinute, templates: { title: '', text: '' } };
      return (
        await own.collection(notificationChannels).insert({ ...created, settings: settings as Contact['settings'] })
      ).id;
    },
    async contact(ownerId: string, name: string, settings: object, enabled = true): Promise<string> {
      const created = { ownerId, name, enabled, settings: settings as Contact['settings'] };
      return (await own.collection(contacts).insert(created)).id;
    },
    async prefer(userId: string, fields: object): Promise<void> {
      await own.collection(preferences).insert({ id: userId, ...Preferences.parse(fields) });
    },
    async policy(fields: object): Promise<string> {
      const policy = EscalationPolicyFields.parse({ name: `policy of ${iso()}`, ...fields });
      return (await own.collection(escalationPolicies).insert(policy)).id;
    },
    async incident(
      escalationPolicyId: string | null,
      title = 'Checkout is slow',
      fields: object = {},
      ruleIds: string[] = [],
    ) {
      const { id } = await own.collection(incidents).insert({
        ...IncidentFields.parse({ title, ...fields }),
        ...initialFields,
        openedBy: '',
        openedAt: iso(),
        groupId: null,
        escalationPolicyId,
        escalatesAt: iso(),
        ruleIds,
      });
      return id;
    },
    move: (id: string, to: IncidentState) =>
      change(id, (incident) => changeState(incident, to, { by: 'u', at: iso() })),
    find: async (id: string) => (await own.collection(incidents).find(id)) as Incident & StoredMetadata,
    escalate: () => escalateDue(escalating, new AbortController().signal),
    rule: async (projectId: string) => (await own.collection(alertRules).insert({ projectId } as never)).id,
    async project(name: string, notifications: object): Promise<string> {
      const parsedNotifications = ProjectNotifications.parse(notifications);
      return (
        await own.collection(projects).insert({ name, description: '', notifications: parsedNotifications } as Project)
      ).id;
    },
    /** Mails to subscribers of projects: `address: subject`. */
    async sentMails(): Promise<string[]> {
      const { items } = await documents.forTenant(outgoingMailsTenant).collection(outgoingMails).list({ limit: 1000 });
      const mails = items.map((entry) => openMail(box, entry));
      return mails.map((mail) => `${mail?.to}: ${mail?.subject}`).sort();
    },
    /** The actions of escalation, in order: `page Ann`, or the kind and reason. */
    async actions(): Promise<string[]> {
      const { items } = await own.collection(escalationActions).list({ sort: { at: 1 }, limit: 1000 });
      const shown = ({ kind, to, reason, step }: EscalationAction): string =>
        to === null ? [kind, step ?? '', reason ?? ''].join(' ').trim() : `page ${formatRecipient(to)}`;
      return items.map(shown);
    },
    waiting: async () => (await own.collection(pendingDeliveries).list({ limit: 1000 })).items,
  };
};
export type Paging = Awaited<ReturnType<typeof openPaging>>;

/** Starts deliveries that pass mails to `send`, which may reject them. */
export const startSending = async (
  { documents, clock }: Paging,
  send: (mail: Mail) => void = () => undefined,
  /** Returns the rows of the last transitions of alerts */
  readTransitions?: () => readonly object[],
) => {
  const mails: Mail[] = [];
  const steps: DeliveryStep[] = [];
  const mailer = {
    isDelivering: true,
    async send(mail: Mail) {
      send(mail);
      mails.push(mail);
    },
    close: async () => undefined,
  };
  const publish = async (messages: readonly Message[]): Promise<void> => {
    for (const { topic, value } of messages)
      if (topic === topics.notificationDeliveries.name) steps.push(...JSON.parse(Buffer.from(value).toString('utf8')));
  };
  const ended = Promise.withResolvers<void>();
  const consumer = { run: () => ended.promise, stop: async () => ended.resolve() };
  const running = await startDeliveries({
    documents,
    clock,
    mailer,
    log: silentLog,
    metrics: silentMetrics,
    publicUrl: 'https://oiq.example',
    columns: readTransitions && { forTenant: () => ({ query: async () => readTransitions() }) as never },
    bus: { createConsumer: () => consumer } as never,
    producer: { publish } as never,
    counters: createMemoryCounters({ clock }),
    box: createSecretBox('k'.repeat(40)),
    outbound: openOutbound({ allowedNetworks: ['127.0.0.0/8'], timeoutMs: 30_000 }),
    pollMs: 10,
  });
  return {
    mails,
    steps,
    to: () => mails.map(({ to }) => to.slice(0, to.indexOf('@'))),
    until: (is: () => boolean) => eventually('what is sent', async () => is()),
    stop: () => running.stop(),
  };
};
