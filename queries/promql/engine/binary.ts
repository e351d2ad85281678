import { IncompatibleHistogramsError } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import { type Binary, getValueType, isComparison, isSetOperator, type Matching } from '../syntax/tree.ts';
import type { Evaluation } from './context.ts';
import {
  buildResultLabels,
  findRowOfGroups,
  groupSides,
  type OperandSide,
  selectMatchingLabels,
} from './label-matching.ts';
import type { LabelSet } from './labels.ts';
import { type Annotate, changesMetric, getElementOperation, type Outcome } from './operators.ts';
import { absent, duplicateLabelsMessage, float, Row } from './rows.ts';
import { evaluateSetOperator } from './set-operators.ts';
import { mergeRenamed } from './vector-functions.ts';

type Value = number | Histogram;

const readValue = (row: Row, step: number): Value =>
  row.kinds[step] === float ? (row.values[step] as number) : row.histogram(step);

/** Stores the annotation of the elements of one step: like Prometheus, only the last one is reported. */
class LastAnnotation {
  #annotate: Annotate | undefined;

  outcome(evaluation: Evaluation, node: Binary, calculate: () => Outcome | Annotate): Outcome | undefined {
    try {
      const outcome = calculate();
      if (typeof outcome === 'function') {
        this.#annotate = outcome;
        return undefined;
      }
      this.#annotate = outcome.annotate ?? this.#annotate;
      return outcome;
    } catch (error) {
      if (!(error instanceof IncompatibleHistogramsError)) throw error;
      this.#annotate = () =>
        evaluation.annotations.addWarning(
          `incompatible bucket layout encountered for binary operator ${node.operator}`,
          node,
        );
      return undefined;
    }
  }

  emit(evaluation: Evaluation): void {
    this.#annotate?.(evaluation.annotations);
    this.#annotate = undefined;
  }
}

/** Combines one element with the scalar; returns the value at the step, or undefined for none. */
type ScalarOperation = (value: Value, scalar: number) => Value | undefined;

const buildScalarOperation = (evaluation: Evaluation, node: Binary, isSwapped: boolean): ScalarOperation => {
  const { operator, bool } = node;
  const calculate = getElementOperation(operator, node);
  const isComparing = isComparison(operator);
  const lastAnnotation = new LastAnnotation();
  return (value, scalar) => {
    const outcome = lastAnnotation.outcome(evaluation, node, () =>
      isSwapped ? calculate(scalar, value) : calculate(value, scalar),
    );
    lastAnnotation.emit(evaluation);
    if (outcome === undefined) return undefined;
    if (bool) return outcome.isRetained ? 1 : 0;
    if (!outcome.isRetained) return undefined;
    return isComparing ? value : outcome.value;
  };
};

const applyScalar = (source: Row, scalar: Float64Array, result: Row, calculate: ScalarOperation): Row => {
  for (const [step, scalarValue] of scalar.entries()) {
    const value = source.kinds[step] === absent ? undefined : calculate(readValue(source, step), scalarValue);
    if (value !== undefined) result.setValue(step, value);
  }
  return result;
};

/** A vector with a scalar on one side. */
function* evaluateWithScalar(evaluation: Evaluation, node: Binary): Iterable<Row> {
  const isSwapped = getValueType(node.left) === 'scalar';
  const scalar = evaluation.scalar(isSwapped ? node.left : node.right);
  const dropsName = changesMetric(node.operator) || node.bool;
  const calculate = buildScalarOperation(evaluation, node, isSwapped);
  const removesName = dropsName && !evaluation.options.delayedNameRemoval;
  for (const source of evaluation.vector(isSwapped ? node.right : node.left)) {
    const labels = removesName ? source.labels.withoutMetadata : source.labels;
    const row = Row.empty(labels, scalar.length, source.shouldDropName || dropsName);
    if (!applyScalar(source, scalar, row, calculate).isEmpty) yield row;
  }
}

/** Operation on two vectors whose series match by labels. */
class VectorOperation {
  readonly #evaluation: Evaluation;
  readonly #node: Binary;
  readonly #matching: Matching;
  /** The side with unique series per group, and the other side. */
  readonly #one: OperandSide;
  readonly #many: OperandSide;
  readonly #isSwapped: boolean;
  readonly #groups: number;
  readonly #calculate: (left: Value, right: Value) => Outcome | Annotate;
  readonly #results = new Map<string, Row>();
  readonly #rowByPair = new Map<number, Row>();
  readonly #lastStepOfRow = new Map<Row, number>();
  /** Results of the step by group: the matched groups, and their labels. */
  readonly #matchedLabels = new Map<number, Set<string>>();
  readonly #lastAnnotation = new LastAnnotation();

  constructor(evaluation: Evaluation, node: Binary) {
    const matching = node.matching as Matching;
    const { left, right, groups } = groupSides(evaluation.vector(node.left), evaluation.vector(node.right), matching);
    this.#isSwapped = matching.card === 'one-to-many';
    this.#evaluation = evaluation;
    this.#node = node;
    this.#matching = matching;
    this.#one = this.#isSwapped ? left : right;
    this.#many = this.#isSwapped ? right : left;
    this.#groups = groups;
    this.#calculate = getElementOperation(node.operator, node);
  }

