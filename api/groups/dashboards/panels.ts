import { z } from 'zod';
import { StableId } from '../../../schemas/dashboards/layout.ts';
import type { Stored } from '../../../schemas/ports/documents.ts';
import { DashboardFields, Panel } from '../../../subjects/dashboards/document.ts';
import { PanelBody, replacingPanel, withoutPanel, withPanel } from '../../../subjects/dashboards/panels.ts';
import { invalid, notFound } from '../../errors.ts';
import { defineOperation, validated } from '../../kernel/operation.ts';
import { etagOf } from '../../resources/preconditions.ts';
import type { WriteInput } from '../../resources/resource-changes.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { byHand, completed, type Document, dashboardResource, parseSavedDashboard } from './dashboard.ts';

const panelParameters = z.strictObject({ ...idParameter.shape, panelId: StableId });
const Changed = z.strictObject({
  panel: Panel,
  version: z.int().positive().describe('Version of the dashboard; the ETag'),
});

/** Applies `next` to a dashboard, and returns the new version. */
const changeDocument = async (
  id: string,
  next: (document: DashboardFields) => DashboardFields,
  input: WriteInput & { readonly query: z.output<typeof byHand> },
): Promise<Document & Stored> => {
  const { caller, request } = input;
  const after = await dashboardResource.change(
    id,
    async (before, { of }) =>
      completed(validated(DashboardFields, next(parseSavedDashboard(before).document)), {
        before,
        caller,
        of,
        how: input.query,
      }),
    input,
  );
  request.reply('ETag', etagOf(after));
  return after;
};

const panelIn = ({ panels, version }: Document & Stored, id: string): z.input<typeof Changed> => {
  const panel = panels.find((one) => one.id === id);
  if (panel === undefined) throw notFound('panel');
  return { panel, version };
};

const shared = {
  role: 'editor',
  audit: 'dashboard.update',
  versions: 'require',
  maxBodyBytes: 2 * 1024 * 1024,
  query: byHand,
} as const;

export const addPanel = defineOperation({
  ...shared,
  method: 'POST',
  path: '/api/dashboards/{id}/panels',
  operationId: 'addPanel',
  summary: 'Add a panel to a dashboard',
  params: idParameter,
  body: PanelBody,
  response: Changed,
  async handler(input) {
    let added = '';
    const after = await changeDocument(
      input.params.id,
      (document) => {
        const { document: longer, id } = withPanel(document, input.body);
        added = id;
        return longer;
      },
      input,
    );
    return panelIn(after, added);
  },
});

export const replacePanel = defineOperation({
  ...shared,
  method: 'PUT',
  path: '/api/dashboards/{id}/panels/{panelId}',
  operationId: 'replacePanel',
  summary: 'Replace one panel of a dashboard, without other changes',
  params: panelParameters,
  body: PanelBody,
  response: Changed,
  async handler(input) {
    const { params, body } = input;
    if (body.id !== undefined && body.id !== params.panelId)
      throw invalid('id', `must be ${params.panelId}, as in the path: the id of a panel cannot change`);
    const next = (document: DashboardFields): DashboardFields => {
      const replaced = replacingPanel(document, params.panelId, body);
      if (replaced === undefined) throw notFound('panel');
      return replaced;
    };
    return panelIn(await changeDocument(params.id, next, input), params.panelId);
  },
});

export const removePanel = defineOperation({
  ...shared,
  method: 'DELETE',
  path: '/api/dashboards/{id}/panels/{panelId}',
  operationId: 'removePanel',
  summary: 'Remove a panel from a dashboard',
  params: panelParameters,
  response: z.strictObject({ version: Changed.shape.version }),
  async handler(input) {
    const next = (document: DashboardFields): DashboardFields => {
      const rest = withoutPanel(document, input.params.panelId);
      if (rest === undefined) throw notFound('panel');
      return rest;
    };
    return { version: (await changeDocument(input.params.id, next, input)).version };
  },
});
