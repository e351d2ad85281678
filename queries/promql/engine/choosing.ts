import { PromqlExecutionError } from '../syntax/errors.ts';
import { formatWithExponent } from '../syntax/numbers.ts';
import type { Aggregation, Expression } from '../syntax/tree.ts';
import type { Evaluation } from './context.ts';
import { GroupIndex } from './groups.ts';
import { Heap } from './heap.ts';
import { sampleOffset } from './label-hash.ts';
import { absent, float, histogram, Row } from './rows.ts';

interface Candidate {
  readonly row: Row;
  readonly value: number;
}

/** Selects rows of one group with a value at a step, in the order of the answer. */
type SelectRows = (group: readonly Row[], step: number, parameter: number) => readonly Row[];

type CompareLess = (left: number, right: number) => boolean;

/**
 * Order in which values leave a full heap: NaN first, then the smallest (for `topk`) or the largest (for `bottomk`).
 */
const isSmallerOrNaN: CompareLess = (left, right) => Number.isNaN(left) || left < right;
const isLargerOrNaN: CompareLess = (left, right) => Number.isNaN(left) || left > right;

/** Returns whether a value replaces the first one to be removed. */
const replaces = (less: CompareLess, worst: number, value: number): boolean =>
  !Number.isNaN(value) && (Number.isNaN(worst) || less(worst, value));

/** Returns whether a value is ranked. Only floats are; histograms cause an annotation. */
const isRanked = (evaluation: Evaluation, node: Aggregation, present: number | undefined): boolean => {
  if (present === histogram) evaluation.annotations.ignoredInAggregation(node.operator, node);
  return present === float;
};

const selectBest =
  (evaluation: Evaluation, node: Aggregation): SelectRows =>
  (group, step, count) => {
    const less = node.operator === 'topk' ? isSmallerOrNaN : isLargerOrNaN;
    const heap = new Heap<Candidate>((left, right) => less(left.value, right.value));
    const maxItems = Math.min(Math.trunc(count), group.length);
    for (const row of group) {
      if (!isRanked(evaluation, node, row.kinds[step])) continue;
      const value = row.values[step] as number;
      if (heap.items.length < maxItems) heap.push({ row, value });
      else if (replaces(less, (heap.items[0] as Candidate).value, value)) heap.replaceTop({ row, value });
    }
    return heap.items.sort(compareDescending(less)).map(({ row }) => row);
  };

const compareDescending =
  (less: CompareLess) =>
  (left: Candidate, right: Candidate): number => {
    if (less(right.value, left.value)) return -1;
    return less(left.value, right.value) ? 1 : 0;
  };

const selectFirst: SelectRows = (group, step, count) => {
  const first: Row[] = [];
  for (const row of group) {
    if (row.kinds[step] !== absent) first.push(row);
    if (first.length >= Math.trunc(count)) break;
  }
  return first;
};

const selectShare: SelectRows = (group, step, ratio) =>
  group.filter(({ labels, kinds }) => {
    if (kinds[step] === absent) return false;
    const offset = sampleOffset(labels);
    return ratio >= 0 ? offset < Math.min(ratio, 1) : offset >= 1 + Math.max(ratio, -1);
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
  const rows = [...evaluation.vector(node.inner)];
  if (isEmptySelection(evaluation, node, parameter)) return [];
  const groups = new GroupIndex(node);
  const members: Row[][] = [];
  for (const row of rows) {
    const group = groups.indexOf(row.labels);
    members[group] ??= [];
    members[group].push(row);
  }
  const selectByOperator: Readonly<Record<string, SelectRows>> = { limitk: selectFirst, limit_ratio: selectShare };
  const choose = selectByOperator[node.operator] ?? selectBest(evaluation, node);
  const selectedRows = new Map<Row, Row>();
  for (let step = 0; step < steps.count; step++) {
    const value = parameter[step] as number;
    if (node.operator !== 'limit_ratio' && !(value >= 1)) continue;
    for (const group of members) for (const row of choose(group, step, value)) addSelected(selectedRows, row, step);
  }
  return [...selectedRows.values()];
};

const addSelected = (chosen: Map<Row, Row>, row: Row, step: number): void => {
  const result = chosen.get(row) ?? Row.empty(row.labels, row.kinds.length, row.dropName);
  chosen.set(row, result);
  result.copyFrom(row, step);
};
