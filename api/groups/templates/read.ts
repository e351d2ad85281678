import { z } from 'zod';
import { templateOriginals, templateUses } from '../../../schemas/resources/dashboard-template.ts';
import { DashboardDifference, dashboardDifferences } from '../../../subjects/dashboards/difference.ts';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { needsOf } from '../../../subjects/dashboards/templates/fit.ts';
import type { Template } from '../../../subjects/dashboards/templates/templates.ts';
import type { Caller } from '../../callers/caller.ts';
import { notFound } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { dashboardResource, parseSavedDashboard } from '../dashboards/dashboard.ts';
import { foundTemplate, gallery, Item, itemOf } from './gallery.ts';
import { originalIdOf } from './instantiate.ts';

const Since = z.strictObject({
  dashboardId: z.string(),
  templateVersion: z.string().describe('Version from which the dashboard was created'),
  differences: z
    .array(DashboardDifference)
    .describe('Differences from that version to the current one; changes of the dashboard are not included'),
});

/** Changes of a template since a dashboard was created from it. */
const sinceMade = async (
  { id, document }: Template,
  dashboardId: string,
  caller: Caller,
  { documents }: Ports,
): Promise<z.input<typeof Since>> => {
  const own = documents.of(caller.tenantId);
  const dashboard = await own.collection(dashboardResource.collection).find(dashboardId);
  const use = await own.collection(templateUses).find(dashboardId);
  if (
    dashboard === undefined ||
    !dashboardResource.visibleTo(dashboard, caller) ||
    use?.templateId !== id ||
    use.isGone
  )
    throw notFound('dashboard created from this template');
  const { templateVersion } = use;
  const original = await own.collection(templateOriginals).find(originalIdOf(id, templateVersion));
  if (original === undefined) throw new Error(`the version ${templateVersion} of ${id} was not stored`);
  const { document: made, documentVersion, queryVersion } = original;
  const differences = dashboardDifferences(
    parseSavedDashboard({ ...made, documentVersion, queryVersion }).document,
    document,
  );
  return { dashboardId, templateVersion, differences };
};

const needed = ({ panels }: Template): { metrics: string[]; attributes: string[]; signals: string[] } => {
  const needs = needsOf(panels);
  const unique = (names: readonly string[]): string[] => [...new Set(names)].sort();
  return {
    metrics: unique(needs.flatMap((need) => (need.is === 'metric' ? [need.name] : []))),
    attributes: unique(needs.flatMap((need) => (need.is === 'attribute' ? [need.name] : []))),
    signals: unique(needs.map((need) => (need.is === 'metric' ? 'metrics' : need.signal))),
  };
};

export const getTemplate = defineOperation({
  method: 'GET',
  path: '/api/templates/{id}',
  operationId: 'getTemplate',
  summary: 'Get a dashboard template, with the values that determine its position, and the missing data of each panel',
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
    ...Item.shape,
    needs: z
      .strictObject({ metrics: z.array(z.string()), attributes: z.array(z.string()), signals: z.array(z.string()) })
      .describe('Everything that its panels reference; current and former names of the conventions are equivalent'),
    fits: z
      .array(
        z.strictObject({
          panelId: z.string(),
          title: z.string(),
          missing: z.array(z.string()).describe('Missing data in words; empty if the panel has data'),
        }),
      )
      .nullable()
      .describe('null: currently unavailable'),
    document: DashboardFields,
    since: Since.nullable().describe('null without dashboardId'),
  }),
  async handler({ caller, params, query }, ports) {
    const template = await foundTemplate(params.id);
    const placed = (await gallery(caller, ports)).find((one) => one.template === template);
    if (placed === undefined) throw notFound('template');
    return {
      ...itemOf(placed),
      needs: needed(template),
      fits: placed.panels?.map(({ id: panelId, title, missing }) => ({ panelId, title, missing: missing })) ?? null,
      document: template.document,
      since: query.dashboardId === undefined ? null : await sinceMade(template, query.dashboardId, caller, ports),
    };
  },
});
