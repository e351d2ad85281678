/** Mail to the receivers of projects when an SLO burns its error budget. */
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import { defineJob } from '../../../runtime/jobs.ts';
import { sloBurnNotifications } from '../../../schemas/resources/slo-burn-notification.ts';
import { type ManagedAlert, readBurningObjectives } from '../../../subjects/overview/managed-alerts.ts';
import { buildLink } from '../../mail/links.ts';
import { type MailDraft, sanitizeName } from '../../mail/mail-text.ts';
import {
  collectReceivers,
  forEachSubscribedTenant,
  type MailJobPorts,
  type StoredProject,
} from '../../mail/receivers.ts';
import { findManagedRules } from '../alerts/managed-rules.ts';

const toMailDraft = (
  to: string,
  sloId: string,
  { rule, reason, severity }: ManagedAlert,
  settings: MailJobPorts['settings'],
): MailDraft => {
  const name = sanitizeName(rule.labels['slo'] ?? sloId);
  return {
    to,
    subject: `SLO burns its error budget: ${name}`,
    paragraphs: [
      `The SLO “${name}” spends its error budget faster than allowed${severity === null ? '' : ` (${severity})`}: ${sanitizeName(reason.toWellFormed())}.`,
    ],
    link: { text: 'Show the SLO', url: buildLink(settings, `slos?open=${encodeURIComponent(sloId)}`) },
  };
};

/** SLOs belong to the organization: each subscribed project is notified once per burn. */
const notifyTenant = async (
  ports: MailJobPorts,
  tenantId: string,
  subscribedProjects: readonly StoredProject[],
): Promise<void> => {
  const { documents, columns, clock, counters, mail, settings } = ports;
  const nowMs = clock.now();
  const burningSlos = new Map(
    await readBurningObjectives(
      { columns: columns.forTenant(tenantId), nowMs },
      findManagedRules(documents.forTenant(tenantId)),
    ),
  );
  const notifiedVersions = new Map<string, number>();
  for await (const { id, version } of iterateDocuments(documents.forTenant(tenantId).collection(sloBurnNotifications)))
    notifiedVersions.set(id, version);
  for (const [id, version] of notifiedVersions)
    if (!burningSlos.has(id)) await documents.forTenant(tenantId).collection(sloBurnNotifications).delete(id, version);
  for (const [sloId, alert] of burningSlos) {
    if (notifiedVersions.has(sloId)) continue;
    const notificationEvent = { event: 'slo-burning', severity: alert.severity ?? 'warning', about: 'slo' } as const;
    const receivers = await collectReceivers(counters, tenantId, subscribedProjects, notificationEvent);
    await documents.transaction(async (scope) => {
      const notificationCollection = scope.forTenant(tenantId).collection(sloBurnNotifications);
      // Another instance may have notified in the meantime.
      if ((await notificationCollection.find(sloId)) !== undefined) return;
      for (const to of receivers) await mail.enqueue(scope, toMailDraft(to, sloId, alert, settings));
      await notificationCollection.insert({ id: sloId, at: new Date(nowMs).toISOString() });
    });
  }
};

/** Checks the SLOs of organizations with subscribed projects. A failure does not affect the other organizations. */
export const notifyBurns = async (ports: MailJobPorts, signal: AbortSignal): Promise<void> => {
  await forEachSubscribedTenant(
    ports,
    { events: ['slo-burning'], subject: 'objectives' },
    (tenantId, projects) => notifyTenant(ports, tenantId, projects),
    signal,
  );
};

export const burnMailsJob = defineJob<MailJobPorts>({
  name: 'slo-burn-mails',
  summary: 'Mail receivers of projects about SLOs that burn their error budget',
  everyMs: 30_000,
  scope: 'installation',
  run: notifyBurns,
});
