import { detectionTelemetryTable } from '../schemas/tables/detection-telemetry.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

export const detectionTelemetry = defineValueSink({
  topic: topics.detectionTelemetry,
  table: detectionTelemetryTable,
  row: ({ tenantId, knowsCategories, ...fields }) => ({
    ...fields,
    tenant_id: tenantId,
    project_id: '',
    knows_categories: knowsCategories,
  }),
});
