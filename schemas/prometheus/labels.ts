/** Prometheus's requirements for the label names of a series. */
import { PermanentError } from '../errors.ts';

/** Far above real use; limits the cost of the search for duplicates. */
const maxLabels = 10_000;

const metricName = Buffer.from('__name__');

const compareRanges = (
  bytes: Uint8Array,
  leftStart: number,
  leftEnd: number,
  rightStart: number,
  rightEnd: number,
): number => {
  const sharedLength = Math.min(leftEnd - leftStart, rightEnd - rightStart);
  for (let index = 0; index < sharedLength; index++) {
    const difference = (bytes[leftStart + index] as number) - (bytes[rightStart + index] as number);
    if (difference !== 0) return difference;
  }
  return leftEnd - leftStart - (rightEnd - rightStart);
};

/**
 * Validates the label names of one series (or exemplar) at a time. Stores only positions in the body, and is reusable.
 */
export class LabelNameValidator {
  readonly #bytes: Uint8Array;
  /** Start and end of each name. */
  #ranges = new Int32Array(64);
  #length = 0;
  #isSorted = true;
  #hasMetricName = false;
  /** Whether the last added name is `__name__`. */
  isMetricName = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Starts the next series. */
  reset(): void {
    this.#length = 0;
    this.#isSorted = true;
    this.#hasMetricName = false;
  }

  /** Adds the name between `start` and `end`. `at` is the position for an error. */
  add(start: number, end: number, position: number): void {
    if (start === end) throw new PermanentError('bad-labels', 'a label has no name', { position: position });
    if (this.#length === maxLabels * 2) {
      throw new PermanentError('bad-labels', `a series has more than ${maxLabels} labels`, { position: position });
    }
    if (this.#length === this.#ranges.length) {
      const grownRanges = new Int32Array(this.#length * 2);
      grownRanges.set(this.#ranges);
      this.#ranges = grownRanges;
    }
    this.isMetricName =
      !this.#hasMetricName && end - start === metricName.length && this.#decodeRange(start, end) === '__name__';
    if (this.isMetricName) this.#hasMetricName = true;
    if (this.#length > 0 && this.#isSorted) {
      const previous = this.#ranges[this.#length - 2] as number;
      const order = compareRanges(this.#bytes, previous, this.#ranges[this.#length - 1] as number, start, end);
      if (order === 0) throw this.#createDuplicateError(start, end, position);
      this.#isSorted = order < 0;
    }
    this.#ranges[this.#length++] = start;
    this.#ranges[this.#length++] = end;
  }

  /**
   * Removes the `__name__` that was just added, because its value is empty. Prometheus treats this as a missing label.
   */
  removeMetricName(): void {
    this.#hasMetricName = false;
  }

  /** Ends the series. Senders must sort labels, but only duplicate labels are rejected. */
  requireValid(position: number, requiresMetricName: boolean): void {
    if (requiresMetricName && !this.#hasMetricName) {
      throw new PermanentError('bad-labels', 'a series has no label __name__', { position: position });
    }
    if (this.#isSorted) return;
    const names = new Set<string>();
    for (let index = 0; index < this.#length; index += 2) {
      const start = this.#ranges[index] as number;
      const end = this.#ranges[index + 1] as number;
      const name = this.#decodeRange(start, end);
      if (names.has(name)) throw this.#createDuplicateError(start, end, position);
      names.add(name);
    }
  }

  #decodeRange(start: number, end: number): string {
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start, end - start).toString('latin1');
  }

  #createDuplicateError(start: number, end: number, position: number): PermanentError {
    const name = Buffer.from(this.#bytes.subarray(start, Math.min(end, start + 100))).toString();
    return new PermanentError('bad-labels', `a series has the label ${name} twice`, { position: position });
  }
}
