/**
 * Opens an incident for a group of alerts whose receiver has an escalation policy, or adds to the existing incident.
 */
import { hashOf } from '../../runtime/hash-of.ts';
import { fieldsOf } from '../../runtime/stored-fields.ts';
import { topicMessage } from '../../runtime/topic-message.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import type { Notification } from '../../schemas/notifications.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import { ConflictError, type Documents, type Stored } from '../../schemas/ports/documents.ts';
import { type Incident, incidents } from '../../schemas/resources/incident.ts';
import { topics } from '../../schemas/topics.ts';
import { groupIdOf, planIncidentChange } from '../../subjects/incidents/from-alerts.ts';
import { readPolicyOrOwners } from '../../subjects/on-call/reading.ts';

/** Maximum number of conflicting writes before the batch is read again. */
const maxAttempts = 50;
/** Maximum depth of merged incidents that are followed. */
const deepest = 100;

type Known = Incident & Stored;

/** Returns the current incident of a group: its last one, or the incident that one was merged into. */
const latestOf = async (documents: Pick<Documents, 'of'>, notification: Notification): Promise<Known | undefined> => {
  const stored = documents.of(notification.tenantId).collection(incidents);
  const filter = { groupId: groupIdOf(notification) };
  let [found] = (await stored.list({ filter, sort: { openedAt: -1 }, limit: 1 })).items;
  for (let level = 0; found?.mergedInto && level < deepest; level++) found = await stored.find(found.mergedInto);
  return found;
};

type Verb = 'opened' | 'reopened';

/** Returns whether an incident was opened or reopened at a time; undefined for neither. */
const verbOf = ({ openedAt, reopenedAt }: Incident, at: string): Verb | undefined => {
  if (openedAt === at) return 'opened';
  return reopenedAt === at ? 'reopened' : undefined;
};

/** Builds the platform event. Its id derives from the incident and the transition, so it exists once. */
const eventOf = (tenantId: string, incident: Known, verb: Verb, at: string): PlatformEvent => {
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
    id: hashOf(id, verb, at),
    title: `Incident ${verb}: ${title}`.slice(0, 256).toWellFormed(),
    text: `${alertIds.length} ${alertIds.length === 1 ? 'alert' : 'alerts'}`,
    service: services.length === 1 ? (services[0] ?? '') : '',
    actor: { type: 'system', id: 'incidents' },
    details: { incidentId: id, status },
  };
};

/** Applies a notification to the incident of its group, and returns that incident. */
const written = async (documents: Pick<Documents, 'of'>, notification: Notification): Promise<Known | undefined> => {
  const stored = documents.of(notification.tenantId).collection(incidents);
  const latest = await latestOf(documents, notification);
  const policyId = latest?.escalationPolicyId ?? notification.escalationPolicyId ?? null;
  const change = planIncidentChange(
    latest,
    notification,
    await readPolicyOrOwners(documents.of(notification.tenantId), policyId),
  );
  if (change === undefined) return latest;
  if ('opens' in change) return stored.insert(change.opens);
  return latest && stored.replace(latest.id, fieldsOf({ ...latest, ...change.becomes }), latest.version);
};

/**
 * Applies a notification to the incident of its group; a repeated notification writes nothing. Returns the platform
 * event of an incident that opened or reopened, also on repetition, because the process may have ended in between.
 */
export const applyAlerts = async (documents: Pick<Documents, 'of'>, notification: Notification): Promise<Message[]> => {
  const { tenantId, atMs } = notification;
  const at = new Date(atMs).toISOString();
  for (let attempt = 1; ; attempt++) {
    try {
      const incident = await written(documents, notification);
      const verb = incident && verbOf(incident, at);
      return incident && verb ? [topicMessage(topics.events, eventOf(tenantId, incident, verb, at))] : [];
    } catch (error) {
      // Another instance, or a person, was faster; retry.
      if (!(error instanceof ConflictError) || attempt >= maxAttempts) throw error;
    }
  }
};
