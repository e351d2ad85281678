import type { Histogram } from '../histograms/histogram.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import type { LabelSet } from './labels.ts';

/** Times at which an expression is evaluated. */
export interface Steps {
  readonly startMs: number;
  readonly intervalMs: number;
  readonly count: number;
}

export const getStepTimeMs = (steps: Steps, step: number): number => steps.startMs + step * steps.intervalMs;

/** Counter of the memory of columns. */
interface MemoryCounter {
  reserveCells(cells: number): void;
}

/** Kinds of the value at a step of a row. */
export const absent = 0;
export const float = 1;
export const histogram = 2;

/** A series of results: a column of values over the steps, and a flag for each step with a value. */
export class Row {
  readonly labels: LabelSet;
  /** Whether the metric's name is dropped at the end. */
  shouldDropName: boolean;
  readonly values: Float64Array;
  /** For each step: nothing, a float or a histogram. */
  readonly kinds: Uint8Array;
  histograms: (Histogram | undefined)[] | undefined;

  constructor(labels: LabelSet, shouldDropName: boolean, values: Float64Array, kinds: Uint8Array) {
    this.labels = labels;
    this.shouldDropName = shouldDropName;
    this.values = values;
    this.kinds = kinds;
  }

  static empty(labels: LabelSet, steps: number, shouldDropName = false): Row {
    return new Row(labels, shouldDropName, new Float64Array(steps), new Uint8Array(steps));
  }

  /** Creates a row after reserving its memory. */
  static createCounted(counts: MemoryCounter, labels: LabelSet, steps: number, shouldDropName = false): Row {
    counts.reserveCells(steps);
    return Row.empty(labels, steps, shouldDropName);
  }

  set(step: number, value: number): void {
    this.values[step] = value;
    this.kinds[step] = float;
  }

  setHistogram(step: number, value: Histogram): void {
    this.histograms ??= new Array(this.values.length);
    this.histograms[step] = value;
    this.kinds[step] = histogram;
  }

  setValue(step: number, value: number | Histogram): void {
    if (typeof value === 'number') this.set(step, value);
    else this.setHistogram(step, value);
  }

  /** Returns the histogram at a step that has one. */
  histogram(step: number): Histogram {
    return (this.histograms as Histogram[])[step] as Histogram;
  }

  get isEmpty(): boolean {
    return !this.kinds.includes(float) && !this.kinds.includes(histogram);
  }

  /** Returns the same values with other labels; both share their columns. */
  withLabels(labels: LabelSet, shouldDropName: boolean): Row {
    const row = new Row(labels, shouldDropName, this.values, this.kinds);
    row.histograms = this.histograms;
    return row;
  }

  /** Copies the value at a step of another row. */
  copyFrom(other: Row, step: number): void {
    if (other.kinds[step] === histogram) this.setHistogram(step, other.histogram(step));
    else this.set(step, other.values[step] as number);
  }
}

export const duplicateLabelsMessage = 'vector cannot contain metrics with the same labelset';

/** Merges rows with equal labels, provided that they have no values at the same step. */
export const mergeRows = (rows: Iterable<Row>): Row[] => {
  const byKey = new Map<string, Row>();
  for (const row of rows) {
    const mergedRow = byKey.get(row.labels.key);
    if (mergedRow === undefined) byKey.set(row.labels.key, row);
    else mergeInto(mergedRow, row);
  }
  return [...byKey.values()];
};

const mergeInto = (mergedRow: Row, row: Row): void => {
  for (let step = 0; step < row.kinds.length; step++) {
    if (row.kinds[step] === absent) continue;
    if (mergedRow.kinds[step] !== absent) throw new PromqlExecutionError(duplicateLabelsMessage);
    mergedRow.copyFrom(row, step);
  }
};
