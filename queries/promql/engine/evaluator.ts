import type { Series } from '../series.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import {
  type Binary,
  type Call,
  type ConstantExpression,
  type Expression,
  getValueType,
  type Subquery,
  type Unary,
} from '../syntax/tree.ts';
import { evaluateInfo } from './added-labels.ts';
import { evaluateAggregation } from './aggregations.ts';
import type { Annotations } from './annotations.ts';
import { evaluateBinary } from './binary.ts';
import { histogramFraction, histogramQuantile, histogramQuantiles } from './classic-histograms.ts';
import { type EngineOptions, type Evaluation, referenceTime, type SampleCounts } from './context.ts';
import { evaluateLabelJoin, evaluateLabelReplace } from './label-functions.ts';
import { getScalarOperation } from './operators.ts';
import { equalityLabels, evaluateAbsent, findRangeArgument, rangeRows } from './range-calls.ts';
import { absent, float, histogram, mergeRows, Row, type Steps, stepTimeMs } from './rows.ts';
import { cellsPerSample } from './samples.ts';
import { evaluateSelector, sampleTimes } from './selectors.ts';
import { evaluateSort } from './sorting.ts';
import { evaluateElementFunction, mergeRenamed, scalarToVector, stepTimes } from './vector-functions.ts';

/** State shared by all parts of one query. */
export interface EvaluationState {
  readonly options: EngineOptions;
  readonly annotations: Annotations;
  readonly counts: SampleCounts;
  readonly read: (node: Expression) => Iterable<Series>;
}

/** Evaluates expressions for steps. Series are processed in sequence as far as an expression permits. */
export class Evaluator implements Evaluation {
  readonly steps: Steps;
  readonly options: EngineOptions;
  readonly annotations: Annotations;
  readonly counts: SampleCounts;
  readonly read: (node: Expression) => Iterable<Series>;

  constructor(steps: Steps, shared: EvaluationState) {
    this.steps = steps;
    this.options = shared.options;
    this.annotations = shared.annotations;
    this.counts = shared.counts;
    this.read = shared.read;
  }

  withSteps(steps: Steps): Evaluator {
    return new Evaluator(steps, this);
  }

  vector(node: Expression): Iterable<Row> {
    if (this.steps.count <= 0) return [];
    switch (node.kind) {
      case 'selector':
        return evaluateSelector(this, node);
      case 'call':
        return this.#evaluateCall(node);
      case 'aggregation':
        return evaluateAggregation(this, node);
      case 'binary':
        return evaluateBinary(this, node);
      case 'unary':
        return node.operator === '-' ? this.#negate(node) : this.vector(node.inner);
      case 'parentheses':
        return this.vector(node.inner);
      case 'once':
        return this.#repeatFirstStep(node);
      default:
        throw new PromqlExecutionError(`unhandled expression of type: ${node.kind}`);
    }
  }

