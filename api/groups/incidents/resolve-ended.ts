/** Resolves incidents opened by alerts once all their alerts have ended for a while. */
import { defineJob } from '../../../runtime/jobs.ts';
import { fieldsOf } from '../../../runtime/stored-fields.ts';
import type { Columns } from '../../../schemas/ports/columns.ts';
import type { Stored } from '../../../schemas/ports/documents.ts';
import { type Incident, incidents } from '../../../schemas/resources/incident.ts';
import { readPlanOf } from '../../../schemas/resources/tenant-plan.ts';
import { endedMsOf, readLastTransitions } from '../../../subjects/incidents/ended.ts';
import { moved } from '../../../subjects/incidents/state.ts';
import { readPolicyOrOwners } from '../../../subjects/on-call/reading.ts';
import { systemActor, systemChange } from '../../changes.ts';
import { withEvidence } from './timeline-evidence.ts';
import type { TimelineContext } from './timeline-sources.ts';
import { writeIncident } from './write.ts';

export interface EndedPorts
  extends Pick<TimelineContext['ports'], 'documents' | 'clock' | 'log' | 'configurationActions'> {
  readonly columns: Columns;
}

type Known = Incident & Stored;

const goingOn = { status: { $in: ['open', 'acknowledged'] }, groupId: { $ne: null } };

/** Resolves the incident as of the end of its alerts: alerts that fire later are new to it. */
const resolve = (incident: Known, endedMs: number, context: TimelineContext): Promise<void> => {
  const { tenantId, ports } = context;
  return systemChange(
    ports,
    'incident.resolve',
  )(async (scope) => {
    const before = await scope.of(tenantId).collection(incidents).find(incident.id);
    const fromMs = Math.max(endedMs, Date.parse(incident.reopenedAt ?? incident.openedAt));
    const at = new Date(fromMs).toISOString();
    // Concurrent changes are evaluated in the next run.
    const next =
      before?.version === incident.version ? moved(fieldsOf<Incident>(before), 'resolved', { by: '', at }) : undefined;
    if (before === undefined || next === undefined) return scope.unchanged();
    const evident = await withEvidence(next, before, { ...context, of: scope.of });
    await writeIncident(scope, tenantId, { before, next: evident, actor: systemActor('incidents') });
  });
};

const resolveOf = async (tenantId: string, known: readonly Known[], ports: EndedPorts): Promise<void> => {
  const plan = await readPlanOf(ports.documents, tenantId);
  if (plan === undefined) return;
  const nowMs = ports.clock.now();
  const reading = { columns: ports.columns.of(tenantId), plan, nowMs };
  for (const incident of known) {
    if (incident.alertIds.length === 0) continue;
    const endedMs = endedMsOf(incident.alertIds, await readLastTransitions(reading.columns, incident.alertIds));
    if (endedMs === undefined) continue;
    const own = ports.documents.of(tenantId);
    const { resolveAfterMinutes } = await readPolicyOrOwners(own, incident.escalationPolicyId);
    if (nowMs - endedMs >= resolveAfterMinutes * 60_000) await resolve(incident, endedMs, { tenantId, reading, ports });
  }
};

/** Resolves incidents whose alerts ended. A failed read of one organization's alerts does not affect the others. */
export const resolveEnded = async (ports: EndedPorts, signal: AbortSignal): Promise<void> => {
  const byTenant = new Map<string, Known[]>();
  for await (const { tenantId, ...found } of ports.documents.everywhere(incidents, goingOn)) {
    const own = byTenant.get(tenantId) ?? [];
    own.push(found as Known);
    byTenant.set(tenantId, own);
  }
  for (const [tenantId, known] of byTenant) {
    if (signal.aborted) return;
    await resolveOf(tenantId, known, ports).catch((error: unknown) =>
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
