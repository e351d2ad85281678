/**
 * Counts of log patterns as a data source. Each row is the number of records of a pattern per minute, project, service
 * and severity; counting records adds up these numbers. Ids that became aliases are replaced by the id of the current
 * pattern that covers them (`queries/log-patterns/forms.ts` is the equivalent in TypeScript).
 */
import { severityLevels } from '../../schemas/log-patterns.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import type { logPatternCountsTable } from '../../schemas/tables/log-patterns.ts';
import { defineSourceFields, type FieldDefinition, selectComputed } from './source-fields.ts';

type Column = keyof (typeof logPatternCountsTable)['columns'];

/** Returns the SQL test whether a form covers another: each position is equal or a wildcard (1). */
const buildCoversSql = (outer: string, inner: string): string =>
  `length(${outer}) <= length(${inner}) AND arrayAll((one, other) -> one = other OR one = 1, ${outer}, arrayResize(${inner}, length(${outer})))`;

const widthSql = 'arrayCount(place -> place = 1, places)';
const tenantFormsClause = 'FROM log_patterns WHERE tenant_id = {tenant:String}';

/** Forms of the structures that have at least one form with a wildcard; only such a form can cover another. */
const formsSql = `(SELECT service, structure, pattern_id AS id, places, ${widthSql} AS width ${tenantFormsClause}
  AND (service, structure) IN (SELECT service, structure ${tenantFormsClause} AND has(places, 1)) GROUP BY service, structure, id, places)`;

/** For each covered form: the width and id of the narrowest form that covers it and is not covered itself. */
const coveredFormsSql = `(SELECT service, structure, id, places,
    groupArray((outer_width, outer_id, outer_places)) AS outers,
    arraySort(arrayFilter(one -> NOT arrayExists(other -> other.1 > one.1 AND ${buildCoversSql('other.3', 'one.3')}, outers), outers))[1] AS cover
  FROM (
    SELECT inner.service AS service, inner.structure AS structure, inner.id AS id, inner.places AS places, inner.width AS width,
      outer.width AS outer_width, outer.id AS outer_id, outer.places AS outer_places
    FROM ${formsSql} AS inner JOIN ${formsSql} AS outer ON inner.service = outer.service AND inner.structure = outer.structure
    WHERE outer.width > 0 AND ${buildCoversSql('outer.places', 'inner.places')}
  ) GROUP BY service, structure, id, places HAVING max(outer_width) > any(width))`;

/** For each service and alias: the id that replaces it, because other patterns cover all its forms. */
const aliasesSql = `(SELECT service, id, argMin(cover.2, (cover.1, cover.2)) AS pattern FROM ${coveredFormsSql}
  WHERE (service, id) NOT IN (
    SELECT service, id FROM ${formsSql} WHERE (service, structure, id, places) NOT IN (SELECT service, structure, id, places FROM ${coveredFormsSql})
  ) GROUP BY service, id)`;

/** For each service and id: the current id, all ids of that pattern, and its template. */
const currentNamesSql = `(SELECT service, pattern, template, ids, arrayJoin(ids) AS id FROM (
    SELECT service, pattern, groupUniqArray(known.id) AS ids, argMax(known.template, (known.id = pattern, known.seen)) AS template
    FROM (
      SELECT patterns.service AS service, patterns.id AS id, patterns.template AS template, patterns.seen AS seen,
        if(aliases.pattern = '', patterns.id, aliases.pattern) AS pattern
      FROM (SELECT service, pattern_id AS id, argMax(template, last_seen) AS template, max(last_seen) AS seen ${tenantFormsClause} GROUP BY service, id) AS patterns
      LEFT ANY JOIN ${aliasesSql} AS aliases ON patterns.service = aliases.service AND patterns.id = aliases.id
    ) AS known GROUP BY service, pattern
  ))`;

/** Columns in addition to the table's own. */
const derivedColumns = {
  timestamp: "toDateTime64(counts.minute, 9, 'UTC')",
  ordinal: 'toUInt32(cityHash64(counts.project_id, counts.service, counts.pattern_id, counts.severity))',
  pattern: "if(names.pattern = '', counts.pattern_id, names.pattern)",
  pattern_ids: 'if(empty(names.ids), [counts.pattern_id], names.ids)',
  body: 'names.template',
  severity_level: `toUInt8(indexOf([${severityLevels.map(quoteString).join(', ')}], counts.severity) - 1)`,
  attributes: "CAST(map(), 'Map(String, String)')",
  attribute_types: "''",
  scope_attributes: "''",
  resource_id: 'toUInt64(0)',
} as const;

const tableColumns = [
  ...['tenant_id', 'project_id', 'service', 'count', 'partition', 'offset'],
] as const satisfies readonly Column[];

/** FROM clause: the tenant's counts for minutes that begin between `{from:Int64}` and `{to:Int64}`, in nanoseconds. */
export const patternCountsSource = `(SELECT ${tableColumns.map((column) => `counts.${column} AS ${column}`).join(', ')}, ${selectComputed(derivedColumns)} FROM (SELECT * FROM log_pattern_counts WHERE tenant_id = {tenant:String}
    AND minute >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND minute <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')) AS counts
  LEFT ANY JOIN ${currentNamesSql} AS names ON counts.service = names.service AND counts.pattern_id = names.id) AS log_pattern_counts`;

const fieldDefinitions: Readonly<Record<string, FieldDefinition>> = {
  timestamp: ['time', 'toUnixTimestamp64Nano(timestamp)', 'Start of the minute', { column: 'timestamp' }],
  pattern: [
    ...(['text', 'pattern', 'Id of the pattern; a search also matches the ids that it had before merges'] as const),
    { aliases: ['patternId', 'pattern_id'], elements: 'pattern_ids', areOneThing: true },
  ],
  template: ['text', 'body', 'Template of the pattern, with its variables masked'],
  service: ['text', 'toString(service)', 'Service', { aliases: ['service.name'] }],
  severity: [
    ...(['number', 'severity_level', 'Severity, by name and in order of severity'] as const),
    { aliases: ['level'], column: 'severity_level', names: severityLevels },
  ],
  count: ['number', 'count', 'Records of the minute', { column: 'count' }],
  projectId: ['text', 'toString(project_id)', 'Project', { aliases: ['project'] }],
};

/** Fields of counts. */
export const countFields = defineSourceFields(fieldDefinitions);
