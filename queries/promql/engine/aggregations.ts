import { histogramText } from '../histograms/text.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import { plainNumber } from '../syntax/numbers.ts';
import { quoted } from '../syntax/quotes.ts';
import type { Aggregation, Expression } from '../syntax/tree.ts';
import { type Accumulator, type Aggregating, accumulatorOf } from './accumulators.ts';
import { chosenRows } from './choosing.ts';
import type { Evaluation } from './context.ts';
import { Groups } from './groups.ts';
import { absent, histogram, Row } from './rows.ts';

const textAt = (row: Row, step: number): string =>
  row.present[step] === histogram ? histogramText(row.histogram(step)) : plainNumber(row.values[step] as number);

/** `count_values("label", v)`: the number of occurrences of each value. */
const valueCounts = (evaluation: Evaluation, node: Aggregation): Row[] => {
  const { counts, steps } = evaluation;
  const label = node.parameter?.kind === 'string' ? node.parameter.value : '';
  if (label === '' || !label.isWellFormed()) throw new PromqlExecutionError(`invalid label name ${quoted(label)}`);
  const groups = new Groups({ ...node, grouping: node.without ? node.grouping : [...node.grouping, label] });
  const results: Row[] = [];
  for (const row of evaluation.vector(node.inner))
    for (let step = 0; step < steps.count; step++) {
      if (row.present[step] === absent) continue;
      const value = textAt(row, step);
      counts.chargeLabel(label, value.length);
      const group = groups.of(row.labels.with(label, value));
      const known = results[group];
      if (known === undefined) counts.charge(steps.count);
      const result = known ?? Row.empty(groups.labels[group] as never, steps.count);
      results[group] = result;
      result.set(step, (result.values[step] as number) + 1);
    }
  return results;
};

const checkQuantiles = (evaluation: Evaluation, node: Aggregation, parameter: Float64Array): void => {
  const place = node.parameter as Expression;
  const numbers = parameter.filter((value) => !Number.isNaN(value));
  if (numbers.length < parameter.length) evaluation.annotations.quantile(Number.NaN, place);
  const max = Math.max(...numbers);
  const min = Math.min(...numbers);
  if (max > 1) evaluation.annotations.quantile(max, place);
  if (min < 0) evaluation.annotations.quantile(min, place);
};

/**
 * Returns the rows of an aggregation. Sums and similar operators process each series in turn and retain only
 * accumulators.
 */
export const aggregatedRows = (evaluation: Evaluation, node: Aggregation): Row[] => {
  const { operator, inner } = node;
  if (operator === 'count_values') return valueCounts(evaluation, node);
  const { annotations, counts, steps } = evaluation;
  const parameter = operator === 'quantile' ? evaluation.scalar(node.parameter as Expression) : undefined;
  const shared: Aggregating = { operator, inner, annotations, steps: steps.count, parameter };
  if (accumulatorOf({ ...shared, steps: 0 }) === undefined) return chosenRows(evaluation, node);
  if (parameter !== undefined) checkQuantiles(evaluation, node, parameter);
  const groups = new Groups(node);
  const accumulators: Accumulator[] = [];
  for (const row of evaluation.vector(inner)) {
    const group = groups.of(row.labels);
    if (accumulators[group] === undefined) {
      counts.charge(steps.count);
      accumulators[group] = accumulatorOf(shared) as Accumulator;
    }
    accumulators[group].add(row);
    counts.release(steps.count);
  }
  return accumulators
    .map((accumulator, group) => accumulator.result(groups.labels[group] as never))
    .filter((row) => !row.isEmpty);
};
