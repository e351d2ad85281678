import { IncompatibleHistograms } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import { type Binary, isComparison, isSetOperator, type Matching, typeOf } from '../syntax/tree.ts';
import type { Evaluation } from './context.ts';
import type { LabelSet } from './labels.ts';
import { groupSides, matchedLabels, resultLabels, rowOfGroups, type Side } from './matching.ts';
import { type Annotate, changesMetric, elementOperation, type Outcome } from './operators.ts';
import { absent, float, Row, sameLabels } from './rows.ts';
import { setRows } from './set-operators.ts';
import { renamed } from './vector-functions.ts';

type Value = number | Histogram;

const valueAt = (row: Row, step: number): Value =>
  row.present[step] === float ? (row.values[step] as number) : row.histogram(step);

/** Annotation of the elements of one step: Prometheus reports the last one. */
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
      if (!(error instanceof IncompatibleHistograms)) throw error;
      this.#annotate = () =>
        evaluation.annotations.warn(
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
type ScalarStep = (value: Value, scalar: number) => Value | undefined;

const scalarStep = (evaluation: Evaluation, node: Binary, swapped: boolean): ScalarStep => {
  const { operator, bool } = node;
  const calculate = elementOperation(operator, node);
  const compares = isComparison(operator);
  const lastAnnotation = new LastAnnotation();
  return (value, scalar) => {
    const outcome = lastAnnotation.outcome(evaluation, node, () =>
      swapped ? calculate(scalar, value) : calculate(value, scalar),
    );
    lastAnnotation.emit(evaluation);
    if (outcome === undefined) return undefined;
    if (bool) return outcome.passes ? 1 : 0;
    if (!outcome.passes) return undefined;
    return compares ? value : outcome.value;
  };
};

const scalarRow = (source: Row, scalar: Float64Array, result: Row, calculate: ScalarStep): Row => {
  for (const [step, fixed] of scalar.entries()) {
    const value = source.present[step] === absent ? undefined : calculate(valueAt(source, step), fixed);
    if (value !== undefined) result.put(step, value);
  }
  return result;
};

/** A vector with a scalar on one side. */
function* withScalar(evaluation: Evaluation, node: Binary): Iterable<Row> {
  const swapped = typeOf(node.left) === 'scalar';
  const scalar = evaluation.scalar(swapped ? node.left : node.right);
  const drops = changesMetric(node.operator) || node.bool;
  const calculate = scalarStep(evaluation, node, swapped);
  const renames = drops && !evaluation.options.delayedNameRemoval;
  for (const source of evaluation.vector(swapped ? node.right : node.left)) {
    const labels = renames ? source.labels.withoutMetadata : source.labels;
    const row = Row.empty(labels, scalar.length, source.dropName || drops);
    if (!scalarRow(source, scalar, row, calculate).isEmpty) yield row;
  }
}

/** Operation on two vectors whose series match by labels. */
class VectorOperation {
  readonly #evaluation: Evaluation;
  readonly #node: Binary;
  readonly #matching: Matching;
  /** The side with unique series per group, and the other side. */
  readonly #one: Side;
  readonly #many: Side;
  readonly #swapped: boolean;
  readonly #groups: number;
  readonly #calculate: (left: Value, right: Value) => Outcome | Annotate;
  readonly #results = new Map<string, Row>();
  readonly #ofPair = new Map<number, Row>();
  readonly #stepOf = new Map<Row, number>();
  /** Results of the step by group: the matched groups, and their labels. */
  readonly #matched = new Map<number, Set<string>>();
  readonly #lastAnnotation = new LastAnnotation();

  constructor(evaluation: Evaluation, node: Binary) {
    const matching = node.matching as Matching;
    const { left, right, groups } = groupSides(evaluation.vector(node.left), evaluation.vector(node.right), matching);
    this.#swapped = matching.card === 'one-to-many';
    this.#evaluation = evaluation;
    this.#node = node;
    this.#matching = matching;
    this.#one = this.#swapped ? left : right;
    this.#many = this.#swapped ? right : left;
    this.#groups = groups;
    this.#calculate = elementOperation(node.operator, node);
  }

  rows(): Row[] {
    const { fillLeft, fillRight } = this.#matching;
    const filled = fillLeft !== undefined || fillRight !== undefined;
    if (!filled && (this.#one.rows.length === 0 || this.#many.rows.length === 0)) return [];
    const found = new Int32Array(this.#groups);
    const { count } = this.#evaluation.steps;
    for (let step = 0; step < count; step++) this.#step(step, found, filled);
    this.#evaluation.counts.release((this.#one.rows.length + this.#many.rows.length) * count);
    return [...this.#results.values()].filter((row) => !row.isEmpty);
  }

  #step(step: number, found: Int32Array, filled: boolean): void {
    const present = (side: Side) => side.rows.some((row) => row.present[step] !== absent);
    if (!filled && !(present(this.#many) && present(this.#one))) return;
    rowOfGroups(this.#one, step, found, this.#matching);
    this.#matched.clear();
    const { fillLeft, fillRight } = this.#matching;
    for (const [at, row] of this.#many.rows.entries()) {
      if (row.present[step] === absent) continue;
      const partner = found[this.#many.groups[at] as number] as number;
      if (partner >= 0) this.#pair(step, at, partner, valueAt(row, step), this.#oneValue(partner, step));
      else if (fillRight !== undefined) this.#pair(step, at, -1, valueAt(row, step), fillRight);
    }
    if (fillLeft !== undefined) this.#fillMany(step, fillLeft);
    this.#lastAnnotation.emit(this.#evaluation);
  }

  #oneValue(at: number, step: number): Value {
    return valueAt(this.#one.rows[at] as Row, step);
  }

  #fillMany(step: number, fill: number): void {
    for (const [at, row] of this.#one.rows.entries()) {
      if (row.present[step] === absent || this.#matched.has(this.#one.groups[at] as number)) continue;
      this.#pair(step, -1, at, fill, valueAt(row, step));
    }
  }

  #pair(step: number, many: number, one: number, manyValue: Value, oneValue: Value): void {
    const { bool } = this.#node;
    const outcome = this.#lastAnnotation.outcome(this.#evaluation, this.#node, () =>
      this.#swapped ? this.#calculate(oneValue, manyValue) : this.#calculate(manyValue, oneValue),
    );
    if (outcome === undefined) return;
    const row = this.#result(many, one);
    this.#match(many, one, row.labels);
    if (!outcome.passes && !bool) return;
    if (this.#stepOf.get(row) === step) throw new PromqlExecutionError(sameLabels);
    this.#stepOf.set(row, step);
    row.put(step, bool ? Number(outcome.passes) : outcome.value);
  }

  /** Throws if a group has duplicate results. */
  #match(many: number, one: number, labels: LabelSet): void {
    const group = (many >= 0 ? this.#many.groups[many] : this.#one.groups[one]) as number;
    const known = this.#matched.get(group);
    if (known === undefined) {
      this.#matched.set(group, new Set([labels.key]));
      return;
    }
    if (this.#matching.card === 'one-to-one')
      throw new PromqlExecutionError(
        'multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)',
      );
    if (known.has(labels.key))
      throw new PromqlExecutionError('multiple matches for labels: grouping labels must ensure unique matches');
    known.add(labels.key);
  }

  /** Returns the row of a result, computed once for each pair of series. */
  #result(many: number, one: number): Row {
    const pair = (many + 1) * (this.#one.rows.length + 1) + one + 1;
    const known = this.#ofPair.get(pair);
    if (known !== undefined) return known;
    const { operator, bool } = this.#node;
    const { counts, options, steps } = this.#evaluation;
    const first = this.#many.rows[many]?.labels;
    const second = this.#one.rows[one]?.labels;
    const filled = matchedLabels((first ?? second) as LabelSet, this.#matching);
    const drops = (bool && !options.delayedNameRemoval) || changesMetric(operator);
    const labels = resultLabels(first ?? filled, second ?? filled, this.#matching, drops);
    const row = this.#results.get(labels.key) ?? Row.counted(counts, labels, steps.count, bool);
    this.#results.set(labels.key, row);
    this.#ofPair.set(pair, row);
    return row;
  }
}

/** Returns the rows of an operation with at least one vector. */
export const binaryRows = (evaluation: Evaluation, node: Binary): Iterable<Row> => {
  if (typeOf(node.left) !== 'vector' || typeOf(node.right) !== 'vector')
    return renamed(evaluation, withScalar(evaluation, node));
  return isSetOperator(node.operator) ? setRows(evaluation, node) : new VectorOperation(evaluation, node).rows();
};