  #evaluateCall(node: Call): Iterable<Row> {
    const range = findRangeArgument(node);
    const [first] = node.args as [Expression];
    switch (node.signature.name) {
      case 'absent_over_time':
        return range === undefined ? [] : evaluateAbsent(this, rangeRows(this, node, range), equalityLabels(first));
      case 'absent':
        return evaluateAbsent(this, this.vector(first), equalityLabels(first));
      case 'label_replace':
        return evaluateLabelReplace(this, node);
      case 'label_join':
        return evaluateLabelJoin(this, node);
      case 'info':
        return evaluateInfo(this, node);
      case 'histogram_quantile':
        return histogramQuantile(this, node);
      case 'histogram_quantiles':
        return histogramQuantiles(this, node);
      case 'histogram_fraction':
        return histogramFraction(this, node);
      case 'vector':
        return scalarToVector(this, first);
      case 'timestamp':
      case 'start_timestamp':
        return this.#evaluateTimestamps(node);
      default:
        return range === undefined ? this.#evaluateVectorCall(node) : rangeRows(this, node, range);
    }
  }

  #evaluateVectorCall(node: Call): Iterable<Row> {
    return node.signature.name.startsWith('sort')
      ? evaluateSort(this, node)
      : (evaluateElementFunction(this, node) ?? []);
  }

  #evaluateTimestamps(node: Call): Iterable<Row> {
    const [first] = node.args as [Expression];
    const starts = node.signature.name === 'start_timestamp';
    if (first.kind !== 'selector') return starts ? [] : mergeRenamed(this, stepTimes(this, first));
    const rows: Row[] = [];
    for (const row of sampleTimes(this, first, starts))
      rows.push(row.relabeled(this.options.delayedNameRemoval ? row.labels : row.labels.withoutMetadata, true));
    return mergeRenamed(this, rows);
  }

  #negate(node: Unary): Row[] {
    const rows: Row[] = [];
    for (const source of this.vector(node.inner)) {
      const labels = this.options.delayedNameRemoval ? source.labels : source.labels.withoutMetadata;
      const row = Row.empty(labels, this.steps.count, true);
      for (let step = 0; step < this.steps.count; step++)
        if (source.kinds[step] === float) row.set(step, -(source.values[step] as number));
        else if (source.kinds[step] === histogram) row.setHistogram(step, source.histogram(step).copy().scale(-1));
      rows.push(row);
    }
    return this.options.delayedNameRemoval ? rows : mergeRows(rows);
  }

  /** Evaluates a constant expression only at the first step, and repeats its result at every step. */
  *#repeatFirstStep(node: ConstantExpression): Iterable<Row> {
    for (const source of this.withSteps({ ...this.steps, count: 1 }).vector(node.inner)) {
      this.counts.reserveCells(this.steps.count);
      const row = Row.empty(source.labels, this.steps.count, source.dropName);
      const value = source.kinds[0] === float ? (source.values[0] as number) : source.histogram(0);
      for (let step = 0; step < this.steps.count; step++) row.setValue(step, value);
      this.counts.retain(this.steps.count - 1);
      yield row;
    }
  }

  scalar(node: Expression): Float64Array {
    const { count } = this.steps;
    // This memory is never released: there are few scalars, and their lifetime depends on the context.
    this.counts.reserveCells(count);
    switch (node.kind) {
      case 'number':
        return new Float64Array(count).fill(node.value);
      case 'parentheses':
        return this.scalar(node.inner);
      case 'unary': {
        const values = this.scalar(node.inner);
        return node.operator === '-' ? values.map((value) => -value) : values;
      }
      case 'binary':
        return this.#scalarOperation(node);
      case 'once': {
        const [value = Number.NaN] = this.withSteps({ ...this.steps, count: 1 }).scalar(node.inner);
        return new Float64Array(count).fill(value);
      }
      case 'call':
        return this.#scalarCall(node);
      default:
        throw new PromqlExecutionError(`unhandled expression of type: ${node.kind}`);
    }
  }

  #scalarOperation(node: Binary): Float64Array {
    const left = this.scalar(node.left);
    const right = this.scalar(node.right);
    const calculate = getScalarOperation(node.operator);
    return left.map((value, step) => calculate(value, right[step] as number));
  }

  #scalarCall(node: Call): Float64Array {
    const { count } = this.steps;
    const [first, second] = node.args as [Expression, Expression];
    switch (node.signature.name) {
      case 'time':
        return Float64Array.from({ length: count }, (_, step) => stepTimeMs(this.steps, step) / 1000);
      case 'pi':
        return new Float64Array(count).fill(Math.PI);
      case 'min_of':
      case 'max_of': {
        const other = this.scalar(second);
        const choose = node.signature.name === 'min_of' ? Math.min : Math.max;
        return this.scalar(first).map((value, step) => choose(value, other[step] as number));
      }
      default:
        return this.#readOnlyValue(first);
    }
  }

  /** `scalar(v)`: the value of the only float of each step, NaN if there is none or more than one. */
  #readOnlyValue(node: Expression): Float64Array {
    const { count } = this.steps;
    const values = new Float64Array(count).fill(Number.NaN);
    const found = new Uint8Array(count);
    for (const row of this.vector(node))
      for (let step = 0; step < count; step++) {
        if (row.kinds[step] !== float) continue;
        values[step] = found[step] === absent ? (row.values[step] as number) : Number.NaN;
        found[step] = 1;
      }
    return values;
  }

  subquery(node: Subquery): { readonly steps: Steps; readonly rows: Iterable<Row> } {
    const intervalMs = node.stepMs > 0 ? node.stepMs : this.options.subqueryStepMs;
    const beforeMs = referenceTime(node, this.steps.startMs) - node.rangeMs;
    const alignedMs = intervalMs * Math.trunc(beforeMs / intervalMs);
    const startMs = alignedMs <= beforeMs ? alignedMs + intervalMs : alignedMs;
    const endMs = referenceTime(node, stepTimeMs(this.steps, this.steps.count - 1));
    const steps = { startMs, intervalMs, count: Math.max(0, Math.floor((endMs - startMs) / intervalMs) + 1) };
    // Checks the limit for one series before any column is allocated: throws if there are too many steps.
    this.counts.reserveCells(steps.count * (1 + cellsPerSample));
    this.counts.release(steps.count * (1 + cellsPerSample));
    const inner = this.withSteps(steps);
    if (getValueType(node.inner) === 'scalar') return { steps, rows: scalarToVector(inner, node.inner) };
    return { steps, rows: inner.vector(node.inner) };
  }
}
