import { z } from 'zod';
import { exportFormats, exportInWorker } from '../../../subjects/dashboards/grafana/documents.ts';
import { type ContentResponse, defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { parseSavedDashboard } from './dashboard.ts';
import { findDashboard } from './read.ts';

const jsonType = 'application/json; charset=utf-8';
const yamlType = 'application/yaml; charset=utf-8';

export const exportDashboard = defineOperation({
  method: 'GET',
  path: '/api/dashboards/{id}/export',
  operationId: 'exportDashboard',
  summary: 'Export a dashboard as a file: OIQ JSON or YAML, or Grafana’s classic JSON',
  role: 'viewer',
  contentType: [yamlType, jsonType],
  params: idParameter,
  query: z.strictObject({
    format: z
      .enum(exportFormats)
      .default('oiq')
      .describe(
        'oiq and yaml are lossless when imported again; in grafana, panels that Grafana does not support become text panels',
      ),
  }),
  response: z.custom<ContentResponse>(),
  async handler({ caller, params, query, request, signal }, ports): Promise<ContentResponse> {
    const dashboard = await findDashboard(params.id, caller, ports);
    const reader = { tenantId: caller.tenantId, callerId: caller.actor.id, signal };
    const content = await exportInWorker(
      reader,
      query.format,
      dashboard.id,
      JSON.stringify(parseSavedDashboard(dashboard).document),
    );
    const name = dashboard.id.replaceAll(/[^\w.-]/g, '_');
    request.reply('Content-Disposition', `attachment; filename="${name}.${query.format === 'yaml' ? 'yaml' : 'json'}"`);
    return { contentType: query.format === 'yaml' ? yamlType : jsonType, content };
  },
});
