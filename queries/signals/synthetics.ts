import { runsRetentionDays } from '../../schemas/synthetic-runs.ts';
import { computedBodySearch } from '../../schemas/tables/search.ts';
import { defineSignal } from './definition.ts';
import { runFields, runsSource } from './synthetic-runs-source.ts';

/** Runs of synthetic checks. They are measurements, so the plan's retention of metrics applies. */
export const synthetics = defineSignal({
  records: 'runs of synthetic checks',
  entitlement: 'metrics',
  group: 'synthetics',
  retentionDays: ({ metrics }) => Math.min(metrics, runsRetentionDays),
  newest: { table: 'synthetic_runs', time: 'due' },
  fields: runFields,
  text: computedBodySearch,
  hasAttributeIndex: false,
  queryable: { table: 'synthetic_runs', from: runsSource, unit: '{run}', hasReplacedRows: true },
});
