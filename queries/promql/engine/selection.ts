import { PromqlExecutionError } from '../syntax/errors.ts';
import { formatWithExponent } from '../syntax/numbers.ts';
import type { Aggregation, Expression } from '../syntax/tree.ts';
import type { Evaluation } from './context.ts';
import { GroupIndex } from './groups.ts';
import { Heap } from './heap.ts';
import { getSampleOffset } from './label-hash.ts';
import { absent, float, histogram, Row } from './rows.ts';

interface Candidate {
  readonly row: Row;
  readonly value: number;
}

/** Selects rows of one group with a value at a step, in the order of the result. */
type SelectRows = (group: readonly Row[], step: number, parameter: number) => readonly Row[];

type CompareLess = (left: number, right: number) => boolean;

/**
 * Order in which values leave a full heap: NaN first, then the smallest (for `topk`) or the largest (for `bottomk`).
 */
const isSmallerOrNaN: CompareLess = (left, right) => Number.isNaN(left) || left < right;
const isLargerOrNaN: CompareLess = (left, right) => Number.isNaN(left) || left > right;

/** Returns whether a value replaces the first one to be removed. */
const shouldReplace = (isLess: CompareLess, worst: number, value: number): boolean =>
  !Number.isNaN(value) && (Number.isNaN(worst) || isLess(worst, value));

/** Returns whether a value is ranked. Only floats are; histograms cause an annotation. */
const isRanked = (evaluation: Evaluation, node: Aggregation, sampleKind: number | undefined): boolean => {
  if (sampleKind === histogram) evaluation.annotations.addIgnoredInAggregation(node.operator, node);
  return sampleKind === float;
};

const selectBest =
  (evaluation: Evaluation, node: Aggregation): SelectRows =>
  (group, step, count) => {
    const isLess = node.operator === 'topk' ? isSmallerOrNaN : isLargerOrNaN;
    const heap = new Heap<Candidate>((left, right) => isLess(left.value, right.value));
    const maxItems = Math.min(Math.trunc(count), group.length);
    for (const row of group) {
      if (!isRanked(evaluation, node, row.kinds[step])) continue;
      const value = row.values[step] as number;
      if (heap.items.length < maxItems) heap.push({ row, value });
      else if (shouldReplace(isLess, (heap.items[0] as Candidate).value, value)) heap.replaceTop({ row, value });
    }
    return heap.items.sort(compareDescending(isLess)).map(({ row }) => row);
  };

const compareDescending =
  (isLess: CompareLess) =>
  (left: Candidate, right: Candidate): number => {
    if (isLess(right.value, left.value)) return -1;
    return isLess(left.value, right.value) ? 1 : 0;
  };

const selectFirst: SelectRows = (group, step, count) => {
  const firstRows: Row[] = [];
  for (const row of group) {
    if (row.kinds[step] !== absent) firstRows.push(row);
    if (firstRows.length >= Math.trunc(count)) break;
  }
  return firstRows;
};

const selectShare: SelectRows = (group, step, ratio) =>
  group.filter(({ labels, kinds }) => {
    if (kinds[step] === absent) return false;
    const ratioOffset = getSampleOffset(labels);
    return ratio >= 0 ? ratioOffset < Math.min(ratio, 1) : ratioOffset >= 1 + Math.max(ratio, -1);
  });

/** Returns whether a parameter selects nothing; throws if it is not a valid number. */
const isEmptySelection = (evaluation: Evaluation, node: Aggregation, parameter: Float64Array): boolean => {
  const min = Math.min(...parameter);
  const max = Math.max(...parameter);
  const hasNan = parameter.some(Number.isNaN);
  if (node.operator === 'limit_ratio') {
    if (parameter.every((value) => value === 0)) return true;
    if (hasNan) throw new PromqlExecutionError('Ratio value is NaN');
    const warn = (value: number, cap: number) =>
      evaluation.annotations.addWarning(
        `ratio value should be between -1 and 1, got ${formatWithExponent(value)}, capping to ${cap}`,
        node.parameter as Expression,
      );
    if (max > 1) warn(max, 1);
    if (min < -1) warn(min, -1);
    return false;
  }
  if (parameter.every((value) => value < 1)) return true;
  if (hasNan) throw new PromqlExecutionError('Parameter value is NaN');
  if (min <= -(2 ** 63)) throw new PromqlExecutionError(`Scalar value ${formatWithExponent(min)} underflows int64`);
  if (max >= 2 ** 63 - 1024) throw new PromqlExecutionError(`Scalar value ${formatWithExponent(max)} overflows int64`);
  return false;
};

/** `topk`, `bottomk`, `limitk` and `limit_ratio`: series of each group with their own labels. */
export const evaluateSelection = (evaluation: Evaluation, node: Aggregation): Row[] => {
  const { steps } = evaluation;
  const parameter = evaluation.scalar(node.parameter as Expression);
  const rows = [...evaluation.vector(node.innerExpression)];
  if (isEmptySelection(evaluation, node, parameter)) return [];
  const groups = new GroupIndex(node);
  const members: Row[][] = [];
  for (const row of rows) {
    const group = groups.findGroupIndex(row.labels);
    members[group] ??= [];
    members[group].push(row);
  }
  const selectByOperator: Readonly<Record<string, SelectRows>> = { limitk: selectFirst, limit_ratio: selectShare };
  const selectRows = selectByOperator[node.operator] ?? selectBest(evaluation, node);
  const selectedRows = new Map<Row, Row>();
  for (let step = 0; step < steps.count; step++) {
    const value = parameter[step] as number;
    if (node.operator !== 'limit_ratio' && !(value >= 1)) continue;
    for (const group of members) for (const row of selectRows(group, step, value)) addSelected(selectedRows, row, step);
  }
  return [...selectedRows.values()];
};

const addSelected = (selectedRows: Map<Row, Row>, row: Row, step: number): void => {
  const result = selectedRows.get(row) ?? Row.empty(row.labels, row.kinds.length, row.shouldDropName);
  selectedRows.set(row, result);
  result.copyFrom(row, step);
};
