import { z } from 'zod';
import { getFields } from '../../../runtime/stored-fields.ts';
import { alertSeverities } from '../../../schemas/alerts.ts';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  type Incident,
  IncidentFields,
  type IncidentState,
  incidentStates,
  incidents,
} from '../../../schemas/resources/incident.ts';
import { changeState, initialFields, type StateChange } from '../../../subjects/incidents/state.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { findUnknownMember } from '../../resources/members.ts';
import { OutdatedDocumentError } from '../../resources/outdated-document.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter } from '../../resources/resource-list.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { type CompletedDocument, type ResourceContext, storedView } from '../../resources/resource-spec.ts';
import { prepareAcknowledgements } from './acknowledge-alerts.ts';
import { freezeTimelineOf } from './timeline-evidence.ts';
import { createTimelineContext } from './timeline-sources.ts';
import { parseTimeParameter, Time } from './times.ts';

const time = z.iso.datetime().nullable();

const IncidentView = z.strictObject({
  ...IncidentFields.shape,
  openedBy: z.string().describe('User who declared it; empty if alerts opened it'),
  openedAt: z.iso.datetime(),
  firstAcknowledgedAt: time.describe('Remains after reopening'),
  acknowledgedAt: time,
  acknowledgedBy: z.string().nullable(),
  resolvedAt: time,
  resolvedBy: z.string().nullable(),
  reopenedAt: time,
  evidenceHash: z.string().nullable().describe('SHA-256 of the timeline at the last resolution'),
  ruleIds: z.array(z.string()).optional().describe('Rules of its alerts'),
  groupId: z.string().nullable().describe('Group of alerts that opened it; null if it was declared'),
  escalatesAt: time.optional().describe('Time of the next escalation check; null for never'),
  ...storedView,
});

const toView = ({ ruleIds, notifiedAlerts: _, ...incident }: Incident & StoredMetadata) => ({
  ...incident,
  ...(ruleIds && { ruleIds: [...ruleIds] }),
});

const createTransitionError = (from: IncidentState, to: IncidentState): ApiError =>
  new ApiError(
    'CONFLICT',
    from === 'merged'
      ? `the incident is merged and cannot become ${to}: change the incident that it was merged into`
      : `the incident is ${from} and cannot become ${to}`,
  );

/** Moves an incident to another state; throws for impossible transitions. */
const transitionTo = <AnyIncident extends Incident>(
  incident: AnyIncident,
  to: IncidentState,
  how: StateChange,
): AnyIncident => {
  const next = changeState(incident, to, how);
  if (next === undefined) throw createTransitionError(incident.status, to);
  return next;
};

/** Maximum open incidents per organization, beyond which none can be declared. Alerts can still open incidents. */
const maxOpenIncidents = 5000;

const requireCapacity = async (own: TenantDocuments): Promise<void> => {
  const ongoingFilter = { status: { $in: ['open', 'acknowledged'] } };
  if ((await own.collection(incidents).count(ongoingFilter)) >= maxOpenIncidents)
    throw new ApiError('CONFLICT', `${maxOpenIncidents} incidents are ongoing: resolve or merge some first`);
};

const requireKnownRoleHolders = async (
  tenantDocuments: TenantDocuments,
  { roles }: Incident,
  before: Incident | undefined,
): Promise<void> => {
  const previousUserIds = new Set(before?.roles.map(({ userId }) => userId));
  for (const [index, { userId }] of roles.entries())
    if (!previousUserIds.has(userId) && (await findUnknownMember(tenantDocuments, [userId])) !== undefined)
      throw createFieldError(`roles.${index}.userId`, 'is not a user of this organization');
};

/** Restarts the escalation of an ongoing incident whose policy changed. */
const restartEscalation = (incident: Incident, at: string): Incident => {
  const isOngoing = incident.status === 'open' || incident.status === 'acknowledged';
  return { ...incident, escalatesAt: isOngoing && incident.escalationPolicyId !== null ? at : null };
};

/** Throws unless the target of a merge is another incident that exists and is ongoing. */
const requireTarget = async (tenantDocuments: TenantDocuments, id: string, targetId: string): Promise<void> => {
  if (targetId === id) throw createFieldError('mergedInto', 'is the incident itself: choose another one');
  const target = await tenantDocuments.collection(incidents).find(targetId);
  if (target === undefined) throw createFieldError('mergedInto', 'is not an incident of this organization');
  if (target.status === 'merged' || target.status === 'resolved')
    throw new ApiError('CONFLICT', `the incident ${targetId} is ${target.status}: merge into an ongoing incident`);
};

/**
 * Completes a changed incident with the side effects of its transition: it acknowledges the alerts of an acknowledged
 * incident, and freezes the timeline of a resolved one. Both read telemetry, for which no transaction may wait. What was
 * read stays valid if others change the incident meanwhile: at most their last changes are missing.
 */
const completeTransition = async (
  after: Incident,
  before: Incident & StoredMetadata,
  { caller, ports }: ResourceContext,
): Promise<Required<CompletedDocument<Incident>>> => {
  const context = createTimelineContext(caller, ports);
  const acknowledgeAlerts = await prepareAcknowledgements(after, before, context, caller.actor.id);
  const isResolved = after.status === 'resolved' && before.status !== 'resolved';
  const timeline = isResolved ? await freezeTimelineOf(after, before, context) : undefined;
  return {
    document: timeline === undefined ? after : { ...after, evidenceHash: timeline.sha256 },
    rebase(newAfter, newBefore) {
      if (newAfter.status !== 'resolved' || newBefore.status === 'resolved') return newAfter;
      if (timeline === undefined) throw new OutdatedDocumentError();
      return { ...newAfter, evidenceHash: timeline.sha256 };
    },
    async writeRelated(forTenant) {
      await acknowledgeAlerts(forTenant);
      await timeline?.store(forTenant);
    },
  };
};

