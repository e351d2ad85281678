/**
 * Security signals as a data source, with the same search language, aggregates and limits as log records and spans. A
 * signal’s grouping fields are its attributes. Suppressed signals are omitted, and duplicates are removed.
 */
import { signalSeverities } from '../../schemas/signals.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import type { signalsTable } from '../../schemas/tables/signals.ts';
import { defineSourceFields, type FieldDefinition, selectComputed } from './source-fields.ts';

type Column = keyof (typeof signalsTable)['columns'];

/** Returns SQL of the value of the first entity of a type. */
const firstEntitySql = (type: string): string =>
  `substring(arrayFirst(each -> startsWith(each, '${type} '), entities), ${type.length + 2})`;

/** Columns in addition to the table's own. Only those named in a statement are read. */
const derivedColumns = {
  timestamp: "toDateTime64(time, 9, 'UTC')",
  ordinal: 'toUInt32(0)',
  body: "concat(toString(rule_title), ' ', arrayStringConcat(entities, ' '))",
  severity_level: `toUInt8(indexOf([${signalSeverities.map(quoteString).join(', ')}], severity) - 1)`,
  attributes: "CAST(group_by, 'Map(String, String)')",
  attribute_types: "repeat('s', length(group_by))",
  scope_attributes: "''",
  resource_id: 'toUInt64(0)',
} as const;

const tableColumns = [
  ...['tenant_id', 'project_id', 'partition', 'offset', 'id', 'kind', 'rule_id', 'rule_version', 'rule_title'],
  ...['risk_score', 'event_count', 'entities', 'tactics', 'techniques'],
] as const satisfies readonly Column[];

/** FROM clause: signals of the tenant within `{from:Int64}` and `{to:Int64}`, in nanoseconds. */
export const signalsSource = `(SELECT ${tableColumns.join(', ')}, ${selectComputed(derivedColumns)} FROM signals
  WHERE tenant_id = {tenant:String} AND time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
    AND suppressed_by = '' ORDER BY id, event_count DESC LIMIT 1 BY id) AS signals`;

const defineElementsField = (column: 'entities' | 'tactics' | 'techniques', summary: string): FieldDefinition => [
  'text',
  `arrayStringConcat(${column}, ', ')`,
  summary,
  { elements: column },
];

const fieldDefinitions: Readonly<Record<string, FieldDefinition>> = {
  timestamp: [
    'time',
    'toUnixTimestamp64Nano(timestamp)',
    'Time of the record, or of the last record',
    { column: 'timestamp' },
  ],
  id: ['text', 'id', 'Id of the signal'],
  ruleId: ['text', 'toString(rule_id)', 'Id of the rule', { aliases: ['rule_id', 'rule.id'] }],
  rule: ['text', 'toString(rule_title)', 'Title of the rule', { aliases: ['ruleTitle', 'rule_title'] }],
  ruleVersion: ['number', 'rule_version', 'Version of the rule', { column: 'rule_version' }],
  kind: ['text', 'toString(kind)', 'rule or correlation'],
  severity: [
    'number',
    'severity_level',
    'Severity, by name and in order of severity',
    { aliases: ['level'], column: 'severity_level', names: signalSeverities },
  ],
  riskScore: ['number', 'risk_score', 'Risk, 0 to 100', { aliases: ['risk_score', 'risk'], column: 'risk_score' }],
  eventCount: ['number', 'event_count', 'Records that matched', { column: 'event_count' }],
  projectId: ['text', 'toString(project_id)', 'Project', { aliases: ['project'] }],
  user: ['text', firstEntitySql('user'), 'First user of the signal'],
  host: ['text', firstEntitySql('host'), 'First host of the signal'],
  process: ['text', firstEntitySql('process'), 'First process of the signal'],
  address: ['text', firstEntitySql('address'), 'First address of the signal'],
  entity: defineElementsField('entities', 'Entities of the signal: type and value, such as user ann'),
  tactic: defineElementsField('tactics', 'Tactics of ATT&CK'),
  technique: defineElementsField('techniques', 'Techniques of ATT&CK'),
};

/** Fields of signals. A field with several values matches a search by any of them, and groups a signal under each. */
export const signalFields = defineSourceFields(fieldDefinitions);
