import type { Series } from '../series.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import {
  type Binary,
  type Call,
  type Constant,
  type Expression,
  type Subquery,
  typeOf,
  type Unary,
} from '../syntax/tree.ts';
import { infoRows } from './added-labels.ts';
import { aggregatedRows } from './aggregations.ts';
import type { Annotations } from './annotations.ts';
import { binaryRows } from './binary.ts';
import { histogramFraction, histogramQuantile, histogramQuantiles } from './classic-histograms.ts';
import { type EngineOptions, type Evaluation, referenceTime, type SampleCounts } from './context.ts';
import { labelJoin, labelReplace } from './label-functions.ts';
import { scalarOperation } from './operators.ts';
import { absentRow, labelsOfAbsent, rangeOf, rangeRows } from './range-calls.ts';
import { absent, float, histogram, merged, Row, type Steps, timeOf } from './rows.ts';
import { cellsOfSample } from './samples.ts';
import { sampleTimes, selectedRows } from './selectors.ts';
import { sortedRows } from './sorting.ts';
import { elementRows, renamed, stepTimes, vectorOf } from './vector-functions.ts';

/** State shared by all parts of one query. */
export interface Shared {
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

  constructor(steps: Steps, shared: Shared) {
    this.steps = steps;
    this.options = shared.options;
    this.annotations = shared.annotations;
    this.counts = shared.counts;
    this.read = shared.read;
  }

  over(steps: Steps): Evaluator {
    return new Evaluator(steps, this);
  }

  vector(node: Expression): Iterable<Row> {
    if (this.steps.count <= 0) return [];
    switch (node.kind) {
      case 'selector':
        return selectedRows(this, node);
      case 'call':
        return this.#call(node);
      case 'aggregation':
        return aggregatedRows(this, node);
      case 'binary':
        return binaryRows(this, node);
      case 'unary':
        return node.operator === '-' ? this.#negated(node) : this.vector(node.inner);
      case 'parentheses':
        return this.vector(node.inner);
      case 'once':
        return this.#repeated(node);
      default:
        throw new PromqlExecutionError(`unhandled expression of type: ${node.kind}`);
    }
  }

  #call(node: Call): Iterable<Row> {
    const range = rangeOf(node);
    const [first] = node.args as [Expression];
    switch (node.signature.name) {
      case 'absent_over_time':
        return range === undefined ? [] : absentRow(this, rangeRows(this, node, range), labelsOfAbsent(first));
      case 'absent':
        return absentRow(this, this.vector(first), labelsOfAbsent(first));
      case 'label_replace':
        return labelReplace(this, node);
      case 'label_join':
        return labelJoin(this, node);
      case 'info':
        return infoRows(this, node);
      case 'histogram_quantile':
        return histogramQuantile(this, node);
      case 'histogram_quantiles':
        return histogramQuantiles(this, node);
      case 'histogram_fraction':
        return histogramFraction(this, node);
      case 'vector':
        return vectorOf(this, first);
      case 'timestamp':
      case 'start_timestamp':
        return this.#timestamps(node);
      default:
        return range === undefined ? this.#ofVector(node) : rangeRows(this, node, range);
    }
  }

  #ofVector(node: Call): Iterable<Row> {
    return node.signature.name.startsWith('sort') ? sortedRows(this, node) : (elementRows(this, node) ?? []);
  }

  #timestamps(node: Call): Iterable<Row> {
    const [first] = node.args as [Expression];
    const starts = node.signature.name === 'start_timestamp';
    if (first.kind !== 'selector') return starts ? [] : renamed(this, stepTimes(this, first));
    const rows: Row[] = [];
    for (const row of sampleTimes(this, first, starts))
      rows.push(row.relabeled(this.options.delayedNameRemoval ? row.labels : row.labels.withoutMetadata, true));
    return renamed(this, rows);
  }

  #negated(node: Unary): Row[] {
    const rows: Row[] = [];
    for (const source of this.vector(node.inner)) {
      const labels = this.options.delayedNameRemoval ? source.labels : source.labels.withoutMetadata;
      const row = Row.empty(labels, this.steps.count, true);
      for (let step = 0; step < this.steps.count; step++)
        if (source.present[step] === float) row.set(step, -(source.values[step] as number));
        else if (source.present[step] === histogram) row.setHistogram(step, source.histogram(step).copy().scale(-1));
      rows.push(row);
    }
    return this.options.delayedNameRemoval ? rows : merged(rows);
  }

  /** Evaluates an expression that is equal at every step at the first one only. */
  *#repeated(node: Constant): Iterable<Row> {
    for (const source of this.over({ ...this.steps, count: 1 }).vector(node.inner)) {
      this.counts.charge(this.steps.count);
      const row = Row.empty(source.labels, this.steps.count, source.dropName);
      const value = source.present[0] === float ? (source.values[0] as number) : source.histogram(0);
      for (let step = 0; step < this.steps.count; step++) row.put(step, value);
      this.counts.hold(this.steps.count - 1);
      yield row;
    }
  }

  scalar(node: Expression): Float64Array {
    const { count } = this.steps;
    // This memory is not released: there are few such rows, and their lifetime depends on the context.
    this.counts.charge(count);
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
        const [value = Number.NaN] = this.over({ ...this.steps, count: 1 }).scalar(node.inner);
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
    const calculate = scalarOperation(node.operator);
    return left.map((value, step) => calculate(value, right[step] as number));
  }

  #scalarCall(node: Call): Float64Array {
    const { count } = this.steps;
    const [first, second] = node.args as [Expression, Expression];
    switch (node.signature.name) {
      case 'time':
        return Float64Array.from({ length: count }, (_, step) => timeOf(this.steps, step) / 1000);
      case 'pi':
        return new Float64Array(count).fill(Math.PI);
      case 'min_of':
      case 'max_of': {
        const other = this.scalar(second);
        const choose = node.signature.name === 'min_of' ? Math.min : Math.max;
        return this.scalar(first).map((value, step) => choose(value, other[step] as number));
      }
      default:
        return this.#onlyValue(first);
    }
  }

  /** `scalar(v)`: the value of the only float of each step, NaN if there is none or more than one. */
  #onlyValue(node: Expression): Float64Array {
    const { count } = this.steps;
    const values = new Float64Array(count).fill(Number.NaN);
    const found = new Uint8Array(count);
    for (const row of this.vector(node))
      for (let step = 0; step < count; step++) {
        if (row.present[step] !== float) continue;
        values[step] = found[step] === absent ? (row.values[step] as number) : Number.NaN;
        found[step] = 1;
      }
    return values;
  }

  subquery(node: Subquery): { readonly steps: Steps; readonly rows: Iterable<Row> } {
    const intervalMs = node.stepMs > 0 ? node.stepMs : this.options.subqueryStepMs;
    const beforeMs = referenceTime(node, this.steps.startMs) - node.rangeMs;
    const aligned = intervalMs * Math.trunc(beforeMs / intervalMs);
    const startMs = aligned <= beforeMs ? aligned + intervalMs : aligned;
    const endMs = referenceTime(node, timeOf(this.steps, this.steps.count - 1));
    const steps = { startMs, intervalMs, count: Math.max(0, Math.floor((endMs - startMs) / intervalMs) + 1) };
    // Throws on too many steps of one series before any column is allocated.
    this.counts.charge(steps.count * (1 + cellsOfSample));
    this.counts.release(steps.count * (1 + cellsOfSample));
    const inner = this.over(steps);
    if (typeOf(node.inner) === 'scalar') return { steps, rows: vectorOf(inner, node.inner) };
    return { steps, rows: inner.vector(node.inner) };
  }
}
