import type { Call, Expression } from '../syntax/tree.ts';
import type { Evaluation } from './context.ts';
import { compareLabels, type LabelSet } from './labels.ts';
import { absent, float, type Row } from './rows.ts';

/** Compares texts in natural order, by their numbers and the texts between: `a9` precedes `a10`. */
const compareNaturally = (left: string, right: string): number => {
  const parts = (text: string) => text.match(/\d+|\D+/g) ?? [];
  const others = parts(right);
  const own = parts(left);
  for (const [at, part] of own.entries()) {
    const other = others[at];
    if (other === undefined) return 1;
    if (part === other) continue;
    const numbers = /^\d/.test(part) && /^\d/.test(other);
    const difference = numbers ? Number(part) - Number(other) : 0;
    if (difference !== 0) return difference;
    return part < other ? -1 : 1;
  }
  return own.length - others.length;
};

const byLabels = (labels: readonly string[]) => (left: LabelSet, right: LabelSet) => {
  for (const label of labels) {
    const order = compareNaturally(left.get(label), right.get(label));
    if (order !== 0) return order;
  }
  return compareLabels(left, right);
};

/** NaN is last in either direction. */
const byValue = (left: number, right: number, down: boolean): number => {
  if (Number.isNaN(left)) return Number.isNaN(right) ? 0 : 1;
  if (Number.isNaN(right)) return -1;
  return down ? right - left || 0 : left - right || 0;
};

/** `sort` and its variants sort the series of one time. Variants that sort by value omit histograms. */
export const sortedRows = (evaluation: Evaluation, node: Call): Row[] => {
  const { name } = node.signature;
  const { steps, annotations } = evaluation;
  if (steps.count > 1)
    annotations.warn('sort is ineffective for range queries since results are always ordered by labels', node);
  const rows = [...evaluation.vector(node.args[0] as Expression)];
  if (name.startsWith('sort_by_label')) {
    const labels = node.args.slice(1).map((argument) => (argument.kind === 'string' ? argument.value : ''));
    const order = byLabels(labels);
    const direction = name.endsWith('_desc') ? -1 : 1;
    return rows.sort((left, right) => direction * order(left.labels, right.labels));
  }
  for (const row of rows)
    for (let step = 0; step < steps.count; step++) if (row.present[step] !== float) row.present[step] = absent;
  return rows
    .filter((row) => !row.isEmpty)
    .sort((left, right) => byValue(left.values[0] as number, right.values[0] as number, name === 'sort_desc'));
};