  rows(): Row[] {
    const { fillLeft, fillRight } = this.#matching;
    const hasFill = fillLeft !== undefined || fillRight !== undefined;
    if (!hasFill && (this.#one.rows.length === 0 || this.#many.rows.length === 0)) return [];
    const rowByGroup = new Int32Array(this.#groups);
    const { count } = this.#evaluation.steps;
    for (let step = 0; step < count; step++) this.#evaluateStep(step, rowByGroup, hasFill);
    this.#evaluation.counts.release((this.#one.rows.length + this.#many.rows.length) * count);
    return [...this.#results.values()].filter((row) => !row.isEmpty);
  }

  #evaluateStep(step: number, rowByGroup: Int32Array, hasFill: boolean): void {
    const hasElements = (side: OperandSide) => side.rows.some((row) => row.kinds[step] !== absent);
    if (!hasFill && !(hasElements(this.#many) && hasElements(this.#one))) return;
    findRowOfGroups(this.#one, step, rowByGroup, this.#matching);
    this.#matchedLabels.clear();
    const { fillLeft, fillRight } = this.#matching;
    for (const [manyIndex, row] of this.#many.rows.entries()) {
      if (row.kinds[step] === absent) continue;
      const partner = rowByGroup[this.#many.groups[manyIndex] as number] as number;
      if (partner >= 0)
        this.#combinePair(step, manyIndex, partner, readValue(row, step), this.#readOneValue(partner, step));
      else if (fillRight !== undefined) this.#combinePair(step, manyIndex, -1, readValue(row, step), fillRight);
    }
    if (fillLeft !== undefined) this.#fillMany(step, fillLeft);
    this.#lastAnnotation.emit(this.#evaluation);
  }

  #readOneValue(oneIndex: number, step: number): Value {
    return readValue(this.#one.rows[oneIndex] as Row, step);
  }

  #fillMany(step: number, fill: number): void {
    for (const [oneIndex, row] of this.#one.rows.entries()) {
      if (row.kinds[step] === absent || this.#matchedLabels.has(this.#one.groups[oneIndex] as number)) continue;
      this.#combinePair(step, -1, oneIndex, fill, readValue(row, step));
    }
  }

  #combinePair(step: number, many: number, one: number, manyValue: Value, oneValue: Value): void {
    const { bool } = this.#node;
    const outcome = this.#lastAnnotation.outcome(this.#evaluation, this.#node, () =>
      this.#isSwapped ? this.#calculate(oneValue, manyValue) : this.#calculate(manyValue, oneValue),
    );
    if (outcome === undefined) return;
    const row = this.#getResultRow(many, one);
    this.#requireUniqueMatch(many, one, row.labels);
    if (!outcome.isRetained && !bool) return;
    if (this.#lastStepOfRow.get(row) === step) throw new PromqlExecutionError(duplicateLabelsMessage);
    this.#lastStepOfRow.set(row, step);
    row.setValue(step, bool ? Number(outcome.isRetained) : outcome.value);
  }

  /** Throws if a group has duplicate results. */
  #requireUniqueMatch(many: number, one: number, labels: LabelSet): void {
    const group = (many >= 0 ? this.#many.groups[many] : this.#one.groups[one]) as number;
    const knownLabels = this.#matchedLabels.get(group);
    if (knownLabels === undefined) {
      this.#matchedLabels.set(group, new Set([labels.key]));
      return;
    }
    if (this.#matching.card === 'one-to-one')
      throw new PromqlExecutionError(
        'multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)',
      );
    if (knownLabels.has(labels.key))
      throw new PromqlExecutionError('multiple matches for labels: grouping labels must ensure unique matches');
    knownLabels.add(labels.key);
  }

  /** Returns the row of a result, computed once for each pair of series. */
  #getResultRow(many: number, one: number): Row {
    const pair = (many + 1) * (this.#one.rows.length + 1) + one + 1;
    const cachedRow = this.#rowByPair.get(pair);
    if (cachedRow !== undefined) return cachedRow;
    const { operator, bool } = this.#node;
    const { counts, options, steps } = this.#evaluation;
    const manyLabels = this.#many.rows[many]?.labels;
    const oneLabels = this.#one.rows[one]?.labels;
    const fillLabels = selectMatchingLabels((manyLabels ?? oneLabels) as LabelSet, this.#matching);
    const dropsMetadata = (bool && !options.delayedNameRemoval) || changesMetric(operator);
    const labels = buildResultLabels(manyLabels ?? fillLabels, oneLabels ?? fillLabels, this.#matching, dropsMetadata);
    const row = this.#results.get(labels.key) ?? Row.createCounted(counts, labels, steps.count, bool);
    this.#results.set(labels.key, row);
    this.#rowByPair.set(pair, row);
    return row;
  }
}

/** Returns the rows of an operation with at least one vector. */
export const evaluateBinary = (evaluation: Evaluation, node: Binary): Iterable<Row> => {
  if (getValueType(node.left) !== 'vector' || getValueType(node.right) !== 'vector')
    return mergeRenamed(evaluation, evaluateWithScalar(evaluation, node));
  return isSetOperator(node.operator)
    ? evaluateSetOperator(evaluation, node)
    : new VectorOperation(evaluation, node).rows();
};
