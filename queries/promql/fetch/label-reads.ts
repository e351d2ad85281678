/** Reads names and values of labels from the table `series`, and the bounds of OTLP histograms from their points. */
import type { QueryParameters } from '../../../schemas/ports/columns.ts';
import { sortByLabels } from '../engine/labels.ts';
import { buildTargetLabels } from '../otlp/labels.ts';
import { buildLabelName } from '../otlp/names.ts';
import type { Labels, Matcher } from '../series.ts';
import { compileTest } from '../syntax/matchers.ts';
import { formatWithoutExponent } from '../syntax/numbers.ts';
import { buildKeyPattern, buildPrometheusCondition } from './matcher-conditions.ts';
import { decodeTexts } from './native-blocks.ts';
import { buildScopeCondition, type Scope, type Window } from './scope.ts';
import { readResourceAttributes, type SelectedSeries, selectSeries } from './select-series.ts';
import { findMetricsByName, listPromqlNames } from './stored-metrics.ts';

/** Maximum number of names or values in one result. */
const maxResultTexts = 2_000_000;
/** Maximum number of OTLP histogram bounds that are read. */
const maxLayouts = 1_000;

type Matchers = readonly Matcher[];

/** Selection of series for a read of labels. */
export interface LabelQuery {
  readonly scope: Scope;
  readonly window: Window;
  /** A series is included if one of these sets of matchers matches. Without sets, every series is included. */
  readonly matcherSets: readonly Matchers[];
}

const matchEverySeries: readonly Matchers[] = [[]];

const getEffectiveMatcherSets = ({ matcherSets }: LabelQuery): readonly Matchers[] =>
  matcherSets.length === 0 ? matchEverySeries : matcherSets;

/** Returns SQL of the remote-write series that a set matches exactly. */
const buildRemoteWriteCondition = (
  { scope, window }: LabelQuery,
  matchers: Matchers,
): { readonly sql: string; readonly parameters: QueryParameters } => {
  const scopeSql = buildScopeCondition(scope, window);
  const labels = buildPrometheusCondition(matchers);
  const names = matchers
    .filter(({ name }) => name === '__name__')
    .map(({ op, value }, index) => {
      const parameter = `metric${index}`;
      if (op === '=' || op === '!=')
        return { sql: `metric ${op} {${parameter}:String}`, parameters: { [parameter]: value } };
      const matchSql = `match(metric, {${parameter}:String})`;
      return { sql: op === '=~' ? matchSql : `NOT ${matchSql}`, parameters: { [parameter]: `^(?s:${value})$` } };
    });
  const conditions = [scopeSql.sql, "source = 'prometheus'", labels.sql, ...names.map(({ sql }) => sql)];
  return {
    sql: conditions.filter((sql) => sql !== '').join(' AND '),
    parameters: Object.assign({}, scopeSql.parameters, labels.parameters, ...names.map(({ parameters }) => parameters)),
  };
};

/** Returns the texts that a statement selects as `text`, in byte order. */
const readTexts = async (
  { columns }: Scope,
  sql: string,
  parameters: QueryParameters,
  limit = maxResultTexts,
): Promise<string[]> =>
  decodeTexts(
    await columns.queryNative(
      `SELECT CAST(text AS String) AS text FROM (${sql} LIMIT ${limit}) ORDER BY text`,
      parameters,
      {
        maxResultRows: limit,
      },
    ),
  );

const hasOtlpSeries = async ({ scope, window }: LabelQuery): Promise<boolean> => {
  const { sql, parameters } = buildScopeCondition(scope, window);
  const rows = await readTexts(
    scope,
    `SELECT 'one' AS text FROM series WHERE ${sql} AND source = 'otlp'`,
    parameters,
    1,
  );
  return rows.length > 0;
};

/** Returns OTLP series, with separate buckets and quantiles; excludes remote-write series. */
const readOtlpSeries = async (query: LabelQuery, matchers: Matchers): Promise<Labels[]> => {
  const selectedSeries = await selectSeries({ ...query.scope, onlySource: 'otlp' }, query.window, matchers);
  return expandLabels(query, selectedSeries, matchers);
};

/** Returns bounds and quantiles of stored series, as the texts of `le` and `quantile`. */
export const readBoundsAndQuantiles = async (
  { scope, window }: LabelQuery,
  selectedSeries: readonly SelectedSeries[],
): Promise<Map<string, Set<string>>> => {
  const textsBySeries = new Map<string, Set<string>>();
  for (const [part, table, column] of [
    ['buckets', 'histograms', 'bounds'],
    ['quantiles', 'summaries', 'quantiles'],
  ] as const) {
    const sources = selectedSeries.flatMap(({ sources }) => sources).filter((source) => source.part === part);
    if (sources.length === 0) continue;
    const rows = await scope.columns.query<{ readonly id: string; readonly layouts: readonly (readonly string[])[] }>(
      `SELECT toString(series_id) AS id, groupUniqArray(${maxLayouts})(arrayMap(x -> toString(x), ${column})) AS layouts
      FROM ${table} WHERE tenant_id = {tenant:String} AND metric IN {metrics:Array(String)} AND series_id IN (${[...new Set(sources.map(({ id }) => id))].join(', ')})
        AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC') GROUP BY series_id`,
      {
        metrics: [...new Set(sources.map(({ metric }) => metric))],
        from: String(Math.max(0, Math.floor(window.fromMs))),
        to: String(Math.min(9_223_372_036_000, Math.floor(window.toMs))),
      },
      { maxResultRows: sources.length },
    );
    for (const { id, layouts } of rows)
      textsBySeries.set(
        id,
        new Set([
          ...layouts.flat().map((text) => formatWithoutExponent(Number(text))),
          ...(part === 'buckets' ? ['+Inf'] : []),
        ]),
      );
  }
  return textsBySeries;
};

