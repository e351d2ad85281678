/** Resolves incidents that alerts opened, when all their alerts have been inactive for the time in the escalation policy. */
import { defineJob } from '../../../runtime/jobs.ts';
import { getFields } from '../../../runtime/stored-fields.ts';
import type { Columns } from '../../../schemas/ports/columns.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Incident, incidents } from '../../../schemas/resources/incident.ts';
import { readPlan } from '../../../schemas/resources/tenant-plan.ts';
import { findEndMs, readLastTransitions } from '../../../subjects/incidents/ended.ts';
import { changeState } from '../../../subjects/incidents/state.ts';
import { readPolicyOrOwners } from '../../../subjects/on-call/reading.ts';
import { createSystemActor, createSystemTransact } from '../../changes.ts';
import { freezeIfResolved } from './timeline-evidence.ts';
import type { TimelineContext } from './timeline-sources.ts';
import { writeIncident } from './write.ts';

export interface EndedPorts
  extends Pick<TimelineContext['ports'], 'documents' | 'clock' | 'log' | 'configurationActions'> {
  readonly columns: Columns;
}

type StoredIncident = Incident & StoredMetadata;

const ongoingFilter = { status: { $in: ['open', 'acknowledged'] }, groupId: { $ne: null } };

/** Resolves an incident at the time when its alerts ended, so that an alert that fires after this time reopens it. */
const resolveIncident = (incident: StoredIncident, endedMs: number, context: TimelineContext): Promise<void> => {
  const { tenantId, ports } = context;
  return createSystemTransact(
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
    const frozenIncident = await freezeIfResolved(next, before, { ...context, forTenant: scope.forTenant });
    await writeIncident(scope, tenantId, { before, next: frozenIncident, actor: createSystemActor('incidents') });
  });
};

const resolveTenantIncidents = async (
  tenantId: string,
  tenantIncidents: readonly StoredIncident[],
  ports: EndedPorts,
): Promise<void> => {
  const plan = await readPlan(ports.documents, tenantId);
  if (plan === undefined) return;
  const nowMs = ports.clock.now();
  const reading = { columns: ports.columns.forTenant(tenantId), plan, nowMs };
  for (const incident of tenantIncidents) {
    if (incident.alertIds.length === 0) continue;
    const endedMs = findEndMs(incident.alertIds, await readLastTransitions(reading.columns, incident.alertIds));
    if (endedMs === undefined) continue;
    const tenantDocuments = ports.documents.forTenant(tenantId);
    const { resolveAfterMinutes } = await readPolicyOrOwners(tenantDocuments, incident.escalationPolicyId);
    if (nowMs - endedMs >= resolveAfterMinutes * 60_000)
      await resolveIncident(incident, endedMs, { tenantId, reading, ports });
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
  everyMs: 15_000,
  scope: 'installation',
  run: resolveEnded,
});
