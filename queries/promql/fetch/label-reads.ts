/** Names and values of labels, from `series` alone but for the bounds of OTLP's histograms. */
import type { QueryParameters } from '../../../schemas/ports/columns.ts';
import { inOrderOfLabels } from '../engine/labels.ts';
import { labelsOfTarget } from '../otlp/labels.ts';
import { labelNameOf } from '../otlp/names.ts';
import type { Labels, Matcher } from '../series.ts';
import { testOf } from '../syntax/matchers.ts';
import { plainNumber } from '../syntax/numbers.ts';
import { type Chosen, chooseSeries, resourceTexts } from './choose.ts';
import { keyPattern, prometheusCondition } from './matching.ts';
import { textsOf } from './native-blocks.ts';
import { type Scope, scopeCondition, type Window } from './scope.ts';
import { metricsNamed, namesOf } from './stored-metrics.ts';

/** Names or values that one answer holds at most. */
const maxTexts = 2_000_000;
/** Bounds of the histograms of OTLP that are looked at. */
const maxLayouts = 1_000;

type Matchers = readonly Matcher[];

/** Which series a read of labels is about. */
export interface Question {
  readonly scope: Scope;
  readonly window: Window;
  /** A series counts where one of these sets matches it; none means every series. */
  readonly sets: readonly Matchers[];
}

const everySeries: readonly Matchers[] = [[]];

const setsOf = ({ sets }: Question): readonly Matchers[] => (sets.length === 0 ? everySeries : sets);

/** SQL of the series of remote-write that a set matches, exactly. */
const prometheusSql = (
  { scope, window }: Question,
  matchers: Matchers,
): { readonly sql: string; readonly parameters: QueryParameters } => {
  const own = scopeCondition(scope, window);
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
  const conditions = [own.sql, "source = 'prometheus'", labels.sql, ...names.map(({ sql }) => sql)];
  return {
    sql: conditions.filter((sql) => sql !== '').join(' AND '),
    parameters: Object.assign({}, own.parameters, labels.parameters, ...names.map(({ parameters }) => parameters)),
  };
};

/** Texts that a statement finds as `text`, in the order of their bytes. */
const texts = async (
  { columns }: Scope,
  sql: string,
  parameters: QueryParameters,
  limit = maxTexts,
): Promise<string[]> =>
  textsOf(
    await columns.native(`SELECT CAST(text AS String) AS text FROM (${sql} LIMIT ${limit}) ORDER BY text`, parameters, {
      maxResultRows: limit,
    }),
  );

const hasOtlp = async ({ scope, window }: Question): Promise<boolean> => {
  const { sql, parameters } = scopeCondition(scope, window);
  const found = await texts(scope, `SELECT 'one' AS text FROM series WHERE ${sql} AND source = 'otlp'`, parameters, 1);
  return found.length > 0;
};

/** Series of OTLP, with buckets and quantiles apart. Those of remote-write are left out. */
const otlpSeries = async (question: Question, matchers: Matchers): Promise<Labels[]> => {
  const chosen = await chooseSeries({ ...question.scope, only: 'otlp' }, question.window, matchers);
  return fannedLabels(question, chosen, matchers);
};

/** Bounds and quantiles of stored series, as the texts of `le` and `quantile`. */
export const fansOf = async (
  { scope, window }: Question,
  chosen: readonly Chosen[],
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
        new Set([...layouts.flat().map((text) => plainNumber(Number(text))), ...(part === 'buckets' ? ['+Inf'] : [])]),
      );
  }
  return found;
};

const fannedLabels = async (question: Question, chosen: readonly Chosen[], matchers: Matchers): Promise<Labels[]> => {
  const fans = await fansOf(question, chosen);
  return chosen.flatMap(({ labels, sources }): Labels[] => {
    const part = sources[0]?.part;
    if (part !== 'buckets' && part !== 'quantiles') return [labels];
    const name = part === 'buckets' ? 'le' : 'quantile';
    const tests = matchers.filter((matcher) => matcher.name === name).map(testOf);
    const own = new Set(sources.flatMap(({ id }) => [...(fans.get(id) ?? [])]));
    return [...own]
      .filter((text) => tests.every((test) => test(text)))
      .map((text) =>
        Object.fromEntries(
          [...Object.entries(labels), [name, text] as const].sort(([left], [right]) => (left < right ? -1 : 1)),
        ),
      );
  });
};

/** All series that the sets match, each once, in the order of their labels. */
export const listSeries = async (question: Question): Promise<Labels[]> => {
  const found = new Map<string, Labels>();
  for (const matchers of setsOf(question)) {
    const chosen = await chooseSeries(question.scope, question.window, matchers);
    for (const labels of await fannedLabels(question, chosen, matchers)) found.set(JSON.stringify(labels), labels);
  }
  return inOrderOfLabels(Array.from(found.values(), (labels) => ({ labels }))).map(({ labels }) => labels);
};

/** Resources of OTLP series, as the attributes that make labels. */
const otlpResources = async ({
  scope,
  window,
}: Question): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> => {
  const { sql, parameters } = scopeCondition(scope, window);
  const ids = await texts(
    scope,
    `SELECT DISTINCT toString(resource_id) AS text FROM series WHERE ${sql} AND source = 'otlp'`,
    parameters,
  );
  return resourceTexts(scope.columns, ids);
};