const expandLabels = async (
  query: LabelQuery,
  selectedSeries: readonly SelectedSeries[],
  matchers: Matchers,
): Promise<Labels[]> => {
  const bucketTexts = await readBoundsAndQuantiles(query, selectedSeries);
  return selectedSeries.flatMap(({ labels, sources }): Labels[] => {
    const part = sources[0]?.part;
    if (part !== 'buckets' && part !== 'quantiles') return [labels];
    const name = part === 'buckets' ? 'le' : 'quantile';
    const tests = matchers.filter((matcher) => matcher.name === name).map(compileTest);
    const values = new Set(sources.flatMap(({ id }) => [...(bucketTexts.get(id) ?? [])]));
    return [...values]
      .filter((text) => tests.every((test) => test(text)))
      .map((text) =>
        Object.fromEntries(
          [...Object.entries(labels), [name, text] as const].sort(([left], [right]) => (left < right ? -1 : 1)),
        ),
      );
  });
};

/** Returns all series that the sets match, without duplicates, in the order of their labels. */
export const listSeries = async (query: LabelQuery): Promise<Labels[]> => {
  const labelsByKey = new Map<string, Labels>();
  for (const matchers of getEffectiveMatcherSets(query)) {
    const selectedSeries = await selectSeries(query.scope, query.window, matchers);
    for (const labels of await expandLabels(query, selectedSeries, matchers))
      labelsByKey.set(JSON.stringify(labels), labels);
  }
  return sortByLabels(Array.from(labelsByKey.values(), (labels) => ({ labels }))).map(({ labels }) => labels);
};

/** Returns resources of OTLP series, with the attributes that become labels. */
const readOtlpResources = async ({
  scope,
  window,
}: LabelQuery): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> => {
  const { sql, parameters } = buildScopeCondition(scope, window);
  const ids = await readTexts(
    scope,
    `SELECT DISTINCT toString(resource_id) AS text FROM series WHERE ${sql} AND source = 'otlp'`,
    parameters,
  );
  return readResourceAttributes(scope.columns, ids);
};

/** Returns label names of OTLP series without matchers: from distinct keys and resources, not from each series. */
const readOtlpLabelNames = async (query: LabelQuery): Promise<string[]> => {
  const { scope, window } = query;
  const { strategy, scopeLabels } = scope.translation;
  const { sql, parameters } = buildScopeCondition(scope, window);
  const [keys, kinds, scopes, resources] = await Promise.all([
    readTexts(
      scope,
      `SELECT DISTINCT arrayJoin(keys) AS text FROM (SELECT DISTINCT mapKeys(attributes) AS keys FROM series WHERE ${sql} AND source = 'otlp')`,
      parameters,
    ),
    readTexts(scope, `SELECT DISTINCT kind AS text FROM series WHERE ${sql} AND source = 'otlp'`, parameters),
    readTexts(
      scope,
      `SELECT DISTINCT arrayJoin([if(series.scope_name = '', '', 'otel_scope_name'), if(series.scope_version = '', '', 'otel_scope_version'), if(series.scope_schema_url = '', '', 'otel_scope_schema_url')]) AS text
      FROM series WHERE ${sql} AND source = 'otlp'`,
      parameters,
    ),
    readOtlpResources(query),
  ]);
  if (kinds.length === 0) return [];
  return [
    '__name__',
    ...keys.map((key) => buildLabelName(key, strategy)),
    ...(scopeLabels ? scopes : []),
    ...(kinds.includes('histogram') ? ['le'] : []),
    ...(kinds.includes('summary') ? ['quantile'] : []),
    ...[...resources.values()].flatMap((resource) => [
      ...(buildTargetLabels(resource, scope.translation)?.keys() ?? []),
      ...(resource.has('service.name') ? ['job'] : []),
      ...(resource.has('service.instance.id') ? ['instance'] : []),
    ]),
  ].filter((name) => name !== '');
};

/**
 * Merges lists of texts without duplicates, in order. A single list that a statement has already sorted is not
 * sorted again.
 */
const mergeTexts = (
  sortedLists: readonly (readonly string[])[],
  unsortedTexts: readonly string[],
): readonly string[] => {
  const nonEmptyLists = sortedLists.filter(({ length }) => length > 0);
  const [first = []] = nonEmptyLists;
  const isSingleList = nonEmptyLists.length <= 1 && unsortedTexts.length === 0;
  return (isSingleList ? first : [...new Set([...nonEmptyLists.flat(), ...unsortedTexts])].sort()).filter(
    (text) => text !== '',
  );
};

