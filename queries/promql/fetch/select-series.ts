/** Selects the series that match a PromQL selector from the table `series`, with their Prometheus labels. */
import type { QueryParameters, TenantColumns } from '../../../schemas/ports/columns.ts';
import { sortByLabels } from '../engine/labels.ts';
import { PromqlError } from '../errors.ts';
import {
  type AttributeTexts,
  buildPartName,
  buildSeriesLabels,
  buildTargetLabels,
  listSeriesParts,
  type SeriesPart,
  sortLabels,
} from '../otlp/labels.ts';
import { buildLabelName } from '../otlp/names.ts';
import type { Labels, Matcher } from '../series.ts';
import { compileTest } from '../syntax/matchers.ts';
import {
  buildLabelsTest,
  buildOtlpCondition,
  buildPrometheusCondition,
  type Condition,
  type ValueTest,
} from './matcher-conditions.ts';
import { buildScopeCondition, type Scope, type Window } from './scope.ts';
import { findMetricsByName } from './stored-metrics.ts';

/** Tables with samples of a series. */
export type PointTable = 'samples' | 'histograms' | 'summaries';

/** One stored series, or a part of one. */
export interface SeriesSource {
  readonly id: string;
  readonly metric: string;
  readonly tables: readonly PointTable[];
  readonly part: SeriesPart;
  /** Whether each point contains only the increase since the previous one. */
  readonly isDelta: boolean;
}

/**
 * A Prometheus series; for classic histograms and summaries all buckets or quantiles, whose labels omit `le` and
 * `quantile`.
 */
export interface SelectedSeries {
  readonly labels: Labels;
  /** Usually one; several if senders differ in attributes that Prometheus does not show. */
  readonly sources: readonly SeriesSource[];
}

/** Maximum number of series of one selector. */
export const maxSeries = 200_000;
/** Number of stored series per target that are read to determine when the target was present. */
const maxSeriesPerTarget = 5;

interface Row {
  readonly id: string;
  readonly metric_name: string;
  readonly sender_type: string;
  readonly kinds: readonly string[];
  readonly metric_type: readonly [kind: string, temporality: number, monotonic: boolean, unit: string];
  readonly resource: string;
  readonly keys: readonly string[];
  readonly attribute_values: readonly string[];
  readonly instrumentation_scope: readonly [name: string, version: string, url: string, attributes: string];
}

const idPattern = /^\d{1,20}$/;

