import { z } from 'zod';
import { getFields } from '../../../runtime/stored-fields.ts';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  type Incident,
  incidentPostmortems,
  type Postmortem,
  PostmortemFields,
} from '../../../schemas/resources/incident.ts';
import { formatPostmortem } from '../../../subjects/incidents/postmortem.ts';
import { TimelineEntry } from '../../../subjects/incidents/timeline.ts';
import { hasSameFields } from '../../changes.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { findUnknownMember } from '../../resources/members.ts';
import { formatEtag, parsePrecondition, requireVersion } from '../../resources/preconditions.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { incidentResource } from './incident.ts';
import { findIncident, readTimeline } from './timeline.ts';
import { createTimelineContext, type TimelineContext } from './timeline-sources.ts';

const noun = 'postmortem';

const View = z.strictObject({
  ...PostmortemFields.shape,
  facts: z
    .strictObject({
      title: z.string(),
      severity: z.string(),
      status: z.string(),
      openedAt: z.iso.datetime(),
      acknowledgedAt: z.iso.datetime().nullable(),
      resolvedAt: z.iso.datetime().nullable(),
      services: z.array(z.string()),
      evidenceHash: z.string().nullable(),
      timeline: z.array(TimelineEntry),
    })
    .describe('Facts of the incident; read-only'),
  version: z.int().describe('The ETag; 0 if it has not been written yet'),
});

type StoredPostmortem = Postmortem & Pick<StoredMetadata, 'version'>;

const readPostmortem = async (own: Pick<TenantDocuments, 'collection'>, id: string): Promise<StoredPostmortem> =>
  (await own.collection(incidentPostmortems).find(id)) ?? { ...PostmortemFields.parse({}), version: 0 };

const toView = async (
  incident: Incident & StoredMetadata,
  { impact, causes, actions, version }: StoredPostmortem,
  context: TimelineContext,
): Promise<z.input<typeof View>> => {
  const { title, severity, status, openedAt, firstAcknowledgedAt, resolvedAt, services, evidenceHash } = incident;
  const { entries } = await readTimeline(incident, context);
  return {
    impact,
    causes,
    actions,
    version,
    facts: {
      title,
      severity,
      status,
      openedAt,
      resolvedAt,
      services,
      evidenceHash,
      acknowledgedAt: firstAcknowledgedAt,
      timeline: [...entries],
    },
  };
};

const markdownType = 'text/markdown; charset=utf-8';

export const getIncidentPostmortem = defineOperation({
  method: 'GET',
  path: '/api/incidents/{id}/postmortem',
  operationId: 'getIncidentPostmortem',
  summary: 'Get the postmortem of an incident with its facts; format=markdown for text',
  role: 'viewer',
  contentType: ['application/json; charset=utf-8', markdownType],
  params: idParameter,
  query: z.strictObject({ format: z.enum(['json', 'markdown']).default('json') }),
  response: View,
  async handler({ caller, params, query, request }, ports) {
    const context = createTimelineContext(caller, ports);
    const incident = await findIncident(params.id, context);
    const postmortem = await readPostmortem(ports.documents.forTenant(caller.tenantId), incident.id);
    request.reply('ETag', formatEtag(postmortem));
    if (query.format === 'json') return toView(incident, postmortem, context);
    const { entries } = await readTimeline(incident, context);
    return { contentType: markdownType, content: formatPostmortem(incident, postmortem, entries) };
  },
});

/** New owners must be users of the organization; earlier owners may have left. */
const requireKnownOwners = async (own: TenantDocuments, after: Postmortem, before: Postmortem): Promise<void> => {
  const previousOwnerIds = new Set(before.actions.map(({ ownerId }) => ownerId));
  for (const [index, { ownerId }] of after.actions.entries()) {
    if (ownerId === null || previousOwnerIds.has(ownerId)) continue;
    if ((await findUnknownMember(own, [ownerId])) !== undefined)
      throw createFieldError(`actions.${index}.ownerId`, 'is not a user of this organization');
  }
};

export const setIncidentPostmortem = defineOperation({
  method: 'PUT',
  path: '/api/incidents/{id}/postmortem',
  operationId: 'setIncidentPostmortem',
  summary: 'Write the postmortem of an incident: impact, causes and actions; If-Match "0" for the first version',
  role: 'editor',
  audit: 'incident-postmortem.update',
  versions: 'require',
  params: idParameter,
  body: PostmortemFields,
  response: View,
  async handler({ caller, params, body, request, change }, ports) {
    const precondition = parsePrecondition(request);
    const incident = await findIncident(params.id, createTimelineContext(caller, ports));
    const after = await change(async (scope) => {
      await incidentResource.createWriter(scope, caller).find(incident.id);
      const tenantDocuments = scope.forTenant(caller.tenantId);
      const before = await readPostmortem(tenantDocuments, incident.id);
      requireVersion(before, precondition, { noun, requiresIfMatch: true });
      if (hasSameFields(before, body)) {
        scope.markUnchanged();
        return before;
      }
      await requireKnownOwners(tenantDocuments, body, before);
      const stored = tenantDocuments.collection(incidentPostmortems);
      if (before.version === 0) {
        const storedPostmortem = await stored.insert({ id: incident.id, ...body });
        scope.record({ id: incident.id, name: incident.title, after: getFields(storedPostmortem) });
        return storedPostmortem;
      }
      const storedPostmortem = await stored.replace(incident.id, body, before.version);
      const { version: _, ...previousFields } = before;
      scope.record({ id: incident.id, name: incident.title, before: previousFields, after: body });
      return storedPostmortem;
    });
    request.reply('ETag', formatEtag(after));
    return toView(incident, after, createTimelineContext(caller, ports));
  },
});
