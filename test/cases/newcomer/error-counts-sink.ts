import { defineValueSink } from '../../../sinks/engine/land-values.ts';
import { errorCountsTable } from './error-counts-table.ts';
import { errorCountsTopic } from './error-counts-topic.ts';

export const errorCountsSink = defineValueSink({
  topic: errorCountsTopic,
  table: errorCountsTable,
  row: ({ tenantId, ...count }) => ({ tenant_id: tenantId, ...count }),
});

/** In the product, this is a line of `sinks/registry.ts`. */
export const sinks = [errorCountsSink];
