/** Opens an incident for a group of alerts that a receiver with an escalation policy is told of, or adds to the one that there is. */
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

/** Writes of others that may come in between, before the batch is read again. */
const maxAttempts = 50;
/** Merges of merges that are followed. */
const deepest = 100;

type Known = Incident & Stored;

/** The incident that goes on for a group: the one that it had last, or what that was merged into. */
const latestOf = async (documents: Pick<Documents, 'of'>, notification: Notification): Promise<Known | undefined> => {
  const stored = documents.of(notification.tenantId).collection(incidents);
  const filter = { groupId: groupIdOf(notification) };
  let [found] = (await stored.list({ filter, sort: { openedAt: -1 }, limit: 1 })).items;
  for (let level = 0; found?.mergedInto && level < deepest; level++) found = await stored.find(found.mergedInto);
  return found;
};

type Verb = 'opened' | 'reopened';

/** Whether an incident opened or reopened by what was told at a time. */
const verbOf = ({ openedAt, reopenedAt }: Incident, at: string): Verb | undefined => {
  if (openedAt === at) return 'opened';
  return reopenedAt === at ? 'reopened' : undefined;
};

/** The event of the feed. Its id follows from the incident and what is told, so it is there once. */
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

/** Writes what a notification makes of the incident of its group, and answers that incident. */
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
 * Writes what a notification makes of the incident of its group; told again, it writes nothing. Answers what tells the feed of
 * an incident that opened or reopened: also when it is told again, as the process may have ended in between.
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
      // Another instance, or a person, was faster: look again.
      if (!(error instanceof ConflictError) || attempt >= maxAttempts) throw error;
    }
  }
};
