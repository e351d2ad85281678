import { z } from 'zod';
import { fieldsOf } from '../../../runtime/stored-fields.ts';
import type { Stored, TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  type Incident,
  incidentPostmortems,
  type Postmortem,
  PostmortemFields,
} from '../../../schemas/resources/incident.ts';
import { postmortemMarkdown } from '../../../subjects/incidents/postmortem.ts';
import { TimelineEntry } from '../../../subjects/incidents/timeline.ts';
import { hasAlready } from '../../changes.ts';
import { invalid } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { unknownMember } from '../../resources/members.ts';
import { etagOf, preconditionOf, requireVersion } from '../../resources/preconditions.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { incidentResource } from './incident.ts';
import { foundIncident, timelineOf } from './timeline.ts';
import { type TimelineContext, timelineContextOf } from './timeline-sources.ts';

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

type Known = Postmortem & Pick<Stored, 'version'>;

const read = async (own: Pick<TenantDocuments, 'collection'>, id: string): Promise<Known> =>
  (await own.collection(incidentPostmortems).find(id)) ?? { ...PostmortemFields.parse({}), version: 0 };

const shown = async (
  incident: Incident & Stored,
  { impact, causes, actions, version }: Known,
  context: TimelineContext,
): Promise<z.input<typeof View>> => {
  const { title, severity, status, openedAt, firstAcknowledgedAt, resolvedAt, services, evidenceHash } = incident;
  const { entries } = await timelineOf(incident, context);
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
    const context = timelineContextOf(caller, ports);
    const incident = await foundIncident(params.id, context);
    const found = await read(ports.documents.of(caller.tenantId), incident.id);
    request.reply('ETag', etagOf(found));
    if (query.format === 'json') return shown(incident, found, context);
    const { entries } = await timelineOf(incident, context);
    return { contentType: markdownType, content: postmortemMarkdown(incident, found, entries) };
  },
});

/** New owners must be users of the organization; earlier owners may have left. */
const requireOwners = async (own: TenantDocuments, after: Postmortem, before: Postmortem): Promise<void> => {
  const known = new Set(before.actions.map(({ ownerId }) => ownerId));
  for (const [index, { ownerId }] of after.actions.entries()) {
    if (ownerId === null || known.has(ownerId)) continue;
    if ((await unknownMember(own, [ownerId])) !== undefined)
      throw invalid(`actions.${index}.ownerId`, 'is not a user of this organization');
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
    const precondition = preconditionOf(request);
    const incident = await foundIncident(params.id, timelineContextOf(caller, ports));
    const after = await change(async (scope) => {
      await incidentResource.writer(scope, caller).find(incident.id);
      const own = scope.of(caller.tenantId);
      const before = await read(own, incident.id);
      requireVersion(before, precondition, { noun, requiresIfMatch: true });
      if (hasAlready(before, body)) {
        scope.unchanged();
        return before;
      }
      await requireOwners(own, body, before);
      const stored = own.collection(incidentPostmortems);
      if (before.version === 0) {
        const written = await stored.insert({ id: incident.id, ...body });
        scope.record({ id: incident.id, name: incident.title, after: fieldsOf(written) });
        return written;
      }
      const written = await stored.replace(incident.id, body, before.version);
      const { version: _, ...was } = before;
      scope.record({ id: incident.id, name: incident.title, before: was, after: body });
      return written;
    });
    request.reply('ETag', etagOf(after));
    return shown(incident, after, timelineContextOf(caller, ports));
  },
});
