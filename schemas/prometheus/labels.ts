/** Prometheus's requirements for the label names of a series. */
import { PermanentError } from '../errors.ts';

/** Far above real use; limits the cost of the search for duplicates. */
const maxLabels = 10_000;

const metricName = Buffer.from('__name__');

const compare = (bytes: Uint8Array, a: number, aEnd: number, b: number, bEnd: number): number => {
  const shared = Math.min(aEnd - a, bEnd - b);
  for (let index = 0; index < shared; index++) {
    const difference = (bytes[a + index] as number) - (bytes[b + index] as number);
    if (difference !== 0) return difference;
  }
  return aEnd - a - (bEnd - b);
};

/**
 * Validates the label names of one series (or exemplar) at a time. Stores only positions in the body, and is reusable.
 */
export class LabelNames {
  readonly #bytes: Uint8Array;
  /** Start and end of each name. */
  #ranges = new Int32Array(64);
  #length = 0;
  #sorted = true;
  #named = false;
  /** Whether the last added name is `__name__`. */
  isName = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Starts the next series. */
  reset(): void {
    this.#length = 0;
    this.#sorted = true;
    this.#named = false;
  }

  /** Adds the name between `start` and `end`. `at` is the position for an error. */
  add(start: number, end: number, at: number): void {
    if (start === end) throw new PermanentError('bad-labels', 'a label has no name', { position: at });
    if (this.#length === maxLabels * 2) {
      throw new PermanentError('bad-labels', `a series has more than ${maxLabels} labels`, { position: at });
    }
    if (this.#length === this.#ranges.length) {
      const larger = new Int32Array(this.#length * 2);
      larger.set(this.#ranges);
      this.#ranges = larger;
    }
    this.isName = !this.#named && end - start === metricName.length && this.#text(start, end) === '__name__';
    if (this.isName) this.#named = true;
    if (this.#length > 0 && this.#sorted) {
      const previous = this.#ranges[this.#length - 2] as number;
      const order = compare(this.#bytes, previous, this.#ranges[this.#length - 1] as number, start, end);
      if (order === 0) throw this.#duplicate(start, end, at);
      this.#sorted = order < 0;
    }
    this.#ranges[this.#length++] = start;
    this.#ranges[this.#length++] = end;
  }

  /**
   * Removes the `__name__` that was just added, because its value is empty. Prometheus treats this as a missing label.
   */
  unname(): void {
    this.#named = false;
  }

  /** Ends the series. Senders must sort labels, but only duplicate labels are refused. */
  check(at: number, mustBeNamed: boolean): void {
    if (mustBeNamed && !this.#named) {
      throw new PermanentError('bad-labels', 'a series has no label __name__', { position: at });
    }
    if (this.#sorted) return;
    const names = new Set<string>();
    for (let index = 0; index < this.#length; index += 2) {
      const start = this.#ranges[index] as number;
      const end = this.#ranges[index + 1] as number;
      const name = this.#text(start, end);
      if (names.has(name)) throw this.#duplicate(start, end, at);
      names.add(name);
    }
  }

  #text(start: number, end: number): string {
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start, end - start).toString('latin1');
  }

  #duplicate(start: number, end: number, at: number): PermanentError {
    const name = Buffer.from(this.#bytes.subarray(start, Math.min(end, start + 100))).toString();
    return new PermanentError('bad-labels', `a series has the label ${name} twice`, { position: at });
  }
}
