import type { Series } from '../series.ts';
import { PromqlLimitError } from '../syntax/errors.ts';
import type { Expression, Subquery, VectorSelector } from '../syntax/tree.ts';
import type { Annotations } from './annotations.ts';
import type { Row, Steps } from './rows.ts';

/** Prometheus settings that affect results. */
export interface EngineOptions {
  readonly lookbackMs: number;
  /**
   * Whether metric names are removed only at the end of the evaluation (Prometheus' feature
   * `promql-delayed-name-removal`).
   */
  readonly delayedNameRemoval: boolean;
  /** Whether start times of counters count as resets (`use-start-timestamps`). */
  readonly startTimestamps: boolean;
  /** Whether labels `__type__` and `__unit__` describe the metric (`type-and-unit-labels`). */
  readonly typeAndUnitLabels: boolean;
  /** Default step of subqueries. */
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

/** Bytes of a value, and of the flag at its step. */
const bytesPerCell = 9;
/** Bytes of the time and value of a point, and of its JSON text, which is copied once when sent. */
const bytesPerPoint = 90;

/** Maximum number of characters of a label value created by an evaluation, and of all created labels. */
const maxLabelCharacters = 65_536;
const maxTotalLabelCharacters = 100e6;

const createTooManySamplesError = (): PromqlLimitError =>
  new PromqlLimitError('query processing would load too many samples into memory in query execution');

/** Counts samples as Prometheus' query statistics do, and throws if a limit is exceeded. */
export class SampleCounts {
  /** Number of samples read in all steps; a sample of a range counts once for each step that reads it. */
  total = 0;
  /** Maximum number of samples held at once. */
  peak = 0;
  /** `total` for each step of the query. */
  readonly totalByStep: Float64Array;
  #retained = 0;
  #bytes = 0;
  #labelCharacters = 0;
  readonly #maxSamples: number;
  readonly #maxBytes: number;

  constructor(steps: number, maxSamples: number, maxBytes: number) {
    this.totalByStep = new Float64Array(steps);
    this.#maxSamples = maxSamples;
    this.#maxBytes = maxBytes;
  }

  /** Reserves memory for the columns of a row before they are allocated. Sparse rows take as much as others. */
  reserveCells(cells: number): void {
    this.#allocate(cells * bytesPerCell);
  }

  /** Reserves memory for points of the result before they are created. */
  reservePoints(points: number): void {
    this.#allocate(points * bytesPerPoint);
  }

  /** Reserves memory for a label before its value is created. */
  reserveLabel(name: string, characters: number): void {
    if (characters > maxLabelCharacters)
      throw new PromqlLimitError(
        `query processing would make a label value of more than ${maxLabelCharacters} characters`,
      );
    this.#labelCharacters += name.length + characters;
    if (this.#labelCharacters > maxTotalLabelCharacters)
      throw new PromqlLimitError(
        `query processing would make labels of more than ${maxTotalLabelCharacters} characters`,
      );
  }

  #allocate(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) throw createTooManySamplesError();
  }

  /** Releases the memory of a row that is no longer used. */
  release(cells: number): void {
    this.#bytes = Math.max(0, this.#bytes - cells * bytesPerCell);
  }

  read(count: number, step: number): void {
    this.total += count;
    if (step < this.totalByStep.length) this.totalByStep[step] = (this.totalByStep[step] as number) + count;
  }

  /** Counts samples that are retained until the result. */
  retain(count: number): void {
    this.#retained += count;
    this.updatePeak(0);
  }

  /** Counts samples that are held temporarily in addition to others. */
  updatePeak(count: number): void {
    const heldSamples = this.#retained + count;
    if (heldSamples > this.peak) this.peak = heldSamples;
    if (heldSamples > this.#maxSamples) throw createTooManySamplesError();
  }
}

/** State shared by the parts of an evaluation. A subquery has its own steps. */
export interface Evaluation {
  readonly steps: Steps;
  readonly options: EngineOptions;
  readonly annotations: Annotations;
  readonly counts: SampleCounts;
  /** Yields the series of a vector in sequence. */
  vector(node: Expression): Iterable<Row>;
  /** Returns a scalar's value at every step. */
  scalar(node: Expression): Float64Array;
  /** Yields the series that a selector (or a call of `info`) reads. */
  read(node: Expression): Iterable<Series>;
  /** Returns the rows of a subquery, with their steps. */
  subquery(node: Subquery): { readonly steps: Steps; readonly rows: Iterable<Row> };
  /** Returns the same evaluation for other steps. */
  withSteps(steps: Steps): Evaluation;
}

/** Returns the time at which a selector or subquery is read for a step: `@` fixes it, `offset` shifts it. */
export const getReferenceTime = (node: VectorSelector | Subquery, timeMs: number): number =>
  (typeof node.at === 'number' ? node.at : timeMs) - node.offsetMs;
