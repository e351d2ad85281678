import { z } from 'zod';
import {
  cursorParameter,
  decodeCursor,
  decodeText,
  encodeCursor,
  encodeText,
  nonEmptyTextPattern,
} from '../../../queries/cursor.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Incident, incidentEvidence, incidentNotes } from '../../../schemas/resources/incident.ts';
import { MergeSuggestion } from '../../../subjects/incidents/merges.ts';
import {
  restoreTimeline,
  sortEntries,
  TimelineEntry,
  toNoteEntry,
  toSortKey,
} from '../../../subjects/incidents/timeline.ts';
import { ApiError, createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { incidentResource } from './incident.ts';
import { readMergeSuggestions } from './merges.ts';
import { computeEvidenceId } from './timeline-evidence.ts';
import { createTimelineContext, readActions, readTelemetryEntries, type TimelineContext } from './timeline-sources.ts';
import { parseTimeParameter } from './times.ts';

const Evidence = z
  .strictObject({
    frozenAt: z.iso.datetime(),
    sha256: z.string(),
    isIntact: z.boolean().describe('Whether the frozen timeline still matches its hash'),
  })
  .nullable()
  .describe('Timeline at the resolution of the incident; null while it is open');

interface Timeline {
  readonly entries: readonly TimelineEntry[];
  readonly evidence: z.output<typeof Evidence>;
  readonly missing: readonly string[];
}

/** Returns an incident of the caller's organization. */
export const findIncident = async (
  id: string,
  { tenantId, ports }: TimelineContext,
): Promise<Incident & StoredMetadata> => {
  const incident = await ports.documents.forTenant(tenantId).collection(incidentResource.collection).find(id);
  if (incident === undefined) throw createNotFoundError('incident');
  return incident;
};

/** Returns the timeline; for a resolved incident, its frozen timeline and later notes. */
export const readTimeline = async (
  incident: Incident & StoredMetadata,
  context: TimelineContext,
): Promise<Timeline> => {
  const actions = await readActions(incident, context);
  const { status, evidenceHash } = incident;
  if (status !== 'resolved' || evidenceHash === null) {
    const { entries, missing } = await readTelemetryEntries(incident, context);
    return { entries: sortEntries([...entries, ...actions]), evidence: null, missing };
  }
  const frozenTimeline = await context.ports.documents
    .forTenant(context.tenantId)
    .collection(incidentEvidence)
    .find(computeEvidenceId(incident.id, evidenceHash));
  const { entries, isIntact } = restoreTimeline(frozenTimeline?.content ?? '', evidenceHash);
  return {
    entries: sortEntries([...actions, ...entries]),
    evidence: { frozenAt: frozenTimeline?.frozenAt ?? incident.updatedAt, sha256: evidenceHash, isIntact },
    missing: isIntact ? [] : ['the timeline that was frozen when the incident was resolved'],
  };
};

export const getIncidentTimeline = defineOperation({
  method: 'GET',
  path: '/api/incidents/{id}/timeline',
  operationId: 'getIncidentTimeline',
  summary:
    'Get the timeline of an incident, the oldest entry first: alerts, pages and their delivery, acknowledgements, changes, deployments, configuration and notes',
  role: 'viewer',
  params: idParameter,
  query: z.strictObject({ limit: z.coerce.number().int().min(1).max(1000).default(100), cursor: cursorParameter }),
  response: z.strictObject({
    items: z.array(TimelineEntry),
    nextCursor: z.string().nullable(),
    evidence: Evidence,
    mergeSuggestions: z
      .array(MergeSuggestion)
      .describe(
        'Other open incidents that were opened within an hour of it, with the same services, their callers or their callees',
      ),
    missing: z.array(z.string()).describe('Unavailable sources'),
  }),
  async handler({ caller, params, query }, ports) {
    const context = createTimelineContext(caller, ports);
    const incident = await findIncident(params.id, context);
    const [{ entries, evidence, missing }, merges] = await Promise.all([
      readTimeline(incident, context),
      readMergeSuggestions(incident, context),
    ]);
    const [after = ''] =
      query.cursor === undefined
        ? []
        : decodeCursor('incident-timeline', query.cursor, [nonEmptyTextPattern]).map(decodeText);
    const remaining = entries.filter((entry) => toSortKey(entry) > after);
    const items = remaining.slice(0, query.limit);
    const last = items.at(-1);
    const hasNext = remaining.length > items.length && last !== undefined;
    return {
      items,
      evidence,
      mergeSuggestions: [...merges.suggestions],
      missing: [...missing, ...merges.missing],
      nextCursor: hasNext ? encodeCursor('incident-timeline', [encodeText(toSortKey(last))]) : null,
    };
  },
});

const maxNotes = 1000;

export const addIncidentNote = defineOperation({
  method: 'POST',
  path: '/api/incidents/{id}/timeline',
  operationId: 'addIncidentNote',
  summary: 'Add a note to the timeline of an incident',
  role: 'editor',
  audit: 'incident-note.add',
  params: idParameter,
  body: z.strictObject({
    text: z.string().min(1).max(16_384),
    at: z.string().max(64).default('now').describe('Time of the event: ISO 8601, or an expression such as now-5m'),
  }),
  response: TimelineEntry,
  handler: ({ caller, params, body, change }, { clock }) =>
    change(async (scope) => {
      const now = new Date(clock.now()).toISOString();
      const at = parseTimeParameter('at', body.at, now);
      if (at > now) throw createFieldError('at', 'must not be in the future');
      const incident = await incidentResource.createWriter(scope, caller).find(params.id);
      const notes = scope.forTenant(caller.tenantId).collection(incidentNotes);
      if ((await notes.count({ incidentId: incident.id })) >= maxNotes)
        throw new ApiError('CONFLICT', `a timeline has at most ${maxNotes} notes: continue in the postmortem`);
      const { id: authorId, type: authorType } = caller.actor;
      const note = await notes.insert({ incidentId: incident.id, at, text: body.text, authorId, authorType });
      const after = { incidentId: incident.id, at, text: body.text };
      scope.record({ id: note.id, name: incident.title, after });
      return toNoteEntry(note);
    }),
});