/** Returns the attributes of resources, whose values are strings as stored. */
export const readResourceAttributes = async (
  columns: TenantColumns,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, AttributeTexts>> => {
  const validIds = [...new Set(ids)].filter((id) => idPattern.test(id) && id !== '0');
  if (validIds.length === 0) return new Map();
  const rows = await columns.query<{
    readonly id: string;
    readonly keys: readonly string[];
    readonly attribute_values: readonly string[];
  }>(
    `SELECT toString(resource_id) AS id, any(mapKeys(attributes)) AS keys, any(mapValues(attributes)) AS attribute_values
    FROM resources WHERE tenant_id = {tenant:String} AND resource_id IN (${validIds.join(', ')}) GROUP BY resource_id`,
    {},
    { maxResultRows: validIds.length },
  );
  return new Map(rows.map(({ id, keys, attribute_values: values }) => [id, toAttributeMap(keys, values)]));
};

const toAttributeMap = (keys: readonly string[], values: readonly string[]): AttributeTexts => {
  const map = new Map<string, string>();
  for (const [index, key] of keys.entries()) if (!map.has(key)) map.set(key, values[index] ?? '');
  return map;
};

const createTooManySeriesError = (): PromqlError =>
  new PromqlError('execution', `the query exceeds the limit of ${maxSeries} series: use matchers that select fewer`);

/** Stored metrics to read; undefined for all. */
interface StoredMetricNames {
  readonly prometheus: readonly string[] | undefined;
  readonly otlp: readonly string[] | undefined;
}

const findStoredMetrics = async (
  scope: Scope,
  window: Window,
  matchers: readonly Matcher[],
): Promise<StoredMetricNames> => {
  const isOnlyOtlp = scope.onlySource === 'otlp';
  if (!matchers.some(({ name }) => name === '__name__'))
    return { prometheus: isOnlyOtlp ? [] : undefined, otlp: undefined };
  const metricsByName = await findMetricsByName(scope, window, matchers);
  const selectMetrics = (isPrometheus: boolean): string[] => [
    ...new Set(
      metricsByName.filter(({ source }) => (source === 'prometheus') === isPrometheus).map(({ metric }) => metric),
    ),
  ];
  return { prometheus: isOnlyOtlp ? [] : selectMetrics(true), otlp: selectMetrics(false) };
};

/** Returns SQL of candidate series; exact for remote-write series. */
const buildSeriesCondition = (
  scope: Scope,
  matchers: readonly Matcher[],
  { prometheus, otlp }: StoredMetricNames,
): Condition => {
  const promotedNames = scope.translation.promoted.map((key) => buildLabelName(key, scope.translation.strategy));
  const prometheusSql = buildPrometheusCondition(matchers);
  const otlpSql = buildOtlpCondition(matchers, scope.translation, promotedNames);
  const buildBranch = (
    source: string,
    { sql }: Condition,
    metrics: readonly string[] | undefined,
    name: string,
  ): string =>
    [
      `source = '${source}'`,
      ...(metrics === undefined ? [] : [`metric IN {${name}:Array(String)}`]),
      ...(sql === '' ? [] : [sql]),
    ].join(' AND ');
  const branches = [
    ...(prometheus?.length === 0 ? [] : [buildBranch('prometheus', prometheusSql, prometheus, 'prometheus')]),
    ...(otlp?.length === 0 ? [] : [buildBranch('otlp', otlpSql, otlp, 'otlp')]),
  ];
  const allMetrics = prometheus === undefined || otlp === undefined ? undefined : [...prometheus, ...otlp];
  const parameters: QueryParameters = {
    ...prometheusSql.parameters,
    ...otlpSql.parameters,
    ...(prometheus && { prometheus }),
    ...(otlp && { otlp }),
    ...(allMetrics && { all: allMetrics }),
  };
  // The primary key can use the list of metrics only as a separate condition.
  const metricListCondition = allMetrics === undefined ? '' : 'metric IN {all:Array(String)} AND ';
  return { sql: `${metricListCondition}((${branches.join(') OR (')}))`, parameters };
};

/** Merges series with equal labels. */
class SeriesCollector {
  readonly #byLabels = new Map<string, { readonly labels: Labels; readonly sources: SeriesSource[] }>();

  add(labels: Labels, source: SeriesSource): void {
    const key = JSON.stringify(labels) + (source.part === 'buckets' || source.part === 'quantiles' ? source.part : '');
    const existing = this.#byLabels.get(key);
    if (existing === undefined) this.#byLabels.set(key, { labels, sources: [source] });
    else existing.sources.push(source);
  }

  /** Returns the series in the order of their labels. */
  all(): SelectedSeries[] {
    return sortByLabels(this.#byLabels.values());
  }
}

/** Series of a selector, and how they were selected. */
export interface SeriesSelection {
  /** In the order of their labels. */
  readonly series: readonly SelectedSeries[];
  /** Series that the condition matched, whether selected or not. */
  readonly matchedSeriesIds: ReadonlySet<string>;
  /** Stored metrics that were read; undefined for all. */
  readonly metrics: readonly string[] | undefined;
  /** SQL over `series` of candidates within these metrics. */
  readonly condition: Condition;
}

/**
 * Returns the series that the matchers select, in the order of their labels. Matchers of `le` and `quantile` are
 * applied later, to buckets and quantiles.
 */
export const selectSeries = async (
  scope: Scope,
  window: Window,
  matchers: readonly Matcher[],
  limit = maxSeries,
): Promise<readonly SelectedSeries[]> => (await selectSeriesWithSource(scope, window, matchers, limit)).series;

/** As `selectSeries`, with the source of the result. */
export const selectSeriesWithSource = async (
  scope: Scope,
  window: Window,
  matchers: readonly Matcher[],
  limit = maxSeries,
): Promise<SeriesSelection> => {
  const collector = new SeriesCollector();
  const names = matchers.filter(({ name }) => name === '__name__').map(compileTest);
  const metrics = await findStoredMetrics(scope, window, matchers);
  const condition = buildSeriesCondition(scope, matchers, metrics);
  const matchedSeriesIds = new Set<string>();
  if (metrics.prometheus?.length !== 0 || metrics.otlp?.length !== 0) {
    for await (const rows of readRows(scope, window, condition, limit)) {
      const otlpRows = rows.filter(({ sender_type }) => sender_type === 'otlp');
      const resources = await readResourceAttributes(
        scope.columns,
        otlpRows.map(({ resource }) => resource),
      );
      for (const row of rows) {
        matchedSeriesIds.add(row.id);
        if (row.sender_type === 'prometheus') addPrometheus(collector, row);
        else addOtlp(collector, row, { resources, scope, names, matchers });
      }
    }
  }
  if (names.every((test) => test('target_info'))) await addTargets(collector, scope, window, matchers);
  const { prometheus, otlp } = metrics;
  const allMetrics = prometheus === undefined || otlp === undefined ? undefined : [...prometheus, ...otlp];
  return { series: collector.all(), matchedSeriesIds, metrics: allMetrics, condition };
};

/**
 * Maximum number of series whose rows are in memory at the same time, because rows take several times as much memory
 * as the result.
 */
const maxSeriesInMemory = 20_000;
/** Number of parts by id in which larger selections are read. */
const partCount = 16;

/** Yields the rows of the series that match a condition: in one statement, or in several if there are many series. */
const readRows = async function* (
  scope: Scope,
  window: Window,
  { sql: condition, parameters: conditionParameters }: Condition,
  limit: number,
): AsyncIterable<readonly Row[]> {
  const { sql, parameters } = buildScopeCondition(scope, window);
  const read = (limit: number, part: string): Promise<Row[]> =>
    scope.columns.query<Row>(
      `SELECT toString(series_id) AS id, any(metric) AS metric_name, any(source) AS sender_type, groupUniqArray(kind) AS kinds,
      any(tuple(kind, temporality, monotonic, series.unit)) AS metric_type, toString(any(resource_id)) AS resource, any(mapKeys(attributes)) AS keys,
      any(mapValues(attributes)) AS attribute_values, any(tuple(series.scope_name, series.scope_version, series.scope_schema_url, series.scope_attributes)) AS instrumentation_scope
    FROM series WHERE ${sql} AND ${condition}${part} GROUP BY series_id LIMIT ${limit + 1}`,
      { ...parameters, ...conditionParameters },
      { maxResultRows: limit + 1 },
    );
  const firstRows = await read(Math.min(limit, maxSeriesInMemory), '');
  if (firstRows.length <= maxSeriesInMemory) {
    if (firstRows.length > limit) throw createTooManySeriesError();
    yield firstRows;
    return;
  }
  firstRows.length = 0;
  for (let part = 0, remainingLimit = limit; part < partCount; part++) {
    const rows = await read(remainingLimit, ` AND series_id % ${partCount} = ${part}`);
    remainingLimit -= rows.length;
    if (remainingLimit < 0) throw createTooManySeriesError();
    yield rows;
  }
};

const addPrometheus = (
  collector: SeriesCollector,
  { id, metric_name: metric, keys, attribute_values: values, kinds }: Row,
): void => {
  const labels: [string, string][] = keys.map((key, index) => [key, values[index] ?? '']);
  labels.push(['__name__', metric]);
  const tables: PointTable[] = kinds.includes('exponential_histogram') ? ['samples', 'histograms'] : ['samples'];
  collector.add(sortLabels(labels), { id, metric, tables, part: 'value', isDelta: false });
};

const getPointTable = (kind: string): PointTable =>
  kind === 'summary'
    ? 'summaries'
    : kind === 'histogram' || kind === 'exponential_histogram'
      ? 'histograms'
      : 'samples';

interface OtlpContext {
  readonly resources: ReadonlyMap<string, AttributeTexts>;
  readonly scope: Scope;
  readonly names: readonly ValueTest[];
  readonly matchers: readonly Matcher[];
}

const addOtlp = (collector: SeriesCollector, row: Row, { resources, scope, names, matchers }: OtlpContext): void => {
  const { translation } = scope;
  const [kind, temporality, monotonic, unit] = row.metric_type;
  const [name, version, url, attributes] = row.instrumentation_scope;
  const metricDescription = { metric: row.metric_name, kind, monotonic, unit };
  const resource = resources.get(row.resource) ?? new Map<string, string>();
  const labels = buildSeriesLabels(
    toAttributeMap(row.keys, row.attribute_values),
    resource,
    { name, version, url, attributes },
    translation,
  );
  for (const part of listSeriesParts(kind)) {
    const partName = buildPartName(metricDescription, part, translation.strategy);
    if (partName === '' || !names.every((test) => test(partName))) continue;
    const excludedLabel = part === 'buckets' ? 'le' : part === 'quantiles' ? 'quantile' : undefined;
    const applicableMatchers = matchers.filter(
      (matcher) => matcher.name !== '__name__' && matcher.name !== excludedLabel,
    );
    if (!buildLabelsTest(applicableMatchers)(labels)) continue;
    const labelsWithName = new Map([...labels, ['__name__', partName]]);
    if (excludedLabel !== undefined) labelsWithName.delete(excludedLabel);
    collector.add(sortLabels(labelsWithName), {
      id: row.id,
      metric: row.metric_name,
      tables: [getPointTable(kind)],
      part,
      isDelta: temporality === 1,
    });
  }
};

/**
 * Adds the series of `target_info`: one for each resource that has attributes besides its identity. It is present while
 * any series of the resource is.
 */
const addTargets = async (
  collector: SeriesCollector,
  scope: Scope,
  window: Window,
  matchers: readonly Matcher[],
): Promise<void> => {
  const { sql, parameters } = buildScopeCondition(scope, window);
  const rows = await scope.columns.query<{
    readonly resource: string;
    readonly members: readonly (readonly [string, string, string])[];
  }>(
    `SELECT resource, groupArray(member) AS members FROM (
      SELECT toString(resource_id) AS resource, tuple(toString(series_id), any(metric), any(kind)) AS member
      FROM series WHERE ${sql} AND source = 'otlp' GROUP BY resource_id, series_id
      ORDER BY max(series.last_seen) DESC, min(series.first_seen), series_id LIMIT ${maxSeriesPerTarget} BY resource_id
    ) GROUP BY resource LIMIT ${maxSeries + 1}`,
    parameters,
    { maxResultRows: maxSeries + 1 },
  );
  if (rows.length > maxSeries) throw createTooManySeriesError();
  const resources = await readResourceAttributes(
    scope.columns,
    rows.map(({ resource }) => resource),
  );
  const matchesLabels = buildLabelsTest(matchers);
  for (const { resource, members } of rows) {
    const labels = buildTargetLabels(resources.get(resource) ?? new Map(), scope.translation);
    labels?.set('__name__', 'target_info');
    if (labels === undefined || !matchesLabels(labels)) continue;
    for (const [id, metric, kind] of members)
      collector.add(sortLabels(labels), {
        id,
        metric,
        tables: [getPointTable(kind)],
        part: 'presence',
        isDelta: false,
      });
  }
};
