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

/** A timeline that is about to be stored. */
export interface FrozenTimeline {
  readonly sha256: string;
  /** Stores it, within the transaction that writes the incident with its hash. */
  store(forTenant: AuditedTransaction['forTenant']): Promise<void>;
}

/** Reads and freezes the timeline of a resolved incident. */
export const freezeTimelineOf = async (
  after: Incident,
  before: Incident & StoredMetadata,
  context: TimelineContext,
): Promise<FrozenTimeline> => {
  const resolvedIncident = { ...before, ...after };
  const [actions, telemetry] = await Promise.all([
    readActions(resolvedIncident, context),
    readTelemetryEntries(resolvedIncident, context),
  ]);
  const { content, sha256 } = freezeTimeline(sortEntries([...actions, ...telemetry.entries]));
  const id = computeEvidenceId(before.id, sha256);
  return {
    sha256,
    async store(forTenant) {
      const evidenceCollection = forTenant(context.tenantId).collection(incidentEvidence);
      if ((await evidenceCollection.find(id)) !== undefined) return;
      const frozenAt = new Date(context.ports.clock.now()).toISOString();
      await evidenceCollection.insert({ id, incidentId: before.id, frozenAt, sha256, content });
    },
  };
};
