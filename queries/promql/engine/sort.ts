import type { Call, Expression } from '../syntax/tree.ts';
import type { Evaluation } from './context.ts';
import { compareLabels, type LabelSet } from './labels.ts';
import { absent, float, type Row } from './rows.ts';

/** Compares texts in natural order, by their numbers and the texts between: `a9` precedes `a10`. */
const compareNaturally = (left: string, right: string): number => {
  const splitParts = (text: string) => text.match(/\d+|\D+/g) ?? [];
  const rightParts = splitParts(right);
  const leftParts = splitParts(left);
  for (const [partIndex, part] of leftParts.entries()) {
    const otherPart = rightParts[partIndex];
    if (otherPart === undefined) return 1;
    if (part === otherPart) continue;
    const areNumbers = /^\d/.test(part) && /^\d/.test(otherPart);
    const difference = areNumbers ? Number(part) - Number(otherPart) : 0;
    if (difference !== 0) return difference;
    return part < otherPart ? -1 : 1;
  }
  return leftParts.length - rightParts.length;
};

const compareByLabels = (labels: readonly string[]) => (left: LabelSet, right: LabelSet) => {
  for (const label of labels) {
    const order = compareNaturally(left.get(label), right.get(label));
    if (order !== 0) return order;
  }
  return compareLabels(left, right);
};

/** Compares two values; NaN comes last in both directions. */
const compareByValue = (left: number, right: number, isDescending: boolean): number => {
  if (Number.isNaN(left)) return Number.isNaN(right) ? 0 : 1;
  if (Number.isNaN(right)) return -1;
  return isDescending ? right - left || 0 : left - right || 0;
};

/** `sort` and its variants sort the series of one time. Variants that sort by value omit histograms. */
export const evaluateSort = (evaluation: Evaluation, node: Call): Row[] => {
  const { name } = node.signature;
  const { steps, annotations } = evaluation;
  if (steps.count > 1)
    annotations.addWarning('sort is ineffective for range queries since results are always ordered by labels', node);
  const rows = [...evaluation.vector(node.args[0] as Expression)];
  if (name.startsWith('sort_by_label')) {
    const labels = node.args.slice(1).map((argument) => (argument.kind === 'string' ? argument.value : ''));
    const compareLabelSets = compareByLabels(labels);
    const direction = name.endsWith('_desc') ? -1 : 1;
    return rows.sort((left, right) => direction * compareLabelSets(left.labels, right.labels));
  }
  for (const row of rows)
    for (let step = 0; step < steps.count; step++) if (row.kinds[step] !== float) row.kinds[step] = absent;
  return rows
    .filter((row) => !row.isEmpty)
    .sort((left, right) => compareByValue(left.values[0] as number, right.values[0] as number, name === 'sort_desc'));
};
