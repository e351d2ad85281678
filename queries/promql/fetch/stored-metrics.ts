/** Stored metrics, by the names that their series have in Prometheus. */
import { partNameOf, partsOf, type Translation } from '../otlp/labels.ts';
import { escapes, type NamedMetric } from '../otlp/names.ts';
import type { Matcher } from '../series.ts';
import { testOf } from '../syntax/matchers.ts';
import { type Scope, scopeCondition, type Window } from './scope.ts';

/** A metric as it is stored. */
interface StoredMetric extends NamedMetric {
  readonly source: string;
}

/** First characters of an OTLP metric whose translated name is this; undefined where it cannot be said. */
const beginningsOf = (name: string, translation: Translation): readonly string[] => {
  if (!escapes(translation.strategy)) return [name.slice(0, 1)];
  const first = /^[A-Za-z][A-Za-z0-9:]*/.exec(name)?.[0];
  return first === undefined ? [] : [first, 'total', 'ratio'];
};

/** Stored metrics of which some part may have a name that passes all tests. */
export const metricsNamed = async (
  scope: Scope,
  window: Window,
  matchers: readonly Matcher[],
): Promise<StoredMetric[]> => {
  const names = matchers.filter(({ name }) => name === '__name__');
  const { sql, parameters } = scopeCondition(scope, window);
  const exact = names.find(({ op }) => op === '=')?.value;
  const beginnings = exact === undefined ? [] : beginningsOf(exact, scope.translation);
  const values: Record<string, string> = {};
  let condition = '';
  if (exact !== undefined && beginnings.length > 0) {
    values['exact'] = exact;
    const starts = beginnings.map((beginning, index) => {
      values[`start${index}`] = beginning;
      return `startsWith(metric, {start${index}:String})`;
    });
    // Names that begin with what no name in Prometheus begins with lose it.
    const others = escapes(scope.translation.strategy)
      ? " OR metric < 'A' OR (metric > 'Z~' AND metric < 'a') OR metric > 'z~'"
      : '';
    condition = ` AND (metric = {exact:String} OR ${starts.join(' OR ')}${others})`;
  }
  const rows = await scope.columns.query<{
    readonly name: string;
    readonly of_source: string;
    readonly of_kind: string;
    readonly of_unit: string;
    readonly of_monotonic: boolean;
  }>(
    `SELECT metric AS name, source AS of_source, kind AS of_kind, series.unit AS of_unit, monotonic AS of_monotonic
    FROM series WHERE ${sql}${condition} GROUP BY ALL`,
    { ...parameters, ...values },
  );
  const tests = names.map(testOf);
  return rows
    .map((row) => ({
      metric: row.name,
      source: row.of_source,
      kind: row.of_kind,
      unit: row.of_unit,
      monotonic: row.of_monotonic,
    }))
    .filter((metric) => namesOf(metric, scope.translation).some((name) => tests.every((test) => test(name))));
};

/** Names of a stored metric's series in Prometheus. */
export const namesOf = (metric: StoredMetric, { strategy }: Translation): readonly string[] =>
  metric.source === 'prometheus'
    ? [metric.metric]
    : partsOf(metric.kind)
        .map((part) => partNameOf(metric, part, strategy))
        .filter((name) => name !== '');
