import { PromqlExecutionError } from '../syntax/errors.ts';
import type { Binary, Matching } from '../syntax/tree.ts';
import type { Evaluation, SampleCounts } from './context.ts';
import { groupSides, type OperandSide } from './label-matching.ts';
import { absent, duplicateLabelsMessage, Row } from './rows.ts';

/** Marks the groups that have a series at a step. */
const markGroups = ({ rows, groups }: OperandSide, step: number, hasSeriesByGroup: Uint8Array): void => {
  hasSeriesByGroup.fill(0);
  for (const [rowIndex, row] of rows.entries())
    if (row.kinds[step] !== absent) hasSeriesByGroup[groups[rowIndex] as number] = 1;
};

/** Collects the remaining rows of both sides. */
class ResultRows {
  readonly #counts: SampleCounts;
  readonly #rows = new Map<string, Row>();

  constructor(counts: SampleCounts) {
    this.#counts = counts;
  }

  add(source: Row, step: number): void {
    const row =
      this.#rows.get(source.labels.key) ??
      Row.createCounted(this.#counts, source.labels, source.kinds.length, source.shouldDropName);
    this.#rows.set(source.labels.key, row);
    if (row.kinds[step] !== absent) throw new PromqlExecutionError(duplicateLabelsMessage);
    row.copyFrom(source, step);
  }

  get rows(): Row[] {
    return [...this.#rows.values()];
  }
}

const addMatching = (
  result: ResultRows,
  { rows, groups }: OperandSide,
  step: number,
  hasSeriesByGroup: Uint8Array,
  expectedFlag: number,
): void => {
  for (const [rowIndex, row] of rows.entries())
    if (row.kinds[step] !== absent && hasSeriesByGroup[groups[rowIndex] as number] === expectedFlag)
      result.add(row, step);
};

/** `and`, `or` and `unless`: series of one side, depending on a match on the other. */
export const evaluateSetOperator = (evaluation: Evaluation, node: Binary): Row[] => {
  const matching = node.matching as Matching;
  const { left, right, groups } = groupSides(evaluation.vector(node.left), evaluation.vector(node.right), matching);
  const result = new ResultRows(evaluation.counts);
  const hasSeriesByGroup = new Uint8Array(groups);
  for (let step = 0; step < evaluation.steps.count; step++) {
    if (node.operator === 'or') {
      markGroups(left, step, hasSeriesByGroup);
      for (const row of left.rows) if (row.kinds[step] !== absent) result.add(row, step);
      addMatching(result, right, step, hasSeriesByGroup, 0);
    } else {
      markGroups(right, step, hasSeriesByGroup);
      addMatching(result, left, step, hasSeriesByGroup, node.operator === 'and' ? 1 : 0);
    }
  }
  evaluation.counts.release((left.rows.length + right.rows.length) * evaluation.steps.count);
  return result.rows;
};
