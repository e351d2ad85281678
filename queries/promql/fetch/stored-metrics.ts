/** Finds stored metrics by the Prometheus names of their series. */
import type { TenantColumns } from '../../../schemas/ports/columns.ts';
import { buildPartName, listSeriesParts, type Translation } from '../otlp/labels.ts';
import { escapesNames, type NamedMetric } from '../otlp/names.ts';
import type { Matcher } from '../series.ts';
import { compileTest } from '../syntax/matchers.ts';
import { buildScopeCondition, type Scope, type Window } from './scope.ts';

/** A stored metric. */
interface StoredMetric extends NamedMetric {
  readonly source: string;
}

/**
 * Returns the possible first characters of OTLP metrics that translate to this name; empty if they cannot be
 * determined.
 */
const listPossiblePrefixes = (name: string, translation: Translation): readonly string[] => {
  if (!escapesNames(translation.strategy)) return [name.slice(0, 1)];
  const first = /^[A-Za-z][A-Za-z0-9:]*/.exec(name)?.[0];
  return first === undefined ? [] : [first, 'total', 'ratio'];
};

/** Returns stored metrics with a part whose name may pass all tests. */
export const findMetricsByName = async (
  scope: Scope,
  window: Window,
  matchers: readonly Matcher[],
): Promise<StoredMetric[]> => {
  const names = matchers.filter(({ name }) => name === '__name__');
  const { sql, parameters } = buildScopeCondition(scope, window);
  const exactName = names.find(({ op }) => op === '=')?.value;
  const prefixes = exactName === undefined ? [] : listPossiblePrefixes(exactName, scope.translation);
  const values: Record<string, string> = {};
  let condition = '';
  if (exactName !== undefined && prefixes.length > 0) {
    values['exact'] = exactName;
    const starts = prefixes.map((prefix, index) => {
      values[`start${index}`] = prefix;
      return `startsWith(metric, {start${index}:String})`;
    });
    // The translation removes prefixes with which no Prometheus name can begin, so such metrics are candidates too.
    const otherPrefixesSql = escapesNames(scope.translation.strategy)
      ? " OR metric < 'A' OR (metric > 'Z~' AND metric < 'a') OR metric > 'z~'"
      : '';
    condition = ` AND (metric = {exact:String} OR ${starts.join(' OR ')}${otherPrefixesSql})`;
  }
  const candidates = await readMetrics(scope.columns, `${sql}${condition}`, { ...parameters, ...values });
  const tests = names.map(compileTest);
  return candidates.filter((metric) =>
    listPromqlNames(metric, scope.translation).some((name) => tests.every((test) => test(name))),
  );
};

const readMetrics = async (
  columns: TenantColumns,
  condition: string,
  parameters: Parameters<TenantColumns['query']>[1],
): Promise<StoredMetric[]> => {
  const rows = await columns.query<{
    readonly name: string;
    readonly of_source: string;
    readonly of_kind: string;
    readonly of_unit: string;
    readonly of_monotonic: boolean;
  }>(
    `SELECT metric AS name, source AS of_source, kind AS of_kind, series.unit AS of_unit, monotonic AS of_monotonic
    FROM series WHERE ${condition} GROUP BY ALL`,
    parameters,
  );
  return rows.map((row) => ({
    metric: row.name,
    source: row.of_source,
    kind: row.of_kind,
    unit: row.of_unit,
    monotonic: row.of_monotonic,
  }));
};

/** Returns the Prometheus names of these metrics' series, at any time. */
export const findPromqlNames = async (
  columns: TenantColumns,
  metrics: readonly string[],
  translation: Translation,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  const namesByMetric = new Map(metrics.map((metric) => [metric, new Set<string>()]));
  if (metrics.length === 0) return namesByMetric;
  const condition = 'tenant_id = {tenant:String} AND metric IN {metrics:Array(String)}';
  for (const storedMetric of await readMetrics(columns, condition, { metrics }))
    for (const name of listPromqlNames(storedMetric, translation)) namesByMetric.get(storedMetric.metric)?.add(name);
  return namesByMetric;
};

/** Returns the Prometheus names of a stored metric's series. */
export const listPromqlNames = (metric: StoredMetric, { strategy }: Translation): readonly string[] =>
  metric.source === 'prometheus'
    ? [metric.metric]
    : listSeriesParts(metric.kind)
        .map((part) => buildPartName(metric, part, strategy))
        .filter((name) => name !== '');
