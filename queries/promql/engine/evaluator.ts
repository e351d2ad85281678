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
import {
  evaluateHistogramFraction,
  evaluateHistogramQuantile,
  evaluateHistogramQuantiles,
} from './classic-histograms.ts';
import { type EngineOptions, type Evaluation, getReferenceTime, type SampleCounts } from './context.ts';
import { evaluateLabelJoin, evaluateLabelReplace } from './label-functions.ts';
import { getScalarOperation } from './operators.ts';
import { collectEqualityLabels, evaluateAbsent, evaluateRangeCall, findRangeArgument } from './range-calls.ts';
import { absent, float, getStepTimeMs, histogram, mergeRows, Row, type Steps } from './rows.ts';
import { cellsPerSample } from './samples.ts';
import { evaluateSampleTimes, evaluateSelector } from './selectors.ts';
import { evaluateSort } from './sort.ts';
import { evaluateElementFunction, evaluateStepTimes, mergeRenamed, scalarToVector } from './vector-functions.ts';

/** State shared by all parts of one query. */
export interface EvaluationState {
  readonly options: EngineOptions;
  readonly annotations: Annotations;
  readonly counts: SampleCounts;
  readonly read: (node: Expression) => Iterable<Series>;
}

/** Evaluates expressions for steps. Series are processed one after the other where the expression permits it. */
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
        return node.operator === '-' ? this.#negate(node) : this.vector(node.innerExpression);
      case 'parentheses':
        return this.vector(node.innerExpression);
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
        return range === undefined
          ? []
          : evaluateAbsent(this, evaluateRangeCall(this, node, range), collectEqualityLabels(first));
      case 'absent':
        return evaluateAbsent(this, this.vector(first), collectEqualityLabels(first));
      case 'label_replace':
        return evaluateLabelReplace(this, node);
      case 'label_join':
        return evaluateLabelJoin(this, node);
      case 'info':
        return evaluateInfo(this, node);
      case 'histogram_quantile':
        return evaluateHistogramQuantile(this, node);
      case 'histogram_quantiles':
        return evaluateHistogramQuantiles(this, node);
      case 'histogram_fraction':
        return evaluateHistogramFraction(this, node);
      case 'vector':
        return scalarToVector(this, first);
      case 'timestamp':
      case 'start_timestamp':
        return this.#evaluateTimestamps(node);
      default:
        return range === undefined ? this.#evaluateVectorCall(node) : evaluateRangeCall(this, node, range);
    }
  }

  #evaluateVectorCall(node: Call): Iterable<Row> {
    return node.signature.name.startsWith('sort')
      ? evaluateSort(this, node)
      : (evaluateElementFunction(this, node) ?? []);
  }

  #evaluateTimestamps(node: Call): Iterable<Row> {
    const [first] = node.args as [Expression];
    const returnsStartTimes = node.signature.name === 'start_timestamp';
    if (first.kind !== 'selector') return returnsStartTimes ? [] : mergeRenamed(this, evaluateStepTimes(this, first));
    const rows: Row[] = [];
    for (const row of evaluateSampleTimes(this, first, returnsStartTimes))
      rows.push(row.withLabels(this.options.delayedNameRemoval ? row.labels : row.labels.withoutMetadata, true));
    return mergeRenamed(this, rows);
  }

  #negate(node: Unary): Row[] {
    const rows: Row[] = [];
    for (const source of this.vector(node.innerExpression)) {
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
    for (const source of this.withSteps({ ...this.steps, count: 1 }).vector(node.innerExpression)) {
      this.counts.reserveCells(this.steps.count);
      const row = Row.empty(source.labels, this.steps.count, source.shouldDropName);
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
        return this.scalar(node.innerExpression);
      case 'unary': {
        const values = this.scalar(node.innerExpression);
        return node.operator === '-' ? values.map((value) => -value) : values;
      }
      case 'binary':
        return this.#evaluateScalarOperation(node);
      case 'once': {
        const [value = Number.NaN] = this.withSteps({ ...this.steps, count: 1 }).scalar(node.innerExpression);
        return new Float64Array(count).fill(value);
      }
      case 'call':
        return this.#evaluateScalarCall(node);
      default:
        throw new PromqlExecutionError(`unhandled expression of type: ${node.kind}`);
    }
  }

  #evaluateScalarOperation(node: Binary): Float64Array {
    const left = this.scalar(node.left);
    const right = this.scalar(node.right);
    const calculate = getScalarOperation(node.operator);
    return left.map((value, step) => calculate(value, right[step] as number));
  }

  #evaluateScalarCall(node: Call): Float64Array {
    const { count } = this.steps;
    const [first, second] = node.args as [Expression, Expression];
    switch (node.signature.name) {
      case 'time':
        return Float64Array.from({ length: count }, (_, step) => getStepTimeMs(this.steps, step) / 1000);
      case 'pi':
        return new Float64Array(count).fill(Math.PI);
      case 'min_of':
      case 'max_of': {
        const otherValues = this.scalar(second);
        const selectValue = node.signature.name === 'min_of' ? Math.min : Math.max;
        return this.scalar(first).map((value, step) => selectValue(value, otherValues[step] as number));
      }
      default:
        return this.#readSingleValue(first);
    }
  }

  /** `scalar(v)`: the value of the only float of each step, NaN if there is none or more than one. */
  #readSingleValue(node: Expression): Float64Array {
    const { count } = this.steps;
    const values = new Float64Array(count).fill(Number.NaN);
    const seenCounts = new Uint8Array(count);
    for (const row of this.vector(node))
      for (let step = 0; step < count; step++) {
        if (row.kinds[step] !== float) continue;
        values[step] = seenCounts[step] === absent ? (row.values[step] as number) : Number.NaN;
        seenCounts[step] = 1;
      }
    return values;
  }

  subquery(node: Subquery): { readonly steps: Steps; readonly rows: Iterable<Row> } {
    const intervalMs = node.stepMs > 0 ? node.stepMs : this.options.subqueryStepMs;
    const rangeStartMs = getReferenceTime(node, this.steps.startMs) - node.rangeMs;
    const alignedMs = intervalMs * Math.trunc(rangeStartMs / intervalMs);
    const startMs = alignedMs <= rangeStartMs ? alignedMs + intervalMs : alignedMs;
    const endMs = getReferenceTime(node, getStepTimeMs(this.steps, this.steps.count - 1));
    const steps = { startMs, intervalMs, count: Math.max(0, Math.floor((endMs - startMs) / intervalMs) + 1) };
    // Checks the limit for one series before any column is allocated: throws if there are too many steps.
    this.counts.reserveCells(steps.count * (1 + cellsPerSample));
    this.counts.release(steps.count * (1 + cellsPerSample));
    const inner = this.withSteps(steps);
    if (getValueType(node.innerExpression) === 'scalar')
      return { steps, rows: scalarToVector(inner, node.innerExpression) };
    return { steps, rows: inner.vector(node.innerExpression) };
  }
}
