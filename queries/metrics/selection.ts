/** Selects the time series of a query from `series`, so that points are read by id. */
import {
  buildAttributeExpressions,
  buildScopeExpressions,
  type Reference,
  resolveReference,
  seriesFields,
} from '../../schemas/fields.ts';
import { createValidationError } from '../errors.ts';
import type { Range } from '../range.ts';
import { getResources } from '../resources.ts';
import { buildSearchCondition } from '../search/condition.ts';
import { parseSearch } from '../search/parse.ts';
import { getEarliestRowMs } from '../series-first-seen.ts';
import type { TenantReader } from '../tenant-reader.ts';

/** A series and its group. */
export interface SelectedSeries {
  readonly id: string;
  readonly metric: string;
  readonly kind: string;
  /** OTLP number: 0 unspecified, 1 delta, 2 cumulative. */
  readonly temporality: number;
  readonly monotonic: boolean;
  readonly unit: string;
  readonly source: string;
  /** Upper bound of a bucket of Prometheus' classic histograms; empty for other series. */
  readonly le: string;
  /** Equal for all buckets of one classic histogram. */
  readonly histogram: string;
  /** Labels of its group, in the requested order. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Query for the series of metrics that match a search and may have points in the range. */
export interface SeriesQuery {
  readonly metrics: readonly string[];
  readonly search?: string | undefined;
  readonly projectId?: string | undefined;
  readonly range: Range;
  /** Fields and labels to group by; `every` makes each series a group with all its labels. */
  readonly groupBy: readonly string[] | 'every';
}

/** Maximum number of series that one query reads. */
export const maxSeries = 50_000;

interface Row {
  readonly id: string;
  readonly metric_name: string;
  readonly metric_type: readonly [string, number, boolean, string, string];
  readonly resource: string;
  readonly le: string;
  readonly histogram: string;
  readonly own: readonly (readonly [boolean, string])[];
  readonly keys?: readonly string[];
  readonly texts?: readonly string[];
  readonly scope?: string;
  readonly of_service?: string;
}

/**
 * Returns SQL of a tuple: whether a series itself has a value for a name, and the value as text. Resource attributes
 * are in another table.
 */
const seriesValueSql = (reference: Reference): string => {
  switch (reference.kind) {
    case 'field': {
      const { expression, names } = reference.field;
      const text =
        names === undefined
          ? `toString(${expression})`
          : `[${names.map((name) => `'${name}'`).join(', ')}][${expression} + 1]`;
      return `tuple(true, ${text})`;
    }
    case 'resource':
      return "tuple(false, '')";
    default: {
      const { exists, text } =
        reference.kind === 'scope' ? buildScopeExpressions(reference.key) : buildAttributeExpressions(reference.key);
      return `tuple(toBool(${exists}), toString(${text}))`;
    }
  }
};

/** Columns read of each series. */
const seriesColumns = `toString(series_id) AS id, any(metric) AS metric_name, toString(any(resource_id)) AS resource,
      argMax(tuple(kind, temporality, monotonic, unit, source), tuple(kind != 'unknown', series.last_seen)) AS metric_type,
      any(attributes['le']) AS le, toString(any(cityHash64(toString(mapFilter((k, v) -> k != 'le', attributes)), metric, resource_id))) AS histogram`;
const aliveConditionSql = "max(series.last_seen) >= fromUnixTimestamp64Milli({alive:Int64}, 'UTC')";
const aliveSinceParameter = (from: bigint): string => String(getEarliestRowMs(Number(from / 1_000_000n)));

/**
 * Returns the selected series, in the order of their ids, and whether there are more than `limit`. If the metadata of a
 * Prometheus series changed, the latest version is returned.
 */
export const selectSeries = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { metrics, search, projectId, range, groupBy }: SeriesQuery,
  limit = maxSeries,
): Promise<{ readonly series: readonly SelectedSeries[]; readonly hasOmittedSeries: boolean }> => {
  const references = groupBy === 'every' ? [] : groupBy.map((name) => resolveReference(seriesFields, name));
  const conditions = ['metric IN {metrics:Array(String)}'];
  const parameters: Record<string, string | readonly string[]> = {
    metrics,
    alive: aliveSinceParameter(range.from),
  };
  if (projectId !== undefined) {
    conditions.push('project_id = {project:String}');
    parameters['project'] = projectId;
  }
  if (search !== undefined) {
    const condition = buildSearchCondition(parseSearch(search, 'metrics'), 'metrics');
    conditions.push(condition.sql);
    Object.assign(parameters, condition.parameters);
  }
  const groupExpressions = references.map((reference) => `any(${seriesValueSql(reference)})`).join(', ');
  const allLabelColumns =
    groupBy === 'every'
      ? ', any(mapKeys(attributes)) AS keys, any(mapValues(attributes)) AS texts, any(series.scope_name) AS scope, any(series.service) AS of_service'
      : '';
  const rows = await columns.query<Row>(
    `SELECT ${seriesColumns}, [${groupExpressions}] AS own${allLabelColumns}
    FROM series WHERE tenant_id = {tenant:String} AND ${conditions.join(' AND ')}
    GROUP BY series_id HAVING ${aliveConditionSql}
    ORDER BY series_id LIMIT ${limit + 1}`,
    parameters,
    { maxResultRows: limit + 1 },
  );
  const selectedRows = rows.slice(0, limit);
  const resources = await readNeededResources({ columns }, selectedRows, references, groupBy);
  const buildLabels = (row: Row): SelectedSeries['labels'] =>
    groupBy === 'every'
      ? buildAllLabels(row, resources.get(row.resource))
      : buildNamedLabels(row, references, groupBy, resources);
  return {
    hasOmittedSeries: rows.length > limit,
    series: selectedRows.map((row) => toSelectedSeries(row, buildLabels(row))),
  };
};