/** Labels of OTLP's series where no matcher narrows them: from distinct keys and resources, not from each series. */
const otlpNames = async (question: Question): Promise<string[]> => {
  const { scope, window } = question;
  const { strategy, scopeLabels } = scope.translation;
  const { sql, parameters } = scopeCondition(scope, window);
  const [keys, kinds, scopes, resources] = await Promise.all([
    texts(
      scope,
      `SELECT DISTINCT arrayJoin(keys) AS text FROM (SELECT DISTINCT mapKeys(attributes) AS keys FROM series WHERE ${sql} AND source = 'otlp')`,
      parameters,
    ),
    texts(scope, `SELECT DISTINCT kind AS text FROM series WHERE ${sql} AND source = 'otlp'`, parameters),
    texts(
      scope,
      `SELECT DISTINCT arrayJoin([if(series.scope_name = '', '', 'otel_scope_name'), if(series.scope_version = '', '', 'otel_scope_version'), if(series.scope_schema_url = '', '', 'otel_scope_schema_url')]) AS text
      FROM series WHERE ${sql} AND source = 'otlp'`,
      parameters,
    ),
    otlpResources(question),
  ]);
  if (kinds.length === 0) return [];
  return [
    '__name__',
    ...keys.map((key) => labelNameOf(key, strategy)),
    ...(scopeLabels ? scopes : []),
    ...(kinds.includes('histogram') ? ['le'] : []),
    ...(kinds.includes('summary') ? ['quantile'] : []),
    ...[...resources.values()].flatMap((resource) => [
      ...(labelsOfTarget(resource, scope.translation)?.keys() ?? []),
      ...(resource.has('service.name') ? ['job'] : []),
      ...(resource.has('service.instance.id') ? ['instance'] : []),
    ]),
  ].filter((name) => name !== '');
};

/** All of the texts, each once, in their order. Where the only ones are a list that a statement put in order, they are not sorted again. */
const mergeTexts = (inOrder: readonly (readonly string[])[], others: readonly string[]): readonly string[] => {
  const filled = inOrder.filter(({ length }) => length > 0);
  const [first = []] = filled;
  const isOne = filled.length <= 1 && others.length === 0;
  return (isOne ? first : [...new Set([...filled.flat(), ...others])].sort()).filter((text) => text !== '');
};

/** Names of the labels of all series that the sets match. */
export const labelNames = async (question: Question): Promise<readonly string[]> => {
  const inOrder: string[][] = [];
  let others: readonly string[] = [];
  for (const matchers of setsOf(question)) {
    const { sql, parameters } = prometheusSql(question, matchers);
    const own = await texts(
      question.scope,
      `SELECT DISTINCT arrayJoin(arrayConcat(['__name__'], keys)) AS text FROM (SELECT DISTINCT mapKeys(attributes) AS keys FROM series WHERE ${sql})`,
      parameters,
    );
    inOrder.push(own);
    const ofOtlp =
      matchers.length === 0
        ? await otlpNames(question)
        : (await otlpSeries(question, matchers)).flatMap((labels) => Object.keys(labels));
    others = [...others, ...ofOtlp];
  }
  return mergeTexts(inOrder, others);
};

const metricNames = async (question: Question): Promise<string[]> => {
  const { scope, window } = question;
  const metrics = await metricsNamed(scope, window, []);
  const resources = metrics.some(({ source }) => source === 'otlp') ? await otlpResources(question) : new Map();
  const hasTargets = [...resources.values()].some(
    (resource) => labelsOfTarget(resource, scope.translation) !== undefined,
  );
  return [
    ...metrics.flatMap((metric) => [...namesOf(metric, scope.translation)]),
    ...(hasTargets ? ['target_info'] : []),
  ];
};

/** Values of a label of OTLP's series where no matcher narrows them. */
const otlpValues = async (question: Question, name: string): Promise<string[]> => {
  const { scope, window } = question;
  if (!(await hasOtlp(question))) return [];
  if (name === 'le' || name === 'quantile' || name.startsWith('otel_scope_'))
    return valuesIn(
      await otlpSeries(question, name === 'le' ? leSeries : name === 'quantile' ? quantileSeries : []),
      name,
    );
  const { sql, parameters } = scopeCondition(scope, window);
  const [own, resources] = await Promise.all([
    texts(
      scope,
      `SELECT DISTINCT value AS text FROM (SELECT arrayJoin(mapFilter((k, v) -> match(k, {pattern:String}), attributes)).2 AS value FROM series WHERE ${sql} AND source = 'otlp')`,
      { ...parameters, pattern: patternOf(name) },
    ),
    otlpResources(question),
  ]);
  const fromResources = [...resources.values()].flatMap((resource) => {
    const labels = labelsOfTarget(resource, scope.translation) ?? new Map<string, string>();
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

/** Keys that begin otherwise may have become a name that begins so. */
const patternOf = (name: string): string => {
  const plain = keyPattern(name);
  return name.startsWith('key_') ? `${plain}|${keyPattern(name.slice(3))}|${keyPattern(name.slice(4))}` : plain;
};

const valuesIn = (series: readonly Labels[], name: string): string[] => series.map((labels) => labels[name] ?? '');

/** Values of a label in all series that the sets match. */
export const labelValues = async (question: Question, name: string): Promise<readonly string[]> => {
  const inOrder: string[][] = [];
  let others: readonly string[] = [];
  for (const matchers of setsOf(question)) {
    if (name === '__name__' && matchers.length === 0) {
      others = [...others, ...(await metricNames(question))];
      continue;
    }
    const { sql, parameters } = prometheusSql(question, matchers);
    const own = await texts(
      question.scope,
      name === '__name__'
        ? `SELECT DISTINCT metric AS text FROM series WHERE ${sql}`
        : `SELECT DISTINCT attributes[{label:String}] AS text FROM series WHERE ${sql}`,
      { ...parameters, label: name },
    );
    inOrder.push(own);
    const ofOtlp =
      matchers.length === 0 ? await otlpValues(question, name) : valuesIn(await otlpSeries(question, matchers), name);
    others = [...others, ...ofOtlp];
  }
  return mergeTexts(inOrder, others);
};
