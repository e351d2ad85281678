/**
 * Runs of synthetic checks as a data source, like log records and spans: each appears once, even if it was emitted
 * repeatedly. Their attributes are the labels of their check.
 */
import { runPhases } from '../../schemas/synthetic-runs.ts';
import type { syntheticRunsTable } from '../../schemas/tables/synthetics.ts';
import { defineSourceFields, type FieldDefinition, selectComputed } from './source-fields.ts';

type Column = keyof (typeof syntheticRunsTable)['columns'];

/** Columns in addition to the table's own. Only those named in a statement are read. */
const derivedColumns = {
  timestamp: "toDateTime64(due, 9, 'UTC')",
  partition: 'toUInt16(0)',
  offset: 'cityHash64(check_id, location)',
  ordinal: 'toUInt32(is_manual)',
  body: "concat(toString(check_name), ' ', message)",
  attributes: "CAST(labels, 'Map(String, String)')",
  attribute_types: "repeat('s', length(labels))",
  scope_attributes: "''",
  resource_id: 'toUInt64(0)',
} as const;

const tableColumns = [
  ...['tenant_id', 'project_id', 'check_id', 'check_name', 'check_type', 'location', 'due', 'started', 'is_manual'],
  ...['outcome', 'attempts', 'duration_ms', 'phases', 'message', 'trace_id'],
] as const satisfies readonly Column[];

/** FROM clause: the tenant's runs that were due between `{from:Int64}` and `{to:Int64}`, in nanoseconds. */
export const runsSource = `(SELECT ${tableColumns.join(', ')}, ${selectComputed(derivedColumns)} FROM synthetic_runs FINAL
  WHERE tenant_id = {tenant:String} AND due >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND due <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')) AS synthetic_runs`;

const runIdSql =
  "concat(toString(location), '-', toString(toUnixTimestamp64Milli(due)), if(is_manual = 1, '-asked', ''))";

const fieldDefinitions: Readonly<Record<string, FieldDefinition>> = {
  timestamp: ['time', 'toUnixTimestamp64Nano(timestamp)', 'Due time of the run', { column: 'timestamp' }],
  id: ['text', runIdSql, 'Id of the run, as reported by its check'],
  check: ['text', 'toString(check_name)', 'Name of the check', { aliases: ['checkName'] }],
  checkId: ['text', 'toString(check_id)', 'Id of the check', { aliases: ['check_id'] }],
  type: ['text', 'toString(check_type)', 'Type of the check, such as http'],
  location: ['text', 'toString(location)', 'Id of the location that ran it'],
  outcome: ['text', 'toString(outcome)', 'passed, degraded, failed or unknown'],
  durationMs: ['number', 'duration_ms', 'Duration of the last attempt in milliseconds', { column: 'duration_ms' }],
  attempts: ['number', 'attempts', 'Number of attempts', { column: 'attempts' }],
  ...Object.fromEntries(
    runPhases.map((phase): [string, FieldDefinition] => [
      `phases.${phase}`,
      ['number', `JSONExtractFloat(phases, '${phase}')`, `Duration of the phase ${phase} in milliseconds`],
    ]),
  ),
  isManual: [
    'text',
    "if(is_manual = 1, 'true', 'false')",
    'true for manual runs, which count in no state and no uptime',
  ],
  message: ['text', 'message', 'Error message'],
  traceId: ['text', 'trace_id', 'Trace of the run'],
  projectId: ['text', 'toString(project_id)', 'Project', { aliases: ['project'] }],
};

/** Fields of runs. */
export const runFields = defineSourceFields(fieldDefinitions);
