import { z } from 'zod';
import { StableId } from '../../../schemas/dashboards/layout.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { DashboardFields, Panel } from '../../../subjects/dashboards/document.ts';
import { PanelBody, withoutPanel, withPanel, withReplacedPanel } from '../../../subjects/dashboards/panels.ts';
import { createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation, parseOrThrow } from '../../kernel/operation.ts';
import { formatEtag } from '../../resources/preconditions.ts';
import type { WriteInput } from '../../resources/resource-changes.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import {
  completeDashboard,
  type Document,
  dashboardResource,
  manualChangeParameters,
  parseSavedDashboard,
} from './dashboard.ts';

const panelParameters = z.strictObject({ ...idParameter.shape, panelId: StableId });
const PanelChange = z.strictObject({
  panel: Panel,
  version: z.int().positive().describe('Version of the dashboard; the ETag'),
});

/** Applies `applyChange` to a dashboard, and returns the new version. */
const changeDocument = async (
  id: string,
  applyChange: (document: DashboardFields) => DashboardFields,
  input: WriteInput & { readonly query: z.output<typeof manualChangeParameters> },
): Promise<Document & StoredMetadata> => {
  const { caller, request } = input;
  const after = await dashboardResource.change(
    id,
    async (before, { forTenant }) =>
      completeDashboard(parseOrThrow(DashboardFields, applyChange(parseSavedDashboard(before).document)), {
        before,
        caller,
        forTenant: forTenant,
        changeOptions: input.query,
      }),
    input,
  );
  request.reply('ETag', formatEtag(after));
  return after;
};

const toPanelChange = ({ panels, version }: Document & StoredMetadata, id: string): z.input<typeof PanelChange> => {
  const panel = panels.find((panel) => panel.id === id);
  if (panel === undefined) throw createNotFoundError('panel');
  return { panel, version };
};

const sharedDefinition = {
  role: 'editor',
  audit: 'dashboard.update',
  versions: 'require',
  maxBodyBytes: 2 * 1024 * 1024,
  query: manualChangeParameters,
} as const;

export const addPanel = defineOperation({
  ...sharedDefinition,
  method: 'POST',
  path: '/api/dashboards/{id}/panels',
  operationId: 'addPanel',
  summary: 'Add a panel to a dashboard',
  params: idParameter,
  body: PanelBody,
  response: PanelChange,
  async handler(input) {
    let addedId = '';
    const after = await changeDocument(
      input.params.id,
      (document) => {
        const { document: extended, id } = withPanel(document, input.body);
        addedId = id;
        return extended;
      },
      input,
    );
    return toPanelChange(after, addedId);
  },
});

export const replacePanel = defineOperation({
  ...sharedDefinition,
  method: 'PUT',
  path: '/api/dashboards/{id}/panels/{panelId}',
  operationId: 'replacePanel',
  summary: 'Replace one panel of a dashboard, without other changes',
  params: panelParameters,
  body: PanelBody,
  response: PanelChange,
  async handler(input) {
    const { params, body } = input;
    if (body.id !== undefined && body.id !== params.panelId)
      throw createFieldError('id', `must be ${params.panelId}, as in the path: the id of a panel cannot change`);
    const next = (document: DashboardFields): DashboardFields => {
      const replaced = withReplacedPanel(document, params.panelId, body);
      if (replaced === undefined) throw createNotFoundError('panel');
      return replaced;
    };
    return toPanelChange(await changeDocument(params.id, next, input), params.panelId);
  },
});

export const removePanel = defineOperation({
  ...sharedDefinition,
  method: 'DELETE',
  path: '/api/dashboards/{id}/panels/{panelId}',
  operationId: 'removePanel',
  summary: 'Remove a panel from a dashboard',
  params: panelParameters,
  response: z.strictObject({ version: PanelChange.shape.version }),
  async handler(input) {
    const next = (document: DashboardFields): DashboardFields => {
      const rest = withoutPanel(document, input.params.panelId);
      if (rest === undefined) throw createNotFoundError('panel');
      return rest;
    };
    return { version: (await changeDocument(input.params.id, next, input)).version };
  },
});
