/** Escalates incidents: queues the pages that are due, and reopens incidents whose acknowledgement expired. */
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import { computeHashId } from '../../../runtime/hash-id.ts';
import { defineJob } from '../../../runtime/jobs.ts';
import { getFields } from '../../../runtime/stored-fields.ts';
import type { Clock } from '../../../schemas/ports/clock.ts';
import type { Documents, StoredMetadata } from '../../../schemas/ports/documents.ts';
import type { Log } from '../../../schemas/ports/log.ts';
import {
  type Escalation,
  type EscalationAction,
  escalationActions,
  escalations,
  type IncidentNotification,
  type PageOpening,
} from '../../../schemas/resources/escalation.ts';
import { type Incident, incidents } from '../../../schemas/resources/incident.ts';
import { pendingDeliveries } from '../../../schemas/resources/notification-delivery.ts';
import { organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { removeAcknowledgement } from '../../../subjects/incidents/state.ts';
import type { Page } from '../../../subjects/on-call/escalation.ts';
import {
  checkEscalation,
  type EscalationCheck,
  getEscalationKey,
  getEscalationStart,
} from '../../../subjects/on-call/incident-escalation.ts';
import { createPageDelivery, type PagingContext } from '../../../subjects/on-call/page.ts';
import { decidePageEnd, toPageEndDelivery } from '../../../subjects/on-call/page-end.ts';
import { type NamedResponders, readResponders } from '../../../subjects/on-call/people.ts';
import { readPolicyOrOwners } from '../../../subjects/on-call/read-on-call.ts';
import { type AuditedTransaction, createSystemActor, createSystemTransact } from '../../changes.ts';
import { getPendingNotification, type MailingPorts, toMailDrafts } from './project-mails.ts';
import { writeIncident } from './write.ts';

export interface EscalatePorts extends MailingPorts {
  readonly clock: Clock;
  readonly log: Log;
}

type StoredIncident = Incident & StoredMetadata;

interface EscalationRecord {
  readonly key: string;
  readonly state: Escalation;
  readonly openings?: readonly PageOpening[];
  readonly notified?: IncidentNotification | undefined;
}

interface QueueContext extends PagingContext {
  readonly forTenant: Documents['forTenant'];
  readonly responders: NamedResponders;
}

/** Queues messages that close or acknowledge external incidents opened by pages; returns the open ones. */
const queuePageEnds = async (
  incident: StoredIncident,
  evaluation: EscalationCheck,
  escalation: EscalationRecord | undefined,
  putting: QueueContext,
): Promise<readonly PageOpening[]> => {
  const openings = escalation?.openings ?? [];
  const endStatus = decidePageEnd(incident, escalation, evaluation);
  if (endStatus === undefined) return openings;
  const pending = putting.forTenant(putting.tenantId).collection(pendingDeliveries);
  for (const opening of openings) {
    const end = toPageEndDelivery(incident, opening, endStatus, putting);
    if ((await pending.find(end.id)) === undefined) await pending.insert(end);
  }
  return endStatus === 'resolved' ? [] : openings;
};

/** A page to one channel, or by one contact of a person. */
interface PageDelivery {
  readonly delivery: ReturnType<typeof createPageDelivery>;
  readonly to: NonNullable<EscalationAction['to']>;
  /** Object that the page opens in an external service, if any */
  readonly opening: PageOpening | undefined;
}

const toDeliveries = (incident: StoredIncident, page: Page, context: QueueContext): PageDelivery[] => {
  const { responders } = context;
  const { to } = page;
  const name = responders.getName(to);
  if (to.kind === 'channel') {
    const opening = responders.opensItemAt(to.id) ? { channelId: to.id, userId: null } : undefined;
    return [{ delivery: createPageDelivery(incident, page, context), to: { ...to, name }, opening }];
  }
  return responders.getContacts(to.id).map((contact) => ({
    delivery: createPageDelivery(incident, page, { ...context, contact }),
    to: { ...to, name, ...(contact.id !== null && { contact: contact.name }) },
    opening: contact.opens && contact.id !== null ? { channelId: contact.id, userId: to.id } : undefined,
  }));
};

/** Queues the pages, writes their timeline entries, and returns the openings in external services. */
const queuePages = async (
  incident: StoredIncident,
  { key, pages, notes }: EscalationCheck,
  context: QueueContext,
): Promise<readonly PageOpening[]> => {
  const { forTenant, tenantId, nowMs } = context;
  const actions = forTenant(tenantId).collection(escalationActions);
  const pending = forTenant(tenantId).collection(pendingDeliveries);
  const commonFields = { incidentId: incident.id, at: new Date(nowMs).toISOString() };
  for (const note of notes) {
    const { kind, round, step = null, reason = null } = note;
    await actions.insert({
      id: computeHashId(key, [note, commonFields.at]),
      ...commonFields,
      kind,
      round,
      step,
      reason,
      to: null,
    });
  }
  const deliveries = pages.flatMap((page) =>
    toDeliveries(incident, page, context).map((delivery) => ({ ...delivery, page })),
  );
  for (const { delivery, to, page } of deliveries) {
    if ((await pending.find(delivery.id)) !== undefined) continue;
    await pending.insert(delivery);
    const { round, step } = page;
    await actions.insert({ id: delivery.id, ...commonFields, kind: 'page', round, step, reason: null, to });
  }
  return deliveries.flatMap(({ opening }) => opening ?? []);
};

const distinctByChannel = (openings: readonly PageOpening[]): PageOpening[] => [
  ...new Map(openings.map((opening) => [opening.channelId, opening])).values(),
];

/** Writes the incident after the evaluation; an audit record is written only if its acknowledgement expired. */
const writeEvaluatedIncident = async (
  scope: AuditedTransaction,
  tenantId: string,
  before: StoredIncident,
  { escalatesAt, isTimedOut }: EscalationCheck,
): Promise<void> => {
  const fields = getFields<Incident>(before);
  if (isTimedOut) {
    const next = { ...removeAcknowledgement(fields), escalatesAt };
    return writeIncident(scope, tenantId, { before, next, actor: createSystemActor('incidents') });
  }
  scope.markUnchanged();
  // Do not create a new version if nothing changed, so that the ETags of clients stay valid.
  if ((before.escalatesAt ?? null) === escalatesAt) return;
  await scope
    .forTenant(tenantId)
    .collection(incidents)
    .replace(before.id, { ...fields, escalatesAt }, before.version);
};

/** Runs one transaction: escalation state, pages and incident are all stored, or none. */
const escalateOne = async (
  ports: EscalatePorts,
  tenantId: string,
  { id }: Pick<StoredIncident, 'id'>,
): Promise<void> => {
  const { documents, clock, mail } = ports;
  const incident = await documents.forTenant(tenantId).collection(incidents).find(id);
  if (incident === undefined) return;
  const policy = await readPolicyOrOwners(documents.forTenant(tenantId), incident.escalationPolicyId);
  const nowMs = clock.now();
  const notification = getPendingNotification(
    incident,
    await documents.forTenant(tenantId).collection(escalations).find(id),
  );
  const drafts = notification === undefined ? [] : await toMailDrafts(incident, tenantId, notification, ports);
  const responders = await readResponders(documents, tenantId, { policy, atMs: nowMs, nowMs });
  await createSystemTransact(
    ports,
    'incident.escalate',
  )(async (scope) => {
    const tenantDocuments = scope.forTenant(tenantId);
    const before = await tenantDocuments.collection(incidents).find(id);
    // Concurrent changes are evaluated in the next run.
    if (before?.version !== incident.version) return scope.markUnchanged();
    const escalation = await tenantDocuments.collection(escalations).find(id);
    const evaluation = checkEscalation(before, escalation, { policy, responders, nowMs });
    const { key, state } = evaluation;
    const context = { forTenant: scope.forTenant, tenantId, policyName: policy.name, responders, nowMs };
    const remainingOpenings = await queuePageEnds(before, evaluation, escalation, context);
    const openings = distinctByChannel([...remainingOpenings, ...(await queuePages(before, evaluation, context))]);
    // Another instance may have notified in the meantime.
    if (getPendingNotification(before, escalation) !== undefined)
      for (const draft of drafts) await mail.enqueue(scope, draft);
    const notified = notification ?? escalation?.notified ?? { since: getEscalationStart(before), what: 'opened' };
    const after = { key, state, openings, notified };
    if (escalation === undefined) await tenantDocuments.collection(escalations).insert({ id, ...after });
    else await tenantDocuments.collection(escalations).replace(id, after, escalation.version);
    await writeEvaluatedIncident(scope, tenantId, before, evaluation);
  });
};

/**
 * How long after its last change an incident is checked for pending notifications even if it is not due: as long as all
 * processes may be down.
 */
const recentChangeMs = 30 * 60_000;

/**
 * Whether an incident has notifications to send although no page is due: mail about its opening or resolution, or the
 * resolution of incidents that its pages opened in external services.
 */
const shouldNotify = (incident: StoredIncident, escalation: EscalationRecord | undefined): boolean => {
  if (getPendingNotification(incident, escalation) !== undefined) return true;
  const evaluation = { key: getEscalationKey(incident), isTimedOut: false };
  return (escalation?.openings ?? []).length > 0 && decidePageEnd(incident, escalation, evaluation) === 'resolved';
};

/** Returns the incidents to evaluate: those that are due, and changed ones with pending notifications. */
const findDueIncidents = async ({ documents, clock }: EscalatePorts) => {
  const iso = (ms: number): string => new Date(ms).toISOString();
  const nowMs = clock.now();
  const due = new Map<string, { readonly tenantId: string; readonly id: string }>();
  for await (const { tenantId, id } of documents.findInAllTenants(incidents, { escalatesAt: { $lte: iso(nowMs) } }))
    due.set(`${tenantId}/${id}`, { tenantId, id });
  const changed: (StoredIncident & { readonly tenantId: string })[] = [];
  for await (const incident of documents.findInAllTenants(incidents, {
    updatedAt: { $gte: iso(nowMs - recentChangeMs) },
  }))
    if (!due.has(`${incident.tenantId}/${incident.id}`)) changed.push(incident);
  for (const [tenantId, tenantIncidents] of Map.groupBy(changed, (incident) => incident.tenantId)) {
    const filter = { id: { $in: tenantIncidents.map(({ id }) => id) } };
    const escalationsById = new Map<string, EscalationRecord>();
    for await (const escalation of iterateDocuments(documents.forTenant(tenantId).collection(escalations), { filter }))
      escalationsById.set(escalation.id, escalation);
    for (const { tenantId: _, ...incident } of tenantIncidents)
      if (shouldNotify(incident, escalationsById.get(incident.id)))
        due.set(`${tenantId}/${incident.id}`, { tenantId, id: incident.id });
  }
  return due.values();
};

/** Evaluates each due incident, except those of closed organizations. A failed one does not affect the others. */
export const escalateDue = async (ports: EscalatePorts, signal: AbortSignal): Promise<void> => {
  const organizationCollection = ports.documents.forTenant(organizationsTenant).collection(organizations);
  const closed = new Map<string, boolean>();
  for (const { tenantId, id } of await findDueIncidents(ports)) {
    if (signal.aborted) return;
    if (!closed.has(tenantId)) closed.set(tenantId, (await organizationCollection.find(tenantId))?.disabled === true);
    if (closed.get(tenantId)) continue;
    await escalateOne(ports, tenantId, { id }).catch((error: unknown) =>
      ports.log.warn({ error, tenantId, incident: id }, 'an incident could not be escalated; retrying'),
    );
  }
};

export const escalateJob = defineJob<EscalatePorts>({
  name: 'incidents-escalate',
  summary: 'Page people for incidents',
  everyMs: 3000,
  scope: 'installation',
  run: escalateDue,
});
