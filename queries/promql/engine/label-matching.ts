import { PromqlExecutionError } from '../syntax/errors.ts';
import type { Matching } from '../syntax/tree.ts';
import type { LabelSet } from './labels.ts';
import { absent, type Row } from './rows.ts';

/** One side of an operation: its rows, each with the number of its matching group. */
export interface OperandSide {
  readonly rows: readonly Row[];
  readonly groups: Int32Array;
}

/** Returns the labels by which series match. */
export const selectMatchingLabels = (labels: LabelSet, { on, labels: names }: Matching): LabelSet =>
  on ? labels.pick(names) : labels.without([...names, '__name__']);

/** Numbers the groups of both sides; equal labels have equal numbers. */
export const groupSides = (
  left: Iterable<Row>,
  right: Iterable<Row>,
  matching: Matching,
): { left: OperandSide; right: OperandSide; groups: number } => {
  const groupNumbers = new Map<string, number>();
  const toSide = (rows: readonly Row[]): OperandSide => {
    const groups = Int32Array.from(rows, ({ labels }) => {
      const { key } = selectMatchingLabels(labels, matching);
      const groupNumber = groupNumbers.get(key) ?? groupNumbers.size;
      groupNumbers.set(key, groupNumber);
      return groupNumber;
    });
    return { rows, groups };
  };
  const sides = { left: toSide([...left]), right: toSide([...right]) };
  return { ...sides, groups: groupNumbers.size };
};

/** Finds the row of each group at a step, -1 for none. Two rows in one group are ambiguous. */
export const findRowOfGroups = (
  { rows, groups }: OperandSide,
  step: number,
  rowByGroup: Int32Array,
  matching: Matching,
): void => {
  rowByGroup.fill(-1);
  for (const [rowIndex, row] of rows.entries()) {
    if (row.kinds[step] === absent) continue;
    const group = groups[rowIndex] as number;
    const otherRowIndex = rowByGroup[group] as number;
    if (otherRowIndex >= 0) throw createDuplicateError(row.labels, (rows[otherRowIndex] as Row).labels, matching);
    rowByGroup[group] = rowIndex;
  }
};

const createDuplicateError = (left: LabelSet, right: LabelSet, matching: Matching): Error => {
  const side = matching.card === 'one-to-many' ? 'left' : 'right';
  const group = selectMatchingLabels(left, matching);
  const labelTexts = [String(left), String(right)].sort().join(', ');
  return new PromqlExecutionError(
    `found duplicate series for the match group ${group} on the ${side} hand-side of the operation: [${labelTexts}];many-to-many matching not allowed: matching labels must be unique on one side`,
  );
};

/** Returns the labels of a result: those of the "many" side, without the name if the operator changes the metric. */
export const buildResultLabels = (
  many: LabelSet,
  labelSet: LabelSet,
  matching: Matching,
  dropName: boolean,
): LabelSet => {
  let labels = dropName ? many.withoutMetadata : many;
  if (matching.card === 'one-to-one')
    labels = matching.on ? labels.pick(matching.labels) : labels.without(matching.labels);
  for (const name of matching.include) labels = labels.with(name, labelSet.get(name));
  return labels;
};
