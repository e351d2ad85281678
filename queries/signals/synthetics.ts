import { runsRetentionDays } from '../../schemas/synthetic-runs.ts';
import { bodySearch } from '../../schemas/tables/search.ts';
import { defineSignal } from './definition.ts';
import { runFields, runsSource } from './found-runs.ts';

/** Runs of synthetic checks. They are measurements, so the plan's retention of metrics applies. */
export const synthetics = defineSignal({
  records: 'runs of synthetic checks',
  entitlement: 'metrics',
  retentionDays: ({ metrics }) => Math.min(metrics, runsRetentionDays),
  newest: { table: 'synthetic_runs', time: 'due' },
  fields: runFields,
  text: bodySearch,
  hasAttributeIndex: false,
  queryable: { table: 'synthetic_runs', from: runsSource, unit: '{run}', hasReplacedRows: true },
});
