/** Receivers of projects for events of incidents, SLOs and synthetic checks. */
import { alertSeverities } from '../../schemas/alerts.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import type { Documents, StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { type Project, type ProjectEvent, projects } from '../../schemas/resources/project.ts';
import type { Settings } from '../../schemas/settings.ts';
import type { MailQueue } from './queue.ts';

/** Rate limit of mails of one kind per project. Events beyond it, during an alert storm, are only visible in the lists. */
const projectMailLimit = { rate: 1 / 30, burst: 20 };

const getSeverityRank = (severity: string): number =>
  alertSeverities.indexOf(severity as (typeof alertSeverities)[number]);

interface NotificationEvent {
  readonly event: ProjectEvent;
  readonly severity: string;
  /** Type of object by which mails are counted */
  readonly about: 'incident' | 'slo' | 'check';
}

const isSubscribed = ({ notifications }: Project, { event, severity }: NotificationEvent): boolean =>
  notifications?.enabled === true &&
  notifications.events.includes(event) &&
  getSeverityRank(severity) >= getSeverityRank(notifications.minimumSeverity);

export type StoredProject = Project & StoredMetadata;

/** Ports for jobs that evaluate and notify by mail. */
export interface MailJobPorts {
  readonly documents: Documents;
  readonly columns: Columns;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly log: Log;
  readonly mail: MailQueue;
  readonly settings: Pick<Settings, 'PUBLIC_URL' | 'HTTP_ADDRESS'>;
}

/**
 * Processes each organization with projects that subscribe to one of these events. A failure does not affect the
 * other organizations; `what` is the subject of the log message.
 */
export const forEachSubscribedTenant = async (
  { documents, log }: Pick<MailJobPorts, 'documents' | 'log'>,
  { events, subject }: { readonly events: readonly ProjectEvent[]; readonly subject: string },
  visit: (tenantId: string, subscribedProjects: readonly StoredProject[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const subscribers: (StoredProject & { readonly tenantId: string })[] = [];
  for await (const project of documents.findInAllTenants(projects, { 'notifications.enabled': true }))
    if (project.notifications?.events.some((event) => events.includes(event))) subscribers.push(project);
  for (const [tenantId, tenantProjects] of Map.groupBy(subscribers, (project) => project.tenantId)) {
    if (signal.aborted) return;
    await visit(tenantId, tenantProjects).catch((error: unknown) =>
      log.warn(
        { error, tenantId },
        `receivers of projects could not be notified of ${subject}; retrying at the next check`,
      ),
    );
  }
};

/** Returns the addresses of the subscribed projects, without duplicates. Projects above their rate limit are omitted. */
export const collectReceivers = async (
  counters: Counters,
  tenantId: string,
  subscribedProjects: readonly StoredProject[],
  event: NotificationEvent,
): Promise<ReadonlySet<string>> => {
  const receivers = new Set<string>();
  for (const project of subscribedProjects) {
    const recipients = project.notifications?.recipients ?? [];
    if (recipients.length === 0 || !isSubscribed(project, event)) continue;
    const { granted } = await counters.consume(`${event.about}-mail/${tenantId}/${project.id}`, projectMailLimit, 1);
    if (granted > 0) for (const address of recipients) receivers.add(address);
  }
  return receivers;
};
