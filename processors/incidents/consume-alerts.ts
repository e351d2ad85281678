/**
 * Opens an incident for a group of alerts whose receiver has an escalation policy, or adds to the existing incident.
 */
import { computeHashId } from '../../runtime/hash-id.ts';
import { getFields } from '../../runtime/stored-fields.ts';
import { buildTopicMessage } from '../../runtime/topic-message.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import type { Notification } from '../../schemas/notifications.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import { ConflictError, type Documents, type StoredMetadata } from '../../schemas/ports/documents.ts';
import { type Incident, incidents } from '../../schemas/resources/incident.ts';
import { topics } from '../../schemas/topics.ts';
import { getNotificationGroupId, planIncidentChange } from '../../subjects/incidents/from-alerts.ts';
import { readPolicyOrOwners } from '../../subjects/on-call/read-on-call.ts';

/** Maximum number of conflicting writes before the batch is read again. */
const maxAttempts = 50;
/** Maximum depth of merged incidents that are followed. */
const maxMergeDepth = 100;

type StoredIncident = Incident & StoredMetadata;

/** Returns the current incident of a group: its last one, or the incident that one was merged into. */
const findLatestIncident = async (
  documents: Pick<Documents, 'forTenant'>,
  notification: Notification,
): Promise<StoredIncident | undefined> => {
  const incidentCollection = documents.forTenant(notification.tenantId).collection(incidents);
  const filter = { groupId: getNotificationGroupId(notification) };
  let [incident] = (await incidentCollection.list({ filter, sort: { openedAt: -1 }, limit: 1 })).items;
  for (let level = 0; incident?.mergedInto && level < maxMergeDepth; level++)
    incident = await incidentCollection.find(incident.mergedInto);
  return incident;
};

type IncidentChange = 'opened' | 'reopened';

/** Returns whether an incident was opened or reopened at a time; undefined for neither. */
const findChange = ({ openedAt, reopenedAt }: Incident, at: string): IncidentChange | undefined => {
  if (openedAt === at) return 'opened';
  return reopenedAt === at ? 'reopened' : undefined;
};

/** Builds the platform event. Its id derives from the incident and the transition, so it exists once. */
const toEvent = (tenantId: string, incident: StoredIncident, verb: IncidentChange, at: string): PlatformEvent => {
  const { id, title, severity, services, alertIds, status } = incident;
  return {
    tenantId,
    projectId: '',
    kind: 'incident',
    at,
    severity,
    environment: '',
    tags: {},
    link: '',
    id: computeHashId(id, verb, at),
    title: `Incident ${verb}: ${title}`.slice(0, 256).toWellFormed(),
    text: `${alertIds.length} ${alertIds.length === 1 ? 'alert' : 'alerts'}`,
    service: services.length === 1 ? (services[0] ?? '') : '',
    actor: { type: 'system', id: 'incidents' },
    details: { incidentId: id, status },
  };
};

/** Applies a notification to the incident of its group, and returns that incident. */
const writeIncident = async (
  documents: Pick<Documents, 'forTenant'>,
  notification: Notification,
): Promise<StoredIncident | undefined> => {
  const incidentCollection = documents.forTenant(notification.tenantId).collection(incidents);
  const latest = await findLatestIncident(documents, notification);
  const policyId = latest?.escalationPolicyId ?? notification.escalationPolicyId ?? null;
  const change = planIncidentChange(
    latest,
    notification,
    await readPolicyOrOwners(documents.forTenant(notification.tenantId), policyId),
  );
  if (change === undefined) return latest;
  if ('opens' in change) return incidentCollection.insert(change.opens);
  return latest && incidentCollection.replace(latest.id, getFields({ ...latest, ...change.becomes }), latest.version);
};

/**
 * Applies a notification to the incident of its group; a repeated notification writes nothing. Returns the platform
 * event of an incident that opened or reopened, also on repetition, because the process may have ended in between.
 */
export const applyAlerts = async (
  documents: Pick<Documents, 'forTenant'>,
  notification: Notification,
): Promise<Message[]> => {
  const { tenantId, atMs } = notification;
  const at = new Date(atMs).toISOString();
  for (let attempt = 1; ; attempt++) {
    try {
      const incident = await writeIncident(documents, notification);
      const verb = incident && findChange(incident, at);
      return incident && verb ? [buildTopicMessage(topics.events, toEvent(tenantId, incident, verb, at))] : [];
    } catch (error) {
      // Another instance or a person changed the incident first; retry.
      if (!(error instanceof ConflictError) || attempt >= maxAttempts) throw error;
    }
  }
};
