import { z } from 'zod';
import { templateOriginals, templateUses } from '../../../schemas/resources/dashboard-template.ts';
import { DashboardDifference, findDashboardDifferences } from '../../../subjects/dashboards/difference.ts';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { collectNeeds } from '../../../subjects/dashboards/templates/fit.ts';
import type { Template } from '../../../subjects/dashboards/templates/templates.ts';
import type { Caller } from '../../callers/caller.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { dashboardResource, parseSavedDashboard } from '../dashboards/dashboard.ts';
import { findTemplate, readGallery, TemplateItem, toTemplateItem } from './gallery.ts';
import { buildOriginalId } from './instantiate.ts';

const TemplateChanges = z.strictObject({
  dashboardId: z.string(),
  templateVersion: z.string().describe('Version from which the dashboard was created'),
  differences: z
    .array(DashboardDifference)
    .describe('Differences from that version to the current one; changes of the dashboard are not included'),
});

/** Changes of a template since a dashboard was created from it. */
const readTemplateChanges = async (
  { id, document }: Template,
  dashboardId: string,
  caller: Caller,
  { documents }: Ports,
): Promise<z.input<typeof TemplateChanges>> => {
  const tenantDocuments = documents.forTenant(caller.tenantId);
  const dashboard = await tenantDocuments.collection(dashboardResource.collection).find(dashboardId);
  const templateUse = await tenantDocuments.collection(templateUses).find(dashboardId);
  if (
    dashboard === undefined ||
    !dashboardResource.isVisibleTo(dashboard, caller) ||
    templateUse?.templateId !== id ||
    templateUse.isGone
  )
    throw createNotFoundError('dashboard created from this template');
  const { templateVersion } = templateUse;
  const original = await tenantDocuments.collection(templateOriginals).find(buildOriginalId(id, templateVersion));
  if (original === undefined) throw new Error(`the version ${templateVersion} of ${id} was not stored`);
  const { document: originalDocument, documentVersion, queryVersion } = original;
  const differences = findDashboardDifferences(
    parseSavedDashboard({ ...originalDocument, documentVersion, queryVersion }).document,
    document,
  );
  return { dashboardId, templateVersion, differences };
};

const listRequiredData = ({ panels }: Template): { metrics: string[]; attributes: string[]; signals: string[] } => {
  const requirements = collectNeeds(panels);
  const toSortedUnique = (names: readonly string[]): string[] => [...new Set(names)].sort();
  return {
    metrics: toSortedUnique(requirements.flatMap((need) => (need.kind === 'metric' ? [need.name] : []))),
    attributes: toSortedUnique(requirements.flatMap((need) => (need.kind === 'attribute' ? [need.name] : []))),
    signals: toSortedUnique(requirements.map((need) => (need.kind === 'metric' ? 'metrics' : need.signal))),
  };
};

export const getTemplate = defineOperation({
  method: 'GET',
  path: '/api/templates/{id}',
  operationId: 'getTemplate',
  summary: 'Get a dashboard template, with the values that determine its position and the missing data of each panel',
  role: 'viewer',
  params: idParameter,
  query: z.strictObject({
    dashboardId: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('Id of a dashboard created from it, to get later changes of the template'),
  }),
  response: z.strictObject({
    ...TemplateItem.shape,
    needs: z
      .strictObject({ metrics: z.array(z.string()), attributes: z.array(z.string()), signals: z.array(z.string()) })
      .describe('Everything that its panels reference; current and former names of the conventions are equivalent'),
    fits: z
      .array(
        z.strictObject({
          panelId: z.string(),
          title: z.string(),
          missing: z.array(z.string()).describe('Descriptions of missing data; empty if the panel has data'),
        }),
      )
      .nullable()
      .describe('null: currently unavailable'),
    document: DashboardFields,
    since: TemplateChanges.nullable().describe('null without dashboardId'),
  }),
  async handler({ caller, params, query }, ports) {
    const template = await findTemplate(params.id);
    const rankedTemplate = (await readGallery(caller, ports)).find((candidate) => candidate.template === template);
    if (rankedTemplate === undefined) throw createNotFoundError('template');
    return {
      ...toTemplateItem(rankedTemplate),
      needs: listRequiredData(template),
      fits: rankedTemplate.panels?.map(({ id: panelId, title, missing }) => ({ panelId, title, missing })) ?? null,
      document: template.document,
      since:
        query.dashboardId === undefined ? null : await readTemplateChanges(template, query.dashboardId, caller, ports),
    };
  },
});
