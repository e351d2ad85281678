/** Evaluates formulas over the results of other queries. */

import { createValidationError } from '../errors.ts';
import { satisfiesHaving } from '../having.ts';
import type { FormulaQuery, Query } from '../query.ts';
import { getQueryKind } from '../query-kind.ts';
import { buildSeriesResult, buildTableResult, type ResultData } from '../query-result.ts';
import type { Incompleteness, TableColumn } from '../result.ts';
import { roundNoise } from '../round-numbers.ts';
import { evaluate, type Quantity } from './arithmetic.ts';
import { collectNames, parseFormula } from './parse.ts';

type PartQuery = FormulaQuery['queries'][string];

/** Column name of a formula's values. */
const valueName = 'value';

/** Runs a formula. `runPart` runs a query that it references; these queries run concurrently. */
export const runFormula = async (
  query: FormulaQuery,
  runPart: (part: Query) => Promise<ResultData>,
): Promise<ResultData> => {
  const formula = parseFormula(query.expression);
  const names = collectNames(formula);
  if (names.length === 0) throw createValidationError('expression', 'must name at least one query');
  const parts = names.map((name): readonly [string, PartQuery] => {
    const part = Object.hasOwn(query.queries, name) ? query.queries[name] : undefined;
    if (part === undefined)
      throw createValidationError(
        'expression',
        `names ${name}, which is not one of the queries: ${Object.keys(query.queries).join(', ')}`,
      );
    const [path, message] = getQueryKind(part).formulaProblem?.(part) ?? [];
    if (path !== undefined && message !== undefined)
      throw createValidationError(['queries', name, ...path].join('.'), message);
    return [name, part];
  });
  const results = new Map(await Promise.all(parts.map(async ([name, part]) => [name, await runPart(part)] as const)));
  const partial = [...results].flatMap(([name, { partial: reasons }]) =>
    reasons.map(({ code, message }): Incompleteness => ({ code, message: `${name}: ${message}` })),
  );
  const isSeries = [...results.values()].some(({ form }) => form === 'series');
  const evaluateFormula: EvaluateFormula = (valueCount, resolveName) => {
    const { groups, ...quantity } = evaluate(formula, valueCount, resolveName);
    return { ...quantity, groups: selectGroups(groups, query) };
  };
  return isSeries
    ? evaluateSeries(query, results, partial, evaluateFormula)
    : evaluateTables(results, partial, evaluateFormula);
};

/**
 * Returns the groups whose value or mean satisfies the condition. With a limit, those with the largest ones, the largest
 * first; without one, all in their order.
 */
const selectGroups = (
  groups: Quantity['groups'],
  { having, limit }: Pick<FormulaQuery, 'having' | 'limit'>,
): Quantity['groups'] => {
  const selectedGroups = groups
    .map((group) => ({ group, mean: computeMean(group.values) }))
    .filter(({ mean }) => satisfiesHaving(having, mean));
  const { NEGATIVE_INFINITY } = Number;
  const sortedGroups =
    limit === undefined
      ? selectedGroups
      : selectedGroups
          .toSorted((left, right) => (right.mean ?? NEGATIVE_INFINITY) - (left.mean ?? NEGATIVE_INFINITY) || 0)
          .slice(0, limit);
  return sortedGroups.map(({ group }) => group);
};

const computeMean = (values: readonly (number | null | undefined)[]): number | undefined => {
  const numbers = values.filter((value) => value != null);
  return numbers.length === 0 ? undefined : numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
};

type EvaluateFormula = (valueCount: number, resolveName: (name: string) => Quantity) => Quantity;
type Results = ReadonlyMap<string, ResultData>;

const toQuantity = (unit: string, groups: Quantity['groups']): Quantity => ({
  unit,
  groups,
  isNumber: false,
  isTimesHundred: false,
});

/** Integers beyond 2^53 and infinities are strings in results and cannot be used in calculations. */
const parseFinite = (value: unknown): number | null => {
  if (value === null || value === undefined) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
};

const roundValue = (value: number | null | undefined): number | null => (value == null ? null : roundNoise(value));

const evaluateSeries = (
  { expression }: FormulaQuery,
  results: Results,
  partial: readonly Incompleteness[],
  evaluateFormula: EvaluateFormula,
): ResultData => {
  const allResults = [...results.values()];
  const points = allResults.flatMap(({ series }) => series.flatMap((each) => each.points));
  const starts = [...new Set(points.map(([start]) => start))].sort((left, right) => left - right);
  const { groups, unit } = evaluateFormula(starts.length, (name) => {
    const series = results.get(name)?.series ?? [];
    return toQuantity(
      series[0]?.unit ?? '',
      series.map(({ labels, points: own }) => {
        const byStart = new Map<number, unknown>(own);
        return { labels, values: starts.map((start) => parseFinite(byStart.get(start))) };
      }),
    );
  });
  const series = groups.map(({ labels, values }) => ({
    name: expression,
    labels,
    unit,
    points: starts.map((start, index): [number, number | null] => [start, roundValue(values[index])]),
  }));
  return buildSeriesResult(
    series,
    [...new Set(allResults.flatMap(({ partialSteps }) => partialSteps))].sort(),
    partial,
  );
};

/** In a table, text columns are the groups, and the single numeric column is the value. */
const evaluateTables = (
  results: Results,
  partial: readonly Incompleteness[],
  evaluateFormula: EvaluateFormula,
): ResultData => {
  const { groups, unit } = evaluateFormula(1, (name) => {
    const { columns = [], rows = [] } = results.get(name) ?? {};
    const valueColumn = columns.findIndex(({ type }) => type === 'number' || type === 'duration');
    const labels = columns.flatMap(({ name: label, type }, index) => (type === 'text' ? [{ label, index }] : []));
    return toQuantity(
      columns[valueColumn]?.unit ?? '',
      rows.map((row) => ({
        labels: Object.fromEntries(labels.map(({ label, index }) => [label, String(row[index])])),
        values: [parseFinite(row[valueColumn])],
      })),
    );
  });
  const labels = [...new Set(groups.flatMap((group) => Object.keys(group.labels)))];
  const columns: TableColumn[] = [
    ...labels.map((name): TableColumn => ({ name, type: 'text', unit: '' })),
    { name: valueName, type: unit === 'ns' ? 'duration' : 'number', unit },
  ];
  return buildTableResult(
    columns,
    groups.map(({ labels: groupLabels, values }) => [
      ...labels.map((name) => groupLabels[name] ?? ''),
      roundValue(values[0]),
    ]),
    partial,
  );
};