const toSelectedSeries = (
  { id, metric_name: metric, metric_type: [kind, temporality, monotonic, unit, source], le, histogram }: Row,
  labels: SelectedSeries['labels'],
): SelectedSeries => ({ id, metric, kind, temporality, monotonic, unit, source, le, histogram, labels });

const buildNamedLabels = (
  { own: seriesLabel, resource }: Pick<Row, 'own' | 'resource'>,
  references: readonly Reference[],
  names: readonly string[],
  resources: ReadonlyMap<string, ResourceAttributes>,
): SelectedSeries['labels'] =>
  Object.fromEntries(
    references.map((reference, index) => [
      names[index],
      formatLabel(reference, seriesLabel[index], resources.get(resource)),
    ]),
  );

/** Selection of one metric's series, grouped by names. */
export interface GroupedSeriesQuery extends Pick<SeriesQuery, 'search' | 'projectId' | 'range'> {
  readonly metric: string;
  readonly groupBy: readonly string[];
}

/**
 * Returns the series of several selections over one range in one statement, as `selectSeries` would; `undefined` if
 * they exceed `limit` in total. Throws if one selection is invalid.
 */
export const selectSeriesBatch = async (
  { columns }: Pick<TenantReader, 'columns'>,
  seriesQueries: readonly GroupedSeriesQuery[],
  limit: number,
): Promise<readonly (readonly SelectedSeries[])[] | undefined> => {
  const names = [...new Set(seriesQueries.flatMap(({ groupBy }) => groupBy))];
  const references = names.map((name) => resolveReference(seriesFields, name));
  const parameters: Record<string, string | readonly string[]> = {
    metrics: [...new Set(seriesQueries.map(({ metric }) => metric))],
    alive: aliveSinceParameter(seriesQueries[0]?.range.from ?? 0n),
  };
  const conditions = seriesQueries.map(({ metric, search, projectId }, index) => {
    const conditionParts = [`metric = {metric${index}:String}`];
    parameters[`metric${index}`] = metric;
    if (projectId !== undefined) {
      parameters[`project${index}`] = projectId;
      conditionParts.push(`project_id = {project${index}:String}`);
    }
    if (search !== undefined) {
      const searchSql = buildSearchCondition(parseSearch(search, 'metrics'), 'metrics', { prefix: `q${index}_` });
      conditionParts.push(`(${searchSql.sql})`);
      Object.assign(parameters, searchSql.parameters);
    }
    return `if(${conditionParts.join(' AND ')}, ${index}, -1)`;
  });
  const rows = await columns.query<Row & { readonly question: number }>(
    `SELECT question, ${seriesColumns}, any(own_texts) AS own
    FROM (SELECT *, [${references.map(seriesValueSql).join(', ')}] AS own_texts,
        arrayJoin(arrayFilter(k -> k >= 0, [${conditions.join(', ')}])) AS question
      FROM series WHERE tenant_id = {tenant:String} AND metric IN {metrics:Array(String)}) AS series
    GROUP BY question, series_id HAVING ${aliveConditionSql} ORDER BY question, series_id LIMIT ${limit + 1}`,
    parameters,
    { maxResultRows: limit + 1 },
  );
  if (rows.length > limit) return undefined;
  const resources = await readNeededResources({ columns }, rows, references, names);
  const groupIndexes = seriesQueries.map(({ groupBy }) => groupBy.map((name) => names.indexOf(name)));
  const seriesByQuery: SelectedSeries[][] = seriesQueries.map(() => []);
  for (const row of rows) {
    const { groupBy = [] } = seriesQueries[row.question] ?? {};
    const nameIndexes = groupIndexes[row.question] ?? [];
    const seriesLabels = nameIndexes.map((nameIndex) => row.own[nameIndex] ?? ([false, ''] as const));
    const groupReferences = nameIndexes.map((nameIndex) => references[nameIndex] as Reference);
    const labels = buildNamedLabels({ own: seriesLabels, resource: row.resource }, groupReferences, groupBy, resources);
    seriesByQuery[row.question]?.push(toSelectedSeries(row, labels));
  }
  return seriesByQuery;
};

