import { formatHistogram } from '../histograms/text.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import { formatWithoutExponent } from '../syntax/numbers.ts';
import { quoteText } from '../syntax/quotes.ts';
import type { Aggregation, Expression } from '../syntax/tree.ts';
import { type Accumulator, type AggregationState, createAccumulator } from './accumulators.ts';
import type { Evaluation } from './context.ts';
import { GroupIndex } from './groups.ts';
import { absent, histogram, Row } from './rows.ts';
import { evaluateSelection } from './selection.ts';

const formatValue = (row: Row, step: number): string =>
  row.kinds[step] === histogram
    ? formatHistogram(row.histogram(step))
    : formatWithoutExponent(row.values[step] as number);

/** `count_values("label", v)`: the number of occurrences of each value. */
const evaluateCountValues = (evaluation: Evaluation, node: Aggregation): Row[] => {
  const { counts, steps } = evaluation;
  const label = node.parameter?.kind === 'string' ? node.parameter.value : '';
  if (label === '' || !label.isWellFormed()) throw new PromqlExecutionError(`invalid label name ${quoteText(label)}`);
  const groups = new GroupIndex({ ...node, grouping: node.without ? node.grouping : [...node.grouping, label] });
  const results: Row[] = [];
  for (const row of evaluation.vector(node.innerExpression))
    for (let step = 0; step < steps.count; step++) {
      if (row.kinds[step] === absent) continue;
      const value = formatValue(row, step);
      counts.reserveLabel(label, value.length);
      const group = groups.findGroupIndex(row.labels.with(label, value));
      const existing = results[group];
      if (existing === undefined) counts.reserveCells(steps.count);
      const result = existing ?? Row.empty(groups.labels[group] as never, steps.count);
      results[group] = result;
      result.set(step, (result.values[step] as number) + 1);
    }
  return results;
};

const annotateInvalidQuantiles = (evaluation: Evaluation, node: Aggregation, parameter: Float64Array): void => {
  const parameterNode = node.parameter as Expression;
  const numbers = parameter.filter((value) => !Number.isNaN(value));
  if (numbers.length < parameter.length) evaluation.annotations.addInvalidQuantile(Number.NaN, parameterNode);
  const max = Math.max(...numbers);
  const min = Math.min(...numbers);
  if (max > 1) evaluation.annotations.addInvalidQuantile(max, parameterNode);
  if (min < 0) evaluation.annotations.addInvalidQuantile(min, parameterNode);
};

/**
 * Returns the rows of an aggregation. Sums and similar operators process each series in turn and retain only
 * accumulators.
 */
export const evaluateAggregation = (evaluation: Evaluation, node: Aggregation): Row[] => {
  const { operator, innerExpression } = node;
  if (operator === 'count_values') return evaluateCountValues(evaluation, node);
  const { annotations, counts, steps } = evaluation;
  const parameter = operator === 'quantile' ? evaluation.scalar(node.parameter as Expression) : undefined;
  const state: AggregationState = { operator, inner: innerExpression, annotations, steps: steps.count, parameter };
  if (createAccumulator({ ...state, steps: 0 }) === undefined) return evaluateSelection(evaluation, node);
  if (parameter !== undefined) annotateInvalidQuantiles(evaluation, node, parameter);
  const groups = new GroupIndex(node);
  const accumulators: Accumulator[] = [];
  for (const row of evaluation.vector(innerExpression)) {
    const group = groups.findGroupIndex(row.labels);
    if (accumulators[group] === undefined) {
      counts.reserveCells(steps.count);
      accumulators[group] = createAccumulator(state) as Accumulator;
    }
    accumulators[group].add(row);
    counts.release(steps.count);
  }
  return accumulators
    .map((accumulator, group) => accumulator.result(groups.labels[group] as never))
    .filter((row) => !row.isEmpty);
};
