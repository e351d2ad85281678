/** Mail to the receivers of projects when an incident opens and when it is resolved. */
import { documentsIn } from '../../../runtime/documents-in.ts';
import type { Counters } from '../../../schemas/ports/counters.ts';
import type { Documents, Stored } from '../../../schemas/ports/documents.ts';
import { alertRules } from '../../../schemas/resources/alert-rule.ts';
import type { IncidentNotification } from '../../../schemas/resources/escalation.ts';
import type { Incident } from '../../../schemas/resources/incident.ts';
import { type Project, projects } from '../../../schemas/resources/project.ts';
import type { Settings } from '../../../schemas/settings.ts';
import { sinceOf } from '../../../subjects/on-call/incident-escalation.ts';
import { linkTo } from '../../mail/links.ts';
import { type MailDraft, plainName } from '../../mail/mail-text.ts';
import type { MailQueue } from '../../mail/queue.ts';
import { receiversOf } from '../../mail/receivers.ts';

export interface MailingPorts {
  readonly documents: Documents;
  readonly counters: Counters;
  readonly mail: MailQueue;
  readonly settings: Pick<Settings, 'PUBLIC_URL' | 'HTTP_ADDRESS'>;
}

type Known = Incident & Stored;

/** The pending notification of an incident; undefined if it was already sent, and for merged incidents. */
export const pendingNotification = (
  incident: Known,
  known: { readonly notified?: IncidentNotification | undefined } | undefined,
): IncidentNotification | undefined => {
  if (incident.status === 'merged') return undefined;
  const current: IncidentNotification = {
    since: sinceOf(incident),
    what: incident.status === 'resolved' ? 'resolved' : 'opened',
  };
  // An earlier version did not notify: states that it already processed are not notified late.
  const before = known !== undefined && known.notified === undefined ? current : known?.notified;
  return before?.since === current.since && before.what === current.what ? undefined : current;
};

/**
 * Projects of the rules whose alerts opened the incident; all projects of the organization if a rule, or the incident,
 * belongs to none.
 */
const projectsOf = async (documents: Documents, tenantId: string, { ruleIds = [] }: Known) => {
  const own = documents.of(tenantId);
  const rules = await Promise.all(ruleIds.map((id) => own.collection(alertRules).find(id)));
  const ids = rules.map((rule) => (rule as { readonly projectId?: string | null } | undefined)?.projectId ?? null);
  const found: (Project & Stored)[] = [];
  for await (const project of documentsIn(own.collection(projects)))
    if (ids.length === 0 || ids.includes(null) || ids.includes(project.id)) found.push(project);
  return found;
};

const toMailDraft = (
  to: string,
  { title, severity, summary, services, openedAt, resolvedAt, reopenedAt }: Known,
  { what }: IncidentNotification,
  settings: MailingPorts['settings'],
): MailDraft => {
  const verb = what === 'resolved' ? 'resolved' : reopenedAt === null ? 'opened' : 'opened again';
  const at = (what === 'resolved' ? resolvedAt : (reopenedAt ?? openedAt)) ?? openedAt;
  return {
    to,
    subject: `Incident ${verb}: ${plainName(title)}`,
    paragraphs: [
      `The incident “${plainName(title)}” (${severity}) was ${verb} at ${at}.`,
      ...(services.length === 0 ? [] : [`Services: ${services.map(plainName).join(', ')}`]),
      ...(summary === '' ? [] : [plainName(summary.slice(0, 2000).toWellFormed())]),
    ],
    link: { text: 'Show incidents', url: linkTo(settings, 'incidents') },
  };
};

/** Mails about the current state of an incident */
export const toMailDrafts = async (
  incident: Known,
  tenantId: string,
  notification: IncidentNotification,
  { documents, counters, settings }: MailingPorts,
): Promise<MailDraft[]> => {
  const happened = { event: `incident-${notification.what}`, severity: incident.severity, about: 'incident' } as const;
  const receivers = await receiversOf(counters, tenantId, await projectsOf(documents, tenantId, incident), happened);
  return [...receivers].map((to) => toMailDraft(to, incident, notification, settings));
};
