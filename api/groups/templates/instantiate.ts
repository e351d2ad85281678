import { z } from 'zod';
import { templateOriginals, templateUses } from '../../../schemas/resources/dashboard-template.ts';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { currentVersions } from '../../../subjects/dashboards/read-saved.ts';
import { defineOperation, parseOrThrow } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { completeDashboard, DashboardView, dashboardResource } from '../dashboards/dashboard.ts';
import { findTemplate } from './gallery.ts';

/** Id of the stored content of a template version. */
export const buildOriginalId = (templateId: string, version: string): string => `${templateId}.${version}`;

const { name, folder, visibility } = DashboardFields.shape;

export const instantiateTemplate = defineOperation({
  method: 'POST',
  path: '/api/templates/{id}/instantiate',
  operationId: 'instantiateTemplate',
  summary: 'Create a dashboard from a template; the dashboard stores its origin',
  role: 'editor',
  audit: 'dashboard.create',
  versions: 'shown',
  params: idParameter,
  body: z.strictObject({
    name: name.optional().describe('Default: the name of the template'),
    folder: folder.unwrap().optional(),
    visibility: visibility.unwrap().optional(),
  }),
  response: DashboardView,
  async handler(input, ports) {
    const { caller, params, body, change } = input;
    const { id: templateId, version, document } = await findTemplate(params.id);
    const createdDashboard = await change(async (scope) => {
      const tenantDocuments = scope.forTenant(caller.tenantId);
      const fields = parseOrThrow(DashboardFields, { ...document, ...body });
      const dashboard = await dashboardResource
        .createWriter(scope, caller)
        .create(await completeDashboard(fields, { before: undefined, caller, forTenant: scope.forTenant }));
      await tenantDocuments.collection(templateUses).insert({ id: dashboard.id, templateId, templateVersion: version });
      const originals = tenantDocuments.collection(templateOriginals);
      const id = buildOriginalId(templateId, version);
      if ((await originals.find(id)) === undefined) await originals.insert({ id, document, ...currentVersions });
      return dashboard;
    });
    return dashboardResource.sendView(createdDashboard, input, ports);
  },
});