type ResourceAttributes = Readonly<Record<string, unknown>>;

const readNeededResources = async (
  { columns }: Pick<TenantReader, 'columns'>,
  rows: readonly Row[],
  references: readonly Reference[],
  groupBy: SeriesQuery['groupBy'],
): Promise<ReadonlyMap<string, ResourceAttributes>> => {
  const isNeeded = groupBy === 'every' || references.some(({ kind }) => kind === 'resource' || kind === 'any');
  if (!isNeeded) return new Map();
  const resourcesById = await getResources(
    columns,
    rows.map(({ resource }) => resource),
  );
  return new Map([...resourcesById].map(([id, { attributes }]) => [id, attributes]));
};

const formatValue = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value ?? '');

/**
 * Returns the value of a label as text, with the rules of the search language: the series' own label, otherwise the
 * attribute of its resource; empty if it has neither.
 */
const formatLabel = (
  reference: Reference,
  seriesLabel: readonly [boolean, string] | undefined,
  resource: ResourceAttributes | undefined,
): string => {
  if (seriesLabel?.[0] === true) return seriesLabel[1];
  if (reference.kind !== 'any' && reference.kind !== 'resource') return '';
  return formatValue(resource?.[reference.key]);
};

/** Returns all labels that distinguish a series from others of its metric. */
const buildAllLabels = (row: Row, resource: ResourceAttributes = {}): Record<string, string> => ({
  ...(row.of_service === '' ? {} : { service: row.of_service ?? '' }),
  ...Object.fromEntries(Object.entries(resource).map(([key, value]) => [`resource.${key}`, formatValue(value)])),
  ...(row.scope === '' ? {} : { 'scope.name': row.scope ?? '' }),
  ...Object.fromEntries((row.keys ?? []).map((key, index) => [key, row.texts?.[index] ?? ''])),
});

/** Returns the common unit of these series, ignoring those without one. Throws if they have several. */
export const findCommonUnit = (series: readonly SelectedSeries[], metric: string): string => {
  const units = [...new Set(series.map(({ unit }) => unit))].filter((unit) => unit !== '');
  if (units.length > 1)
    throw createValidationError(
      'metric',
      `${metric} has several units (${units.join(', ')}): name one in the search, as in unit:"${units[0]}"`,
    );
  return units[0] ?? '';
};
