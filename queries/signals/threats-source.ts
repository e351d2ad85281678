/** Events of runtime security sensors as a data source. Duplicates of reprocessed records are removed. */
import { signalSeverities } from '../../schemas/signals.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import type { runtimeThreatsTable } from '../../schemas/tables/runtime-threats.ts';
import { defineSourceFields, type FieldDefinition, selectComputed } from './source-fields.ts';

type Column = keyof (typeof runtimeThreatsTable)['columns'];

/** Columns in addition to the table's own. Only those named in a statement are read. */
const derivedColumns = {
  timestamp: "toDateTime64(time, 9, 'UTC')",
  ordinal: 'toUInt32(0)',
  body: "concat(toString(rule), ' ', message, ' ', command_line, ' ', target)",
  severity_level: `toUInt8(indexOf([${signalSeverities.map(quoteString).join(', ')}], toString(severity)) - 1)`,
  attributes: "CAST(map(), 'Map(String, String)')",
  attribute_types: "''",
  scope_attributes: "''",
  resource_id: 'toUInt64(0)',
} as const;

const tableColumns = [
  ...['tenant_id', 'project_id', 'partition', 'offset', 'id', 'group_id', 'record_id', 'source', 'rule', 'message'],
  ...['service', 'host', 'workload', 'namespace', 'pod', 'image', 'program', 'command_line', 'target', 'user'],
  ...['action', 'techniques'],
] as const satisfies readonly Column[];

/** FROM clause: events of the tenant within `{from:Int64}` and `{to:Int64}`, in nanoseconds. */
export const threatsSource = `(SELECT ${tableColumns.join(', ')}, ${selectComputed(derivedColumns)} FROM runtime_threats
  WHERE tenant_id = {tenant:String} AND time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
    ORDER BY id LIMIT 1 BY id) AS runtime_threats`;

const fieldDefinitions: Readonly<Record<string, FieldDefinition>> = {
  timestamp: ['time', 'toUnixTimestamp64Nano(timestamp)', 'Time of the event', { column: 'timestamp' }],
  id: ['text', 'id', 'ID of the event'],
  threatId: ['text', 'group_id', 'ID of the threat, which groups events', { aliases: ['groupId'] }],
  recordId: ['text', 'record_id', 'ID of the log record'],
  source: ['text', 'toString(source)', 'Sensor: falco, tetragon, tracee, kubearmor or opentelemetry'],
  rule: ['text', 'toString(rule)', 'Rule of the sensor', { aliases: ['rule.name'] }],
  severity: [
    'number',
    'severity_level',
    'Severity, by name and in order of severity',
    { aliases: ['level'], column: 'severity_level', names: signalSeverities },
  ],
  message: ['text', 'message', 'Message of the sensor'],
  service: ['text', 'toString(service)', 'Service', { aliases: ['service.name'] }],
  host: ['text', 'toString(host)', 'Host', { aliases: ['host.name'] }],
  workload: ['text', 'toString(workload)', 'Kubernetes owner or image; otherwise the host'],
  namespace: ['text', 'toString(namespace)', 'Kubernetes namespace', { aliases: ['k8s.namespace.name'] }],
  pod: ['text', 'toString(pod)', 'Pod', { aliases: ['k8s.pod.name'] }],
  image: ['text', 'toString(image)', 'Image of the container', { aliases: ['container.image.name'] }],
  program: ['text', 'toString(program)', 'Program', { aliases: ['process.executable.name'] }],
  command: ['text', 'command_line', 'Command line', { aliases: ['process.command_line'] }],
  target: ['text', 'target', 'File or address'],
  user: ['text', 'toString(user)', 'User', { aliases: ['user.name'] }],
  action: ['text', 'toString(action)', 'What the sensor did, such as SIGKILL or Block'],
  projectId: ['text', 'toString(project_id)', 'Project', { aliases: ['project'] }],
  technique: ['text', "arrayStringConcat(techniques, ', ')", 'Techniques of ATT&CK', { elements: 'techniques' }],
};

/** Fields of events of sensors. */
export const threatFields = defineSourceFields(fieldDefinitions);
