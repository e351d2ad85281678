/** Formulas over the results of other queries. */
import { type Answer, seriesAnswer, tableAnswer } from '../answer.ts';
import { invalid } from '../errors.ts';
import { withoutNoise } from '../figures.ts';
import type { FormulaQuery, Query } from '../query.ts';
import { kindOf } from '../query-kind.ts';
import type { Incompleteness, TableColumn } from '../result.ts';
import { evaluate, type Quantity } from './arithmetic.ts';
import { namesIn, parseFormula } from './parse.ts';

type Part = FormulaQuery['queries'][string];

/** Column name of a formula's values. */
const valueName = 'value';

/** Runs a formula; `answer` returns the result of each query it references. They run concurrently. */
export const runFormula = async (query: FormulaQuery, answer: (part: Query) => Promise<Answer>): Promise<Answer> => {
  const formula = parseFormula(query.expression);
  const names = namesIn(formula);
  if (names.length === 0) throw invalid('expression', 'must name at least one query');
  const parts = names.map((name): readonly [string, Part] => {
    const part = Object.hasOwn(query.queries, name) ? query.queries[name] : undefined;
    if (part === undefined)
      throw invalid(
        'expression',
        `names ${name}, which is not one of the queries: ${Object.keys(query.queries).join(', ')}`,
      );
    const [path, message] = kindOf(part).formulaProblem?.(part) ?? [];
    if (path !== undefined && message !== undefined) throw invalid(['queries', name, ...path].join('.'), message);
    return [name, part];
  });
  const answers = new Map(await Promise.all(parts.map(async ([name, part]) => [name, await answer(part)] as const)));
  const partial = [...answers].flatMap(([name, { partial: reasons }]) =>
    reasons.map(({ code, message }): Incompleteness => ({ code, message: `${name}: ${message}` })),
  );
  const isSeries = [...answers.values()].some(({ form }) => form === 'series');
  return isSeries
    ? overSeries(query, answers, partial, (places, of) => evaluate(formula, places, of))
    : overTables(answers, partial, (places, of) => evaluate(formula, places, of));
};

type Evaluate = (places: number, quantityOf: (name: string) => Quantity) => Quantity;
type Answers = ReadonlyMap<string, Answer>;

const quantity = (unit: string, groups: Quantity['groups']): Quantity => ({
  unit,
  groups,
  isNumber: false,
  isHundredfold: false,
});

/** Integers beyond 2^53 and infinities are strings in answers and cannot be used in calculations. */
const finite = (value: unknown): number | null => {
  if (value === null || value === undefined) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
};

const roundValue = (value: number | null | undefined): number | null => (value == null ? null : withoutNoise(value));

const overSeries = (
  { expression }: FormulaQuery,
  answers: Answers,
  partial: readonly Incompleteness[],
  evaluated: Evaluate,
): Answer => {
  const all = [...answers.values()];
  const points = all.flatMap(({ series }) => series.flatMap((each) => each.points));
  const starts = [...new Set(points.map(([start]) => start))].sort((one, other) => one - other);
  const { groups, unit } = evaluated(starts.length, (name) => {
    const series = answers.get(name)?.series ?? [];
    return quantity(
      series[0]?.unit ?? '',
      series.map(({ labels, points: own }) => {
        const byStart = new Map<number, unknown>(own);
        return { labels, values: starts.map((start) => finite(byStart.get(start))) };
      }),
    );
  });
  const series = groups.map(({ labels, values }) => ({
    name: expression,
    labels,
    unit,
    points: starts.map((start, index): [number, number | null] => [start, roundValue(values[index])]),
  }));
  return seriesAnswer(series, [...new Set(all.flatMap(({ partialSteps }) => partialSteps))].sort(), partial);
};

/** In a table, text columns are the groups, and the single numeric column is the value. */
const overTables = (answers: Answers, partial: readonly Incompleteness[], evaluated: Evaluate): Answer => {
  const { groups, unit } = evaluated(1, (name) => {
    const { columns = [], rows = [] } = answers.get(name) ?? {};
    const figure = columns.findIndex(({ type }) => type === 'number' || type === 'duration');
    const labels = columns.flatMap(({ name: label, type }, index) => (type === 'text' ? [{ label, index }] : []));
    return quantity(
      columns[figure]?.unit ?? '',
      rows.map((row) => ({
        labels: Object.fromEntries(labels.map(({ label, index }) => [label, String(row[index])])),
        values: [finite(row[figure])],
      })),
    );
  });
  const labels = [...new Set(groups.flatMap((group) => Object.keys(group.labels)))];
  const columns: TableColumn[] = [
    ...labels.map((name): TableColumn => ({ name, type: 'text', unit: '' })),
    { name: valueName, type: unit === 'ns' ? 'duration' : 'number', unit },
  ];
  return tableAnswer(
    columns,
    groups.map(({ labels: of, values }) => [...labels.map((name) => of[name] ?? ''), roundValue(values[0])]),
    partial,
  );
};
