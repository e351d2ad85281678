import { z } from 'zod';
import { templateOriginals, templateUses } from '../../../schemas/resources/dashboard-template.ts';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { presentForm } from '../../../subjects/dashboards/read-saved.ts';
import { defineOperation, validated } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { completed, DashboardView, dashboardResource } from '../dashboards/dashboard.ts';
import { foundTemplate } from './gallery.ts';

/** Id of the stored content of a template version. */
export const originalIdOf = (templateId: string, version: string): string => `${templateId}.${version}`;

const { name, folder, visibility } = DashboardFields.shape;

export const instantiateTemplate = defineOperation({
  method: 'POST',
  path: '/api/templates/{id}/instantiate',
  operationId: 'instantiateTemplate',
  summary: 'Create a dashboard from a template; it stores its origin',
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
    const { id: templateId, version, document } = await foundTemplate(params.id);
    const made = await change(async (scope) => {
      const own = scope.of(caller.tenantId);
      const fields = validated(DashboardFields, { ...document, ...body });
      const dashboard = await dashboardResource
        .writer(scope, caller)
        .create(await completed(fields, { before: undefined, caller, of: scope.of }));
      await own.collection(templateUses).insert({ id: dashboard.id, templateId, templateVersion: version });
      const originals = own.collection(templateOriginals);
      const id = originalIdOf(templateId, version);
      if ((await originals.find(id)) === undefined) await originals.insert({ id, document, ...presentForm });
      return dashboard;
    });
    return dashboardResource.answer(made, input, ports);
  },
});
