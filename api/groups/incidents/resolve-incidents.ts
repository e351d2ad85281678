/**
 * Resolves incidents that alerts opened, when all their alerts have been inactive for the time in the escalation policy.
 * Their timelines are frozen afterwards, because that takes queries for each, and pages must end at once.
 */
import { defineJob } from '../../../runtime/jobs.ts';
import { getFields } from '../../../runtime/stored-fields.ts';
import type { Columns } from '../../../schemas/ports/columns.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Incident, incidents } from '../../../schemas/resources/incident.ts';
import { readPlan } from '../../../schemas/resources/tenant-plan.ts';
import { findEndMs, readLastTransitions } from '../../../subjects/incidents/end-times.ts';
import { changeState } from '../../../subjects/incidents/state.ts';
import { readPolicyOrOwners } from '../../../subjects/on-call/read-on-call.ts';
import { createSystemActor, createSystemTransact } from '../../changes.ts';
import { freezeTimelineOf } from './timeline-evidence.ts';
import type { TimelineContext } from './timeline-sources.ts';
import { writeIncident } from './write.ts';

export interface EndedPorts
  extends Pick<TimelineContext['ports'], 'documents' | 'clock' | 'log' | 'configurationActions'> {
  readonly columns: Columns;
}

type StoredIncident = Incident & StoredMetadata;

const ongoingFilter = { status: { $in: ['open', 'acknowledged'] }, groupId: { $ne: null } };

/** Resolves an incident at the time when its alerts ended, so that an alert that fires after this time reopens it. */
const resolveIncident = (
  incident: StoredIncident,
  endedMs: number,
  { tenantId, ports }: Omit<TimelineContext, 'reader'>,
): Promise<void> =>
  createSystemTransact(
    ports,
    'incident.resolve',
  )(async (scope) => {
    const before = await scope.forTenant(tenantId).collection(incidents).find(incident.id);
    const fromMs = Math.max(endedMs, Date.parse(incident.reopenedAt ?? incident.openedAt));
    const at = new Date(fromMs).toISOString();
    // Concurrent changes are evaluated in the next run.
    const next =
      before?.version === incident.version
        ? changeState(getFields<Incident>(before), 'resolved', { by: '', at })
        : undefined;
    if (before === undefined || next === undefined) return scope.markUnchanged();
    const unfrozenIncident = { ...next, evidenceHash: null };
    await writeIncident(scope, tenantId, { before, next: unfrozenIncident, actor: createSystemActor('incidents') });
  });

/** Maximum number of alerts in one query. */
const maxAlerts = 5000;

/** Splits incidents so that their alerts fit into one query. */
const splitByAlerts = (tenantIncidents: readonly StoredIncident[]): StoredIncident[][] => {
  const chunks: StoredIncident[][] = [];
  let alerts = Number.POSITIVE_INFINITY;
  for (const incident of tenantIncidents) {
    alerts += incident.alertIds.length;
    if (alerts > maxAlerts) {
      chunks.push([]);
      alerts = incident.alertIds.length;
    }
    chunks.at(-1)?.push(incident);
  }
  return chunks;
};

const resolveTenantIncidents = async (
  tenantId: string,
  tenantIncidents: readonly StoredIncident[],
  ports: EndedPorts,
): Promise<void> => {
  const plan = await readPlan(ports.documents, tenantId);
  if (plan === undefined) return;
  const nowMs = ports.clock.now();
  const reader = { columns: ports.columns.forTenant(tenantId), plan, nowMs };
  const tenantDocuments = ports.documents.forTenant(tenantId);
  const policies = new Map<string | null, ReturnType<typeof readPolicyOrOwners>>();
  for (const chunk of splitByAlerts(tenantIncidents.filter(({ alertIds }) => alertIds.length > 0))) {
    const alertIds = [...new Set(chunk.flatMap((incident) => incident.alertIds))];
    const lastTransitions = await readLastTransitions(reader.columns, alertIds);
    for (const incident of chunk) {
      const endedMs = findEndMs(incident.alertIds, lastTransitions);
      if (endedMs === undefined) continue;
      const policyId = incident.escalationPolicyId;
      const policy = policies.get(policyId) ?? readPolicyOrOwners(tenantDocuments, policyId);
      policies.set(policyId, policy);
      if (nowMs - endedMs >= (await policy).resolveAfterMinutes * 60_000)
        await resolveIncident(incident, endedMs, { tenantId, ports });
    }
  }
};

/** Resolves incidents whose alerts ended. A failed read of one organization's alerts does not affect the others. */
export const resolveEnded = async (ports: EndedPorts, signal: AbortSignal): Promise<void> => {
  const byTenant = new Map<string, StoredIncident[]>();
  for await (const { tenantId, ...incident } of ports.documents.findInAllTenants(incidents, ongoingFilter)) {
    const tenantIncidents = byTenant.get(tenantId) ?? [];
    tenantIncidents.push(incident as StoredIncident);
    byTenant.set(tenantId, tenantIncidents);
  }
  for (const [tenantId, tenantIncidents] of byTenant) {
    if (signal.aborted) return;
    await resolveTenantIncidents(tenantId, tenantIncidents, ports).catch((error: unknown) =>
      ports.log.warn({ error, tenantId }, 'incidents could not be resolved; retrying'),
    );
  }
};

export const resolveEndedJob = defineJob<EndedPorts>({
  name: 'incidents-ended',
  summary: 'Resolve incidents whose alerts have ended',
  everyMs: 5000,
  scope: 'installation',
  run: resolveEnded,
});

/** How long ago an incident may have been resolved whose timeline is still to be frozen. */
const maxUnfrozenMs = 86_400_000;

const freezeIncident = async (incident: StoredIncident, context: TimelineContext): Promise<void> => {
  const { tenantId, ports } = context;
  const timeline = await freezeTimelineOf(getFields<Incident>(incident), incident, context);
  await createSystemTransact(
    ports,
    'incident.freeze',
  )(async (scope) => {
    const before = await scope.forTenant(tenantId).collection(incidents).find(incident.id);
    if (before?.version !== incident.version) return scope.markUnchanged();
    await timeline.store(scope.forTenant);
    const next = { ...getFields<Incident>(before), evidenceHash: timeline.sha256 };
    await writeIncident(scope, tenantId, { before, next, actor: createSystemActor('incidents') });
  });
};

/** Freezes the timelines of incidents that were resolved because their alerts ended. */
export const freezeResolved = async (ports: EndedPorts, signal: AbortSignal): Promise<void> => {
  const since = new Date(ports.clock.now() - maxUnfrozenMs).toISOString();
  const filter = { status: 'resolved', evidenceHash: null, resolvedAt: { $gte: since } };
  for await (const { tenantId, ...incident } of ports.documents.findInAllTenants(incidents, filter)) {
    if (signal.aborted) return;
    const plan = await readPlan(ports.documents, tenantId);
    if (plan === undefined) continue;
    const reader = { columns: ports.columns.forTenant(tenantId), plan, nowMs: ports.clock.now() };
    await freezeIncident(incident as StoredIncident, { tenantId, reader, ports }).catch((error: unknown) =>
      ports.log.warn({ error, tenantId, incident: incident.id }, 'a timeline could not be frozen; retrying'),
    );
  }
};

export const freezeResolvedJob = defineJob<EndedPorts>({
  name: 'incidents-freeze',
  summary: 'Freeze the timelines of incidents that were resolved',
  everyMs: 5000,
  scope: 'installation',
  run: freezeResolved,
});
