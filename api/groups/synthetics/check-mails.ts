/** Mail to the receivers of projects when a synthetic check fails, and when it recovers. */
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import { defineJob } from '../../../runtime/jobs.ts';
import {
  type SyntheticCheckNotification,
  syntheticCheckNotifications,
} from '../../../schemas/resources/synthetic-notification.ts';
import { findActiveDowntime, readWindows } from '../../../subjects/synthetics/downtimes.ts';
import { type LastVerdict, readLastVerdicts } from '../../../subjects/synthetics/notified-state.ts';
import { type IdentifiedCheck, readChecks } from '../../../subjects/synthetics/read-checks.ts';
import { buildLink } from '../../mail/links.ts';
import { type MailDraft, sanitizeName } from '../../mail/mail-text.ts';
import {
  collectReceivers,
  forEachSubscribedTenant,
  type MailJobPorts,
  type StoredProject,
} from '../../mail/receivers.ts';

type CheckNotification = SyntheticCheckNotification['what'];

const eventNames = { failing: 'check-failing', recovered: 'check-recovered' } as const;

/**
 * Returns the pending notification of a check; undefined if it was already sent, the state is unknown, or the check is
 * in a planned downtime.
 */
export const getPendingNotification = (
  { state, isMaintenance }: Pick<LastVerdict, 'state' | 'isMaintenance'>,
  lastNotification: CheckNotification | undefined,
): CheckNotification | undefined => {
  if (isMaintenance || state === 'unknown') return undefined;
  if (state === 'down') return lastNotification === 'failing' ? undefined : 'failing';
  return lastNotification === 'failing' ? 'recovered' : undefined;
};

const toMailDraft = (
  to: string,
  check: IdentifiedCheck,
  { notificationKind, verdict }: { readonly notificationKind: CheckNotification; readonly verdict: string },
  settings: MailJobPorts['settings'],
): MailDraft => ({
  to,
  subject: `Check ${notificationKind}: ${sanitizeName(check.name)}`,
  paragraphs: [
    `The synthetic check “${sanitizeName(check.name)}” ${notificationKind === 'failing' ? 'fails' : 'recovered'}: ${sanitizeName(verdict.toWellFormed())}.`,
    ...(check.description === '' ? [] : [sanitizeName(check.description.slice(0, 2000).toWellFormed())]),
  ],
  link: { text: 'Show the check', url: buildLink(settings, `checks?open=${encodeURIComponent(check.id)}`) },
});

/** Returns the mails about the current state of a check. */
const toMailDrafts = async (
  check: IdentifiedCheck,
  notification: { readonly notificationKind: CheckNotification; readonly verdict: string },
  {
    tenantId,
    subscribedProjects,
    counters,
    settings,
  }: Pick<MailJobPorts, 'counters' | 'settings'> & {
    readonly tenantId: string;
    readonly subscribedProjects: readonly StoredProject[];
  },
): Promise<MailDraft[]> => {
  // A check without a project concerns all projects.
  const affectedProjects = subscribedProjects.filter(({ id }) => check.projectId === null || check.projectId === id);
  const notificationEvent = {
    event: eventNames[notification.notificationKind],
    severity: check.alerting.severity,
    about: 'check',
  } as const;
  const receivers = await collectReceivers(counters, tenantId, affectedProjects, notificationEvent);
  return [...receivers].map((to) => toMailDraft(to, check, notification, settings));
};

const notifyTenant = async (
  ports: MailJobPorts,
  tenantId: string,
  subscribedProjects: readonly StoredProject[],
): Promise<void> => {
  const { documents, columns, clock, mail } = ports;
  const nowMs = clock.now();
  const tenantDocuments = documents.forTenant(tenantId);
  const [checks, windows] = await Promise.all([
    readChecks(tenantDocuments, { enabled: true }),
    readWindows(tenantDocuments),
  ]);
  if (checks.length === 0) return;
  const verdicts = await readLastVerdicts(
    { columns: columns.forTenant(tenantId) },
    checks.map(({ id }) => id),
    nowMs,
  );
  const findDowntime = findActiveDowntime(windows, nowMs);
  const lastNotifications = new Map<string, CheckNotification>();
  for await (const { id, what } of iterateDocuments(tenantDocuments.collection(syntheticCheckNotifications)))
    lastNotifications.set(id, what);
  for (const check of checks) {
    const verdict = verdicts.get(check.id);
    if (verdict === undefined) continue;
    const isMaintenance = verdict.isMaintenance || findDowntime(check) !== undefined;
    const nextNotification = getPendingNotification({ ...verdict, isMaintenance }, lastNotifications.get(check.id));
    if (nextNotification === undefined) continue;
    const drafts = await toMailDrafts(
      check,
      { notificationKind: nextNotification, verdict: verdict.says },
      { ...ports, tenantId, subscribedProjects },
    );
    await documents.transaction(async (scope) => {
      const notificationCollection = scope.forTenant(tenantId).collection(syntheticCheckNotifications);
      const before = await notificationCollection.find(check.id);
      // Another instance may have notified in the meantime.
      if (before?.what === nextNotification) return;
      for (const draft of drafts) await mail.enqueue(scope, draft);
      const after = { what: nextNotification, at: new Date(nowMs).toISOString() };
      if (before === undefined) await notificationCollection.insert({ id: check.id, ...after });
      else await notificationCollection.replace(check.id, after, before.version);
    });
  }
};

/** Checks the synthetic checks of organizations with subscribed projects. A failure does not affect the other organizations. */
export const notifyCheckChanges = async (ports: MailJobPorts, signal: AbortSignal): Promise<void> => {
  await forEachSubscribedTenant(
    ports,
    { events: Object.values(eventNames), subject: 'checks' },
    (tenantId, subscribedProjects) => notifyTenant(ports, tenantId, subscribedProjects),
    signal,
  );
};

export const checkMailsJob = defineJob<MailJobPorts>({
  name: 'synthetic-check-mails',
  summary: 'Mail receivers of projects about failing and recovered synthetic checks',
  everyMs: 10_000,
  scope: 'installation',
  run: notifyCheckChanges,
});
