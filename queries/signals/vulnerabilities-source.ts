/** Vulnerabilities of packages as a data source: one record per finding and clock hour, the latest of the hour. */
import { quoteString } from '../../schemas/tables/literal.ts';
import type { vulnerabilityFindingsTable } from '../../schemas/tables/vulnerability-findings.ts';
import { findingPriorities, findingSeverities } from '../../schemas/vulnerability-findings.ts';
import { defineSourceFields, type FieldDefinition, selectComputed } from './source-fields.ts';

type Column = keyof (typeof vulnerabilityFindingsTable)['columns'];

const toLevel = (column: Column, names: readonly string[]): string =>
  `toUInt8(indexOf([${names.map(quoteString).join(', ')}], toString(${column})) - 1)`;

/** Columns in addition to the table's own. Only those named in a statement are read. */
const derivedColumns = {
  timestamp: "toDateTime64(time, 9, 'UTC')",
  partition: 'toUInt16(0)',
  offset: 'cityHash64(finding_id)',
  ordinal: 'toUInt32(0)',
  body: "concat(toString(vulnerability), ' ', toString(package), ' ', toString(target), ' ', title)",
  priority_level: toLevel('priority', findingPriorities),
  severity_level: toLevel('severity', findingSeverities),
  age_hours: "dateDiff('hour', first_time, time)",
  attributes: "CAST(map(), 'Map(String, String)')",
  attribute_types: "''",
  scope_attributes: "''",
  resource_id: 'toUInt64(0)',
} as const;

const tableColumns = [
  ...['tenant_id', 'project_id', 'finding_id', 'vulnerability', 'aliases', 'title', 'package', 'version', 'ecosystem'],
  ...['target_id', 'target', 'target_kind', 'location', 'scanners', 'status', 'state', 'score', 'exploited', 'running'],
  ...['services', 'fixed_versions', 'vex'],
] as const satisfies readonly Column[];

/** FROM clause: states of findings of the tenant within `{from:Int64}` and `{to:Int64}`, in nanoseconds. */
export const vulnerabilitiesSource = `(SELECT ${tableColumns.join(', ')}, ${selectComputed(derivedColumns)} FROM vulnerability_findings FINAL
  WHERE tenant_id = {tenant:String} AND hour >= toStartOfHour(fromUnixTimestamp64Nano({from:Int64}, 'UTC')) AND hour <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
    AND time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')) AS vulnerability_findings`;

const defineListField = (
  column: 'aliases' | 'scanners' | 'services' | 'fixed_versions',
  summary: string,
): FieldDefinition => ['text', `arrayStringConcat(${column}, ', ')`, summary, { elements: column }];

const fieldDefinitions: Readonly<Record<string, FieldDefinition>> = {
  timestamp: ['time', 'toUnixTimestamp64Nano(timestamp)', 'Time of the record', { column: 'timestamp' }],
  id: ['text', 'finding_id', 'ID of the finding', { aliases: ['findingId'] }],
  vulnerability: ['text', 'toString(vulnerability)', 'CVE, or the ID of the scanner', { aliases: ['cve'] }],
  alias: defineListField('aliases', 'Other IDs of the vulnerability'),
  title: ['text', 'title', 'Title of the vulnerability'],
  priority: [
    'number',
    'priority_level',
    'Priority, by name and in order',
    { column: 'priority_level', names: findingPriorities },
  ],
  severity: [
    'number',
    'severity_level',
    'Highest severity of the scanners, by name and in order',
    { aliases: ['level'], column: 'severity_level', names: findingSeverities },
  ],
  score: ['number', 'score', 'Score of the priority, 0 to 100', { column: 'score' }],
  status: ['text', 'toString(status)', 'open or fixed, as scanners report'],
  state: ['text', 'toString(state)', 'Decision of users: open, resolved, ignored or accepted'],
  exploited: ['text', 'toString(exploited)', 'yes, no, or unknown without a catalog'],
  running: ['text', 'toString(running)', 'exposed, running, not-running or unknown'],
  vex: ['text', 'toString(vex)', 'Status by VEX; empty if there is none'],
  package: ['text', 'toString(package)', 'Name of the package'],
  version: ['text', 'toString(version)', 'Version of the package'],
  ecosystem: ['text', 'toString(ecosystem)', 'Ecosystem of the package, such as npm'],
  fixedVersion: defineListField('fixed_versions', 'Versions with a fix'),
  target: ['text', 'toString(target)', 'Name of the image, host or repository'],
  targetId: ['text', 'toString(target_id)', 'ID of the target, such as the digest of an image'],
  targetKind: ['text', 'toString(target_kind)', 'image, host, repository or sbom'],
  image: [
    'text',
    "if(target_kind = 'image', toString(target), '')",
    'Name of the image',
    { aliases: ['container.image.name'] },
  ],
  location: ['text', 'toString(location)', 'Lock file in a repository'],
  service: defineListField('services', 'Services that run the target'),
  scanner: defineListField('scanners', 'Scanners that report the finding'),
  ageHours: ['number', 'age_hours', 'Hours since the first report', { column: 'age_hours' }],
  projectId: ['text', 'toString(project_id)', 'Empty: targets belong to the organization', { aliases: ['project'] }],
};

/** Fields of vulnerabilities. */
export const vulnerabilityFields = defineSourceFields(fieldDefinitions);
