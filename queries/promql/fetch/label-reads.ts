/** Reads names and values of labels from the table `series`, and the bounds of OTLP histograms from their points. */
import type { QueryParameters } from '../../../schemas/ports/columns.ts';
import { sortByLabels } from '../engine/labels.ts';
import { buildTargetLabels } from '../otlp/labels.ts';
import { buildLabelName } from '../otlp/names.ts';
import type { Labels, Matcher } from '../series.ts';
import { compileTest } from '../syntax/matchers.ts';
import { formatWithoutExponent } from '../syntax/numbers.ts';
import { readResourceAttributes, type SelectedSeries, selectSeries } from './choose.ts';
import { keyPattern, prometheusCondition } from './matching.ts';
import { decodeTexts } from './native-blocks.ts';
import { type Scope, scopeCondition, type Window } from './scope.ts';
import { findMetricsByName, listPromqlNames } from './stored-metrics.ts';

/** Maximum number of names or values in one answer. */
const maxTexts = 2_000_000;
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

const everySeries: readonly Matchers[] = [[]];

const effectiveMatcherSets = ({ matcherSets }: LabelQuery): readonly Matchers[] =>
  matcherSets.length === 0 ? everySeries : matcherSets;

/** Returns SQL of the remote-write series that a set matches exactly. */
const remoteWriteCondition = (
  { scope, window }: LabelQuery,
  matchers: Matchers,
): { readonly sql: string; readonly parameters: QueryParameters } => {
  const scopeSql = scopeCondition(scope, window);
  const labels = prometheusCondition(matchers);
  const names = matchers
    .filter(({ name }) => name === '__name__')
    .map(({ op, value }, index) => {
      const parameter = `metric${index}`;
      if (op === '=' || op === '!=')
        return { sql: `metric ${op} {${parameter}:String}`, parameters: { [parameter]: value } };
      const found = `match(metric, {${parameter}:String})`;
      return { sql: op === '=~' ? found : `NOT ${found}`, parameters: { [parameter]: `^(?s:${value})$` } };
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
  limit = maxTexts,
): Promise<string[]> =>
  decodeTexts(
    await columns.native(`SELECT CAST(text AS String) AS text FROM (${sql} LIMIT ${limit}) ORDER BY text`, parameters, {
      maxResultRows: limit,
    }),
  );

const hasOtlp = async ({ scope, window }: LabelQuery): Promise<boolean> => {
  const { sql, parameters } = scopeCondition(scope, window);
  const found = await readTexts(
    scope,
    `SELECT 'one' AS text FROM series WHERE ${sql} AND source = 'otlp'`,
    parameters,
    1,
  );
  return found.length > 0;
};

/** Returns OTLP series, with separate buckets and quantiles; excludes remote-write series. */
const readOtlpSeries = async (question: LabelQuery, matchers: Matchers): Promise<Labels[]> => {
  const chosen = await selectSeries({ ...question.scope, onlySource: 'otlp' }, question.window, matchers);
  return expandLabels(question, chosen, matchers);
};

/** Returns bounds and quantiles of stored series, as the texts of `le` and `quantile`. */
export const readBoundsAndQuantiles = async (
  { scope, window }: LabelQuery,
  chosen: readonly SelectedSeries[],
): Promise<Map<string, Set<string>>> => {
  const found = new Map<string, Set<string>>();
  for (const [part, table, column] of [
    ['buckets', 'histograms', 'bounds'],
    ['quantiles', 'summaries', 'quantiles'],
  ] as const) {
    const sources = chosen.flatMap(({ sources }) => sources).filter((source) => source.part === part);
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
      found.set(
        id,
        new Set([
          ...layouts.flat().map((text) => formatWithoutExponent(Number(text))),
          ...(part === 'buckets' ? ['+Inf'] : []),
        ]),
      );
  }
  return found;
};

const expandLabels = async (
  question: LabelQuery,
  chosen: readonly SelectedSeries[],
  matchers: Matchers,
): Promise<Labels[]> => {
  const bucketTexts = await readBoundsAndQuantiles(question, chosen);
  return chosen.flatMap(({ labels, sources }): Labels[] => {
    const part = sources[0]?.part;
    if (part !== 'buckets' && part !== 'quantiles') return [labels];
    const name = part === 'buckets' ? 'le' : 'quantile';
    const tests = matchers.filter((matcher) => matcher.name === name).map(compileTest);
    const own = new Set(sources.flatMap(({ id }) => [...(bucketTexts.get(id) ?? [])]));
    return [...own]
      .filter((text) => tests.every((test) => test(text)))
      .map((text) =>
        Object.fromEntries(
          [...Object.entries(labels), [name, text] as const].sort(([left], [right]) => (left < right ? -1 : 1)),
        ),
      );
  });
};

/** Returns all series that the sets match, each once, in the order of their labels. */
export const listSeries = async (question: LabelQuery): Promise<Labels[]> => {
  const found = new Map<string, Labels>();
  for (const matchers of effectiveMatcherSets(question)) {
    const chosen = await selectSeries(question.scope, question.window, matchers);
    for (const labels of await expandLabels(question, chosen, matchers)) found.set(JSON.stringify(labels), labels);
  }
  return sortByLabels(Array.from(found.values(), (labels) => ({ labels }))).map(({ labels }) => labels);
};

/** Returns resources of OTLP series, with the attributes that become labels. */
const readOtlpResources = async ({
  scope,
  window,
}: LabelQuery): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> => {
  const { sql, parameters } = scopeCondition(scope, window);
  const ids = await readTexts(
    scope,
    `SELECT DISTINCT toString(resource_id) AS text FROM series WHERE ${sql} AND source = 'otlp'`,
    parameters,
  );
  return readResourceAttributes(scope.columns, ids);
};

/** Returns label names of OTLP series without matchers: from distinct keys and resources, not from each series. */
const readOtlpLabelNames = async (question: LabelQuery): Promise<string[]> => {
  const { scope, window } = question;
  const { strategy, scopeLabels } = scope.translation;
  const { sql, parameters } = scopeCondition(scope, window);
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
    readOtlpResources(question),
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

/** Merges texts, each once, in order. A single list sorted by a statement is not sorted again. */
const mergeTexts = (inOrder: readonly (readonly string[])[], others: readonly string[]): readonly string[] => {
  const filled = inOrder.filter(({ length }) => length > 0);
  const [first = []] = filled;
  const isOne = filled.length <= 1 && others.length === 0;
  return (isOne ? first : [...new Set([...filled.flat(), ...others])].sort()).filter((text) => text !== '');
};

/** Returns label names of all series that the sets match. */
export const readLabelNames = async (question: LabelQuery): Promise<readonly string[]> => {
  const inOrder: string[][] = [];
  let others: readonly string[] = [];
  for (const matchers of effectiveMatcherSets(question)) {
    const { sql, parameters } = remoteWriteCondition(question, matchers);
    const own = await readTexts(
      question.scope,
      `SELECT DISTINCT arrayJoin(arrayConcat(['__name__'], keys)) AS text FROM (SELECT DISTINCT mapKeys(attributes) AS keys FROM series WHERE ${sql})`,
      parameters,
    );
    inOrder.push(own);
    const ofOtlp =
      matchers.length === 0
        ? await readOtlpLabelNames(question)
        : (await readOtlpSeries(question, matchers)).flatMap((labels) => Object.keys(labels));
    others = [...others, ...ofOtlp];
  }
  return mergeTexts(inOrder, others);
};

const readMetricNames = async (question: LabelQuery): Promise<string[]> => {
  const { scope, window } = question;
  const metrics = await findMetricsByName(scope, window, []);
  const resources = metrics.some(({ source }) => source === 'otlp') ? await readOtlpResources(question) : new Map();
  const hasTargets = [...resources.values()].some(
    (resource) => buildTargetLabels(resource, scope.translation) !== undefined,
  );
  return [
    ...metrics.flatMap((metric) => [...listPromqlNames(metric, scope.translation)]),
    ...(hasTargets ? ['target_info'] : []),
  ];
};

/** Returns values of a label of OTLP series without matchers. */
const readOtlpLabelValues = async (question: LabelQuery, name: string): Promise<string[]> => {
  const { scope, window } = question;
  if (!(await hasOtlp(question))) return [];
  if (name === 'le' || name === 'quantile' || name.startsWith('otel_scope_'))
    return collectValues(
      await readOtlpSeries(question, name === 'le' ? leSeries : name === 'quantile' ? quantileSeries : []),
      name,
    );
  const { sql, parameters } = scopeCondition(scope, window);
  const [own, resources] = await Promise.all([
    readTexts(
      scope,
      `SELECT DISTINCT value AS text FROM (SELECT arrayJoin(mapFilter((k, v) -> match(k, {pattern:String}), attributes)).2 AS value FROM series WHERE ${sql} AND source = 'otlp')`,
      { ...parameters, pattern: keyPatternOfLabel(name) },
    ),
    readOtlpResources(question),
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
  return [...own, ...fromResources];
};

const leSeries: Matchers = [{ name: '__name__', op: '=~', value: '.*_bucket' }];
const quantileSeries: Matchers = [{ name: 'quantile', op: '!=', value: '' }];

/** Keys with a different prefix may translate to a name with this prefix. */
const keyPatternOfLabel = (name: string): string => {
  const plain = keyPattern(name);
  return name.startsWith('key_') ? `${plain}|${keyPattern(name.slice(3))}|${keyPattern(name.slice(4))}` : plain;
};

const collectValues = (series: readonly Labels[], name: string): string[] => series.map((labels) => labels[name] ?? '');

/** Returns values of a label in all series that the sets match. */
export const readLabelValues = async (question: LabelQuery, name: string): Promise<readonly string[]> => {
  const inOrder: string[][] = [];
  let others: readonly string[] = [];
  for (const matchers of effectiveMatcherSets(question)) {
    if (name === '__name__' && matchers.length === 0) {
      others = [...others, ...(await readMetricNames(question))];
      continue;
    }
    const { sql, parameters } = remoteWriteCondition(question, matchers);
    const own = await readTexts(
      question.scope,
      name === '__name__'
        ? `SELECT DISTINCT metric AS text FROM series WHERE ${sql}`
        : `SELECT DISTINCT attributes[{label:String}] AS text FROM series WHERE ${sql}`,
      { ...parameters, label: name },
    );
    inOrder.push(own);
    const ofOtlp =
      matchers.length === 0
        ? await readOtlpLabelValues(question, name)
        : collectValues(await readOtlpSeries(question, matchers), name);
    others = [...others, ...ofOtlp];
  }
  return mergeTexts(inOrder, others);
};
