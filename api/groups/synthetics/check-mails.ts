/** Mail to the receivers of projects when a synthetic check fails, and when it recovers. */
import { documentsIn } from '../../../runtime/documents-in.ts';
import { defineJob } from '../../../runtime/jobs.ts';
import {
  type SyntheticCheckNotification,
  syntheticCheckNotifications,
} from '../../../schemas/resources/synthetic-notification.ts';
import { downtimeAt, readWindows } from '../../../subjects/synthetics/downtimes.ts';
import { type KnownCheck, readChecks } from '../../../subjects/synthetics/known.ts';
import { type LastVerdict, readLastVerdicts } from '../../../subjects/synthetics/notified-state.ts';
import { linkTo } from '../../mail/links.ts';
import { type MailDraft, plainName } from '../../mail/mail-text.ts';
import { forEachSubscribedTenant, type KnownProject, type MailJobPorts, receiversOf } from '../../mail/receivers.ts';

type CheckNotification = SyntheticCheckNotification['what'];

const events = { failing: 'check-failing', recovered: 'check-recovered' } as const;

/**
 * The pending notification of a check; undefined if it was already sent, the state is unknown, or the check is in a
 * planned downtime.
 */
export const pendingNotification = (
  { state, isMaintenance }: Pick<LastVerdict, 'state' | 'isMaintenance'>,
  known: CheckNotification | undefined,
): CheckNotification | undefined => {
  if (isMaintenance || state === 'unknown') return undefined;
  if (state === 'down') return known === 'failing' ? undefined : 'failing';
  return known === 'failing' ? 'recovered' : undefined;
};

const toMailDraft = (
  to: string,
  check: KnownCheck,
  { what, verdict }: { readonly what: CheckNotification; readonly verdict: string },
  settings: MailJobPorts['settings'],
): MailDraft => ({
  to,
  subject: `Check ${what}: ${plainName(check.name)}`,
  paragraphs: [
    `The synthetic check “${plainName(check.name)}” ${what === 'failing' ? 'fails' : 'recovered'}: ${plainName(verdict.toWellFormed())}.`,
    ...(check.description === '' ? [] : [plainName(check.description.slice(0, 2000).toWellFormed())]),
  ],
  link: { text: 'Show the check', url: linkTo(settings, `checks?open=${encodeURIComponent(check.id)}`) },
});

/** Mails about the current state of a check */
const toMailDrafts = async (
  check: KnownCheck,
  notification: { readonly what: CheckNotification; readonly verdict: string },
  {
    tenantId,
    own,
    counters,
    settings,
  }: Pick<MailJobPorts, 'counters' | 'settings'> & {
    readonly tenantId: string;
    readonly own: readonly KnownProject[];
  },
): Promise<MailDraft[]> => {
  // A check without a project concerns all of them.
  const affectedProjects = own.filter(({ id }) => check.projectId === null || check.projectId === id);
  const happened = { event: events[notification.what], severity: check.alerting.severity, about: 'check' } as const;
  const receivers = await receiversOf(counters, tenantId, affectedProjects, happened);
  return [...receivers].map((to) => toMailDraft(to, check, notification, settings));
};

const notifyTenant = async (ports: MailJobPorts, tenantId: string, own: readonly KnownProject[]): Promise<void> => {
  const { documents, columns, clock, mail } = ports;
  const nowMs = clock.now();
  const tenant = documents.of(tenantId);
  const [checks, windows] = await Promise.all([readChecks(tenant, { enabled: true }), readWindows(tenant)]);
  if (checks.length === 0) return;
  const verdicts = await readLastVerdicts(
    { columns: columns.of(tenantId) },
    checks.map(({ id }) => id),
    nowMs,
  );
  const downtimeOf = downtimeAt(windows, nowMs);
  const known = new Map<string, CheckNotification>();
  for await (const { id, what } of documentsIn(tenant.collection(syntheticCheckNotifications))) known.set(id, what);
  for (const check of checks) {
    const now = verdicts.get(check.id);
    if (now === undefined) continue;
    const isMaintenance = now.isMaintenance || downtimeOf(check) !== undefined;
    const what = pendingNotification({ ...now, isMaintenance }, known.get(check.id));
    if (what === undefined) continue;
    const drafts = await toMailDrafts(check, { what, verdict: now.says }, { ...ports, tenantId, own });
    await documents.transaction(async (scope) => {
      const stored = scope.of(tenantId).collection(syntheticCheckNotifications);
      const before = await stored.find(check.id);
      // Another instance may have notified in the meantime.
      if (before?.what === what) return;
      for (const draft of drafts) await mail.put(scope, draft);
      const after = { what, at: new Date(nowMs).toISOString() };
      if (before === undefined) await stored.insert({ id: check.id, ...after });
      else await stored.replace(check.id, after, before.version);
    });
  }
};

/** Checks the synthetic checks of organizations with subscribed projects. A failure does not affect the others. */
export const notifyCheckChanges = async (ports: MailJobPorts, signal: AbortSignal): Promise<void> => {
  await forEachSubscribedTenant(
    ports,
    { events: Object.values(events), what: 'checks' },
    (tenantId, own) => notifyTenant(ports, tenantId, own),
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