/** Returns label names of all series that the sets match. */
export const readLabelNames = async (query: LabelQuery): Promise<readonly string[]> => {
  const sortedLists: string[][] = [];
  let unsortedTexts: readonly string[] = [];
  for (const matchers of getEffectiveMatcherSets(query)) {
    const { sql, parameters } = buildRemoteWriteCondition(query, matchers);
    const labelNames = await readTexts(
      query.scope,
      `SELECT DISTINCT arrayJoin(arrayConcat(['__name__'], keys)) AS text FROM (SELECT DISTINCT mapKeys(attributes) AS keys FROM series WHERE ${sql})`,
      parameters,
    );
    sortedLists.push(labelNames);
    const otlpNames =
      matchers.length === 0
        ? await readOtlpLabelNames(query)
        : (await readOtlpSeries(query, matchers)).flatMap((labels) => Object.keys(labels));
    unsortedTexts = [...unsortedTexts, ...otlpNames];
  }
  return mergeTexts(sortedLists, unsortedTexts);
};

const readMetricNames = async (query: LabelQuery): Promise<string[]> => {
  const { scope, window } = query;
  const metrics = await findMetricsByName(scope, window, []);
  const resources = metrics.some(({ source }) => source === 'otlp') ? await readOtlpResources(query) : new Map();
  const hasTargets = [...resources.values()].some(
    (resource) => buildTargetLabels(resource, scope.translation) !== undefined,
  );
  return [
    ...metrics.flatMap((metric) => [...listPromqlNames(metric, scope.translation)]),
    ...(hasTargets ? ['target_info'] : []),
  ];
};

/** Returns values of a label of OTLP series without matchers. */
const readOtlpLabelValues = async (query: LabelQuery, name: string): Promise<string[]> => {
  const { scope, window } = query;
  if (!(await hasOtlpSeries(query))) return [];
  if (name === 'le' || name === 'quantile' || name.startsWith('otel_scope_'))
    return collectValues(
      await readOtlpSeries(query, name === 'le' ? leMatchers : name === 'quantile' ? quantileMatchers : []),
      name,
    );
  const { sql, parameters } = buildScopeCondition(scope, window);
  const [storedValues, resources] = await Promise.all([
    readTexts(
      scope,
      `SELECT DISTINCT value AS text FROM (SELECT arrayJoin(mapFilter((k, v) -> match(k, {pattern:String}), attributes)).2 AS value FROM series WHERE ${sql} AND source = 'otlp')`,
      { ...parameters, pattern: keyPatternOfLabel(name) },
    ),
    readOtlpResources(query),
  ]);
  const fromResources = [...resources.values()].flatMap((resource) => {
    const labels = buildTargetLabels(resource, scope.translation) ?? new Map<string, string>();
    const service = resource.get('service.name');
    const namespace = resource.get('service.namespace');
    if (name === 'job')
      return service === undefined ? [] : [namespace === undefined ? service : `${namespace}/${service}`];
    if (name === 'instance') return [resource.get('service.instance.id') ?? ''];
    return [labels.get(name) ?? ''];
  });
  return [...storedValues, ...fromResources];
};

const leMatchers: Matchers = [{ name: '__name__', op: '=~', value: '.*_bucket' }];
const quantileMatchers: Matchers = [{ name: 'quantile', op: '!=', value: '' }];

/** Keys with a different prefix may translate to a name with this prefix. */
const keyPatternOfLabel = (name: string): string => {
  const plain = buildKeyPattern(name);
  return name.startsWith('key_')
    ? `${plain}|${buildKeyPattern(name.slice(3))}|${buildKeyPattern(name.slice(4))}`
    : plain;
};

const collectValues = (series: readonly Labels[], name: string): string[] => series.map((labels) => labels[name] ?? '');

/** Returns values of a label in all series that the sets match. */
export const readLabelValues = async (query: LabelQuery, name: string): Promise<readonly string[]> => {
  const sortedLists: string[][] = [];
  let unsortedTexts: readonly string[] = [];
  for (const matchers of getEffectiveMatcherSets(query)) {
    if (name === '__name__' && matchers.length === 0) {
      unsortedTexts = [...unsortedTexts, ...(await readMetricNames(query))];
      continue;
    }
    const { sql, parameters } = buildRemoteWriteCondition(query, matchers);
    const labelValues = await readTexts(
      query.scope,
      name === '__name__'
        ? `SELECT DISTINCT metric AS text FROM series WHERE ${sql}`
        : `SELECT DISTINCT attributes[{label:String}] AS text FROM series WHERE ${sql}`,
      { ...parameters, label: name },
    );
    sortedLists.push(labelValues);
    const otlpValues =
      matchers.length === 0
        ? await readOtlpLabelValues(query, name)
        : collectValues(await readOtlpSeries(query, matchers), name);
    unsortedTexts = [...unsortedTexts, ...otlpValues];
  }
  return mergeTexts(sortedLists, unsortedTexts);
};
