/** Whom projects name for what happens: alike for incidents, objectives and synthetic checks. */
import { alertSeverities } from '../../schemas/alerts.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import type { Project, ProjectEvent } from '../../schemas/resources/project.ts';

/** Mails of one kind about one project: what comes in a storm is in the lists. */
const ofProject = { rate: 1 / 30, burst: 20 };

const rankOf = (severity: string): number => alertSeverities.indexOf(severity as (typeof alertSeverities)[number]);

interface Happened {
  readonly event: ProjectEvent;
  readonly severity: string;
  /** Kind of thing by which mails are counted. */
  readonly about: 'incident' | 'slo' | 'check';
}

const wants = ({ notifications }: Project, { event, severity }: Happened): boolean =>
  notifications?.enabled === true &&
  notifications.events.includes(event) &&
  rankOf(severity) >= rankOf(notifications.minimumSeverity);

/** Addresses of those projects that want to be told, each once. A project in a storm is left out until it is over. */
export const receiversOf = async (
  counters: Counters,
  tenantId: string,
  projects: readonly (Project & Stored)[],
  happened: Happened,
): Promise<ReadonlySet<string>> => {
  const receivers = new Set<string>();
  for (const project of projects) {
    const recipients = project.notifications?.recipients ?? [];
    if (recipients.length === 0 || !wants(project, happened)) continue;
    const { granted } = await counters.take(`${happened.about}-mail/${tenantId}/${project.id}`, ofProject, 1);
    if (granted > 0) for (const address of recipients) receivers.add(address);
  }
  return receivers;
};
