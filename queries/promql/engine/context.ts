import type { Series } from '../series.ts';
import { PromqlLimitError } from '../syntax/errors.ts';
import type { Expression, Subquery, VectorSelector } from '../syntax/tree.ts';
import type { Annotations } from './annotations.ts';
import type { Row, Steps } from './rows.ts';

/** How Prometheus is set up, as far as answers depend on it. */
export interface EngineOptions {
  readonly lookbackMs: number;
  /** Whether names are dropped at the end only (Prometheus' feature `promql-delayed-name-removal`). */
  readonly delayedNameRemoval: boolean;
  /** Whether the times at which counters began count as resets (`use-start-timestamps`). */
  readonly startTimestamps: boolean;
  /** Whether labels `__type__` and `__unit__` say what a metric is (`type-and-unit-labels`). */
  readonly typeAndUnitLabels: boolean;
  /** The step of subqueries that name none. */
  readonly subqueryStepMs: number;
}

/** Prometheus' defaults. */
export const defaultOptions: EngineOptions = {
  lookbackMs: 5 * 60_000,
  delayedNameRemoval: false,
  startTimestamps: false,
  typeAndUnitLabels: false,
  subqueryStepMs: 60_000,
};

/** A value, and what stands at its step. */
const bytesOfCell = 9;
/** Time and value of a point of the answer, and what it takes as text of JSON, which is copied once where it is sent. */
const bytesOfPoint = 90;

/** Characters of a label's value that an evaluation makes, and of the labels that it makes in all. */
const maxLabelCharacters = 65_536;
const maxLabelsCharacters = 100e6;

const tooMany = (): PromqlLimitError =>
  new PromqlLimitError('query processing would load too many samples into memory in query execution');

/** Counts samples as Prometheus' statistics do, and refuses too many. */
export class SampleCounts {
  /** Samples of every step; those of a range count at each step that reads them. */
  total = 0;
  /** The most samples that were held at once. */
  peak = 0;
  /** `total` of each step of the query. */
  readonly perStep: Float64Array;
  #held = 0;
  #bytes = 0;
  #labelCharacters = 0;
  readonly #maxSamples: number;
  readonly #maxBytes: number;

  constructor(steps: number, maxSamples: number, bytes: number) {
    this.perStep = new Float64Array(steps);
    this.#maxSamples = maxSamples;
    this.#maxBytes = bytes;
  }

  /** Takes memory for the columns of a row, before they are there. Rows with few values take as much as others. */
  charge(cells: number): void {
    this.#allocate(cells * bytesOfCell);
  }

  /** Takes memory for points of the answer, before they are there. */
  chargeAnswer(points: number): void {
    this.#allocate(points * bytesOfPoint);
  }

  /** Takes memory for a label, before its value is made. */
  chargeLabel(name: string, characters: number): void {
    if (characters > maxLabelCharacters)
      throw new PromqlLimitError(
        `query processing would make a label value of more than ${maxLabelCharacters} characters`,
      );
    this.#labelCharacters += name.length + characters;
    if (this.#labelCharacters > maxLabelsCharacters)
      throw new PromqlLimitError(`query processing would make labels of more than ${maxLabelsCharacters} characters`);
  }

  #allocate(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) throw tooMany();
  }

  /** Gives the memory of a row back that nobody needs any more. */
  release(cells: number): void {
    this.#bytes = Math.max(0, this.#bytes - cells * bytesOfCell);
  }

  read(count: number, step: number): void {
    this.total += count;
    if (step < this.perStep.length) this.perStep[step] = (this.perStep[step] as number) + count;
  }

  /** Counts samples that stay until the answer. */
  hold(count: number): void {
    this.#held += count;
    this.holdBriefly(0);
  }

  /** Counts samples that are held for a moment beside the others. */
  holdBriefly(count: number): void {
    const held = this.#held + count;
    if (held > this.peak) this.peak = held;
    if (held > this.#maxSamples) throw tooMany();
  }
}

/** What the parts of an evaluation share. A subquery has steps of its own. */
export interface Evaluation {
  readonly steps: Steps;
  readonly options: EngineOptions;
  readonly annotations: Annotations;
  readonly counts: SampleCounts;
  /** The series of a vector, one after the other. */
  vector(node: Expression): Iterable<Row>;
  /** A scalar's value at every step. */
  scalar(node: Expression): Float64Array;
  /** The series that a selector (or a call of `info`) reads. */
  read(node: Expression): Iterable<Series>;
  /** The rows of a subquery, with the steps at which they stand. */
  subquery(node: Subquery): { readonly steps: Steps; readonly rows: Iterable<Row> };
  /** The same evaluation for other steps. */
  over(steps: Steps): Evaluation;
}

/** The time at which a selector or subquery is read for a step: `@` fixes it, `offset` moves it. */
export const referenceTime = (node: VectorSelector | Subquery, timeMs: number): number =>
  (typeof node.at === 'number' ? node.at : timeMs) - node.offsetMs;