const requireConsistentMerge = ({ status, mergedInto }: Incident): void => {
  if ((status === 'merged') !== (mergedInto !== null))
    throw createFieldError('mergedInto', 'requires "status": "merged", and vice versa');
};

const computeNewIncident = (incident: Incident): Incident => {
  if (incident.status !== 'open') throw createFieldError('status', 'of a new incident must be open');
  requireConsistentMerge(incident);
  return { ...incident, escalatesAt: incident.escalationPolicyId === null ? null : incident.openedAt };
};

/** Applies the transition to the status of `after`, and restarts the escalation if its policy changed. */
const computeChanged = (after: Incident, before: Incident, stateChange: StateChange): Incident => {
  const { status, mergedInto } = after;
  requireConsistentMerge(after);
  if (before.status === 'merged' && status === 'merged' && mergedInto !== before.mergedInto)
    throw new ApiError('CONFLICT', `the incident is merged into ${before.mergedInto} already`);
  const next = transitionTo({ ...after, status: before.status }, status, stateChange);
  return after.escalationPolicyId === before.escalationPolicyId ? next : restartEscalation(next, stateChange.at);
};

export const incidentResource = defineResource<typeof IncidentFields, Incident, typeof IncidentView>({
  noun: 'incident',
  path: '/api/incidents',
  collection: incidents,
  verbs: ['list', 'create', 'read', 'patch'],
  roles: { read: 'viewer', write: 'editor' },
  fields: IncidentFields,
  example: { title: 'Checkout answers with errors', severity: 'critical', services: ['checkout'] },
  view: IncidentView,
  nameOf: ({ title }) => title,
  show: (documents) => documents.map(toView),
  initial: ({ caller, ports }) => ({
    openedBy: caller.actor.id,
    openedAt: new Date(ports.clock.now()).toISOString(),
    ...initialFields,
    groupId: null,
  }),
  async complete(after, { before, caller, ports }) {
    if (before === undefined) return { document: computeNewIncident(after) };
    const stateChange = { by: caller.actor.id, at: new Date(ports.clock.now()).toISOString() };
    const completed = await completeTransition(computeChanged(after, before, stateChange), before, { caller, ports });
    return {
      ...completed,
      rebase: (newAfter, newBefore) => completed.rebase(computeChanged(newAfter, newBefore, stateChange), newBefore),
    };
  },
  async prepare(after, { before, caller, forTenant }) {
    const tenantDocuments = forTenant(caller.tenantId);
    if (before === undefined) await requireCapacity(tenantDocuments);
    await requireKnownRoleHolders(tenantDocuments, after, before);
    const { mergedInto } = after;
    if (before !== undefined && before.status !== 'merged' && mergedInto !== null)
      await requireTarget(tenantDocuments, before.id, mergedInto);
    return after;
  },
  list: {
    searched: ['title', 'summary'],
    sorts: ['openedAt', 'createdAt', 'updatedAt', 'title'],
    filters: {
      status: createEqualsFilter('status', z.enum(incidentStates)),
      severity: createEqualsFilter('severity', z.enum(alertSeverities)),
      service: createEqualsFilter('services'),
      alertId: createEqualsFilter('alertIds'),
      mergedInto: createEqualsFilter('mergedInto'),
      escalationPolicyId: createEqualsFilter('escalationPolicyId'),
      tag: createEqualsFilter('tags'),
      assigneeId: createEqualsFilter('roles.userId'),
      from: { schema: Time, where: (value, now) => ({ openedAt: { $gte: parseTimeParameter('from', value, now) } }) },
      to: { schema: Time, where: (value, now) => ({ openedAt: { $lte: parseTimeParameter('to', value, now) } }) },
      acknowledged: {
        schema: z.enum(['ever', 'never']).optional(),
        where: (value) => ({ firstAcknowledgedAt: value === 'never' ? null : { $ne: null } }),
      },
    },
  },
});

const defineTransition = (verb: 'acknowledge' | 'resolve' | 'reopen', to: IncidentState, summary: string) =>
  defineOperation({
    method: 'POST',
    path: `/api/incidents/{id}/${verb}`,
    operationId: `${verb}Incident`,
    summary,
    role: 'editor',
    audit: `incident.${verb}`,
    versions: 'write',
    params: idParameter,
    response: IncidentView,
    async handler(input, ports) {
      const stateChange = { by: input.caller.actor.id, at: new Date(ports.clock.now()).toISOString() };
      const context = { caller: input.caller, ports };
      const after = await incidentResource.completeAndChange(
        input.params.id,
        (before) => transitionTo(getFields<Incident>(before), to, stateChange),
        (after, before) => completeTransition(after, before, context),
        { ...input, ports },
      );
      return incidentResource.sendView(after, input, ports);
    },
  });

export const acknowledgeIncident = defineTransition(
  'acknowledge',
  'acknowledged',
  'Acknowledge an incident; repeating it changes nothing',
);
export const resolveIncident = defineTransition(
  'resolve',
  'resolved',
  'Resolve an incident; repeating it changes nothing',
);
export const reopenIncident = defineTransition('reopen', 'open', 'Reopen a resolved incident');
