/** Mail to the receivers of projects when an incident opens and when it is resolved. */
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import type { Counters } from '../../../schemas/ports/counters.ts';
import type { Documents, StoredMetadata } from '../../../schemas/ports/documents.ts';
import { alertRules } from '../../../schemas/resources/alert-rule.ts';
import type { IncidentNotification } from '../../../schemas/resources/escalation.ts';
import type { Incident } from '../../../schemas/resources/incident.ts';
import { type Project, projects } from '../../../schemas/resources/project.ts';
import type { Settings } from '../../../schemas/settings.ts';
import { getEscalationStart } from '../../../subjects/on-call/incident-escalation.ts';
import { buildLink } from '../../mail/links.ts';
import { type MailDraft, sanitizeName } from '../../mail/mail-text.ts';
import type { MailQueue } from '../../mail/queue.ts';
import { collectReceivers } from '../../mail/receivers.ts';

export interface MailingPorts {
  readonly documents: Documents;
  readonly counters: Counters;
  readonly mail: MailQueue;
  readonly settings: Pick<Settings, 'PUBLIC_URL' | 'HTTP_ADDRESS'>;
}

type StoredIncident = Incident & StoredMetadata;

/** The pending notification of an incident; undefined if it was already sent, and for merged incidents. */
export const getPendingNotification = (
  incident: StoredIncident,
  escalation: { readonly notified?: IncidentNotification | undefined } | undefined,
): IncidentNotification | undefined => {
  if (incident.status === 'merged') return undefined;
  const current: IncidentNotification = {
    since: getEscalationStart(incident),
    what: incident.status === 'resolved' ? 'resolved' : 'opened',
  };
  // A state that an earlier version processed has no notification: do not notify about it late.
  const before = escalation !== undefined && escalation.notified === undefined ? current : escalation?.notified;
  return before?.since === current.since && before.what === current.what ? undefined : current;
};

/**
 * Projects of the rules whose alerts opened the incident; all projects of the organization if a rule, or the incident,
 * belongs to none.
 */
const readNotifiedProjects = async (documents: Documents, tenantId: string, { ruleIds = [] }: StoredIncident) => {
  const tenantDocuments = documents.forTenant(tenantId);
  const rules = await Promise.all(ruleIds.map((id) => tenantDocuments.collection(alertRules).find(id)));
  const projectIds = rules.map(
    (rule) => (rule as { readonly projectId?: string | null } | undefined)?.projectId ?? null,
  );
  const notifiedProjects: (Project & StoredMetadata)[] = [];
  for await (const project of iterateDocuments(tenantDocuments.collection(projects)))
    if (projectIds.length === 0 || projectIds.includes(null) || projectIds.includes(project.id))
      notifiedProjects.push(project);
  return notifiedProjects;
};

const toMailDraft = (
  to: string,
  { title, severity, summary, services, openedAt, resolvedAt, reopenedAt }: StoredIncident,
  { what }: IncidentNotification,
  settings: MailingPorts['settings'],
): MailDraft => {
  const verb = what === 'resolved' ? 'resolved' : reopenedAt === null ? 'opened' : 'opened again';
  const at = (what === 'resolved' ? resolvedAt : (reopenedAt ?? openedAt)) ?? openedAt;
  return {
    to,
    subject: `Incident ${verb}: ${sanitizeName(title)}`,
    paragraphs: [
      `The incident “${sanitizeName(title)}” (${severity}) was ${verb} at ${at}.`,
      ...(services.length === 0 ? [] : [`Services: ${services.map(sanitizeName).join(', ')}`]),
      ...(summary === '' ? [] : [sanitizeName(summary.slice(0, 2000).toWellFormed())]),
    ],
    link: { text: 'Show incidents', url: buildLink(settings, 'incidents') },
  };
};

/** Returns the mails about the current state of an incident. */
export const toMailDrafts = async (
  incident: StoredIncident,
  tenantId: string,
  notification: IncidentNotification,
  { documents, counters, settings }: MailingPorts,
): Promise<MailDraft[]> => {
  const notificationEvent = {
    event: `incident-${notification.what}`,
    severity: incident.severity,
    about: 'incident',
  } as const;
  const receivers = await collectReceivers(
    counters,
    tenantId,
    await readNotifiedProjects(documents, tenantId, incident),
    notificationEvent,
  );
  return [...receivers].map((to) => toMailDraft(to, incident, notification, settings));
};
