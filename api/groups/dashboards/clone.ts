import { z } from 'zod';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { defineOperation, parseOrThrow } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { completeDashboard, DashboardView, dashboardResource, parseSavedDashboard } from './dashboard.ts';

const { name, folder, visibility } = DashboardFields.shape;

export const cloneDashboard = defineOperation({
  method: 'POST',
  path: '/api/dashboards/{id}/clone',
  operationId: 'cloneDashboard',
  summary: 'Copy a dashboard; the copy belongs to the caller',
  role: 'editor',
  audit: 'dashboard.create',
  versions: 'shown',
  params: idParameter,
  body: z.strictObject({
    name: name.optional().describe('Default: Copy of …'),
    folder: folder.unwrap().optional().describe('Default: the same folder'),
    visibility: visibility.unwrap().optional().describe('Default: unchanged'),
  }),
  response: DashboardView,
  async handler(input, ports) {
    const { caller, params, body, change } = input;
    const copiedDashboard = await change(async (scope) => {
      const writer = dashboardResource.createWriter(scope, caller);
      const { document } = parseSavedDashboard(await writer.find(params.id));
      const copy = parseOrThrow(DashboardFields, {
        ...document,
        name: `Copy of ${document.name}`.slice(0, 256),
        ...body,
      });
      return writer.create(await completeDashboard(copy, { before: undefined, caller, forTenant: scope.forTenant }));
    });
    return dashboardResource.sendView(copiedDashboard, input, ports);
  },
});
