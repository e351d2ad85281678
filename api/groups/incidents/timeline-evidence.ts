/** Freezes the timeline of an incident when it is resolved. */
import { createHash } from 'node:crypto';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Incident, incidentEvidence } from '../../../schemas/resources/incident.ts';
import { freezeTimeline, sortEntries } from '../../../subjects/incidents/timeline.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { readActions, readTelemetryEntries, type TimelineContext } from './timeline-sources.ts';

/** Id of the evidence of one resolution, derived from the incident and its hash. */
export const computeEvidenceId = (incidentId: string, sha256: string): string =>
  createHash('sha256').update(`${incidentId} ${sha256}`).digest('hex');

/** Stores the frozen timeline if the write resolves the incident, and returns the incident to write with its hash. */
export const freezeIfResolved = async (
  after: Incident,
  before: Incident & StoredMetadata,
  context: TimelineContext & Pick<AuditedTransaction, 'forTenant'>,
): Promise<Incident> => {
  if (after.status !== 'resolved' || before.status === 'resolved') return after;
  return freezeTimelineOf(after, before, context);
};

/** Stores the frozen timeline of a resolved incident, and returns the incident to write with its hash. */
export const freezeTimelineOf = async (
  after: Incident,
  before: Incident & StoredMetadata,
  { forTenant, ...context }: TimelineContext & Pick<AuditedTransaction, 'forTenant'>,
): Promise<Incident> => {
  const resolvedIncident = { ...before, ...after };
  const [actions, telemetry] = await Promise.all([
    readActions(resolvedIncident, context),
    readTelemetryEntries(resolvedIncident, context),
  ]);
  const { content, sha256 } = freezeTimeline(sortEntries([...actions, ...telemetry.entries]));
  const evidenceCollection = forTenant(context.tenantId).collection(incidentEvidence);
  const id = computeEvidenceId(before.id, sha256);
  if ((await evidenceCollection.find(id)) === undefined) {
    const frozenAt = new Date(context.ports.clock.now()).toISOString();
    await evidenceCollection.insert({ id, incidentId: before.id, frozenAt, sha256, content });
  }
  return { ...after, evidenceHash: sha256 };
};
