/**
 * Finds which of a few dozen texts occur in UTF-8 bytes, checking only every few positions. A text of six bytes, for
 * example, contains three-byte runs at four consecutive positions, so checking every fourth position finds one of them.
 */
import { equalsAt, equalsIgnoringCaseAt } from './equal-bytes.ts';

interface RunEntry {
  readonly id: number;
  readonly bytes: Uint8Array;
  /** Offset of the run in the text. */
  readonly runOffset: number;
}

const runLength = 3;
/** A larger step would need more runs in the filter, and save little. */
const maxStep = 8;

/** Five bits of each byte of a run */
const computeSlot = (first: number, second: number, third: number): number =>
  ((first & 31) << 10) | ((second & 31) << 5) | (third & 31);

export class ByteTextSearcher {
  /** Number of the entry for the slot of a run; 0 for none, as for nearly all runs */
  readonly #slots = new Uint16Array(2 ** 15);
  readonly #entries: RunEntry[][] = [[]];
  /**
   * Bit sets of the bytes that may follow the run, by five of their bits. They reject most runs that share a slot with
   * a text.
   */
  readonly #followingBytes: number[] = [0];
  readonly #step: number;

  readonly #compare: typeof equalsAt;

  /**
   * Texts must have at least three bytes. Their numbers are their indexes. With `ignoresCase`, texts are in lower case,
   * and equal ASCII letters in either case.
   */
  constructor(texts: Iterable<string>, { ignoresCase = false } = {}) {
    this.#compare = ignoresCase ? equalsIgnoringCaseAt : equalsAt;
    const textBytes = Array.from(texts, (text) => Buffer.from(text, 'utf8'));
    this.#step = Math.min(maxStep, ...textBytes.map(({ length }) => length - runLength + 1));
    if (this.#step < 1) throw new TypeError('a text of fewer than three bytes cannot be searched for');
    for (const [id, bytes] of textBytes.entries())
      for (let runOffset = 0; runOffset < this.#step; runOffset++) this.#addEntry({ id, bytes, runOffset });
  }

  /** Calls `onFound` with the number and the end of each text between two positions, possibly several times. */
  scan(bytes: Uint8Array, from: number, to: number, onFound: (id: number, end: number) => void): void {
    const slots = this.#slots;
    const step = this.#step;
    const last = to - runLength;
    for (let position = from; position <= last; position += step) {
      const entryNumber = slots[
        computeSlot(bytes[position] as number, bytes[position + 1] as number, bytes[position + 2] as number)
      ] as number;
      if (entryNumber === 0) continue;
      const following = this.#followingBytes[entryNumber] as number;
      if ((following & (1 << ((bytes[position + runLength] ?? 0) & 31))) !== 0)
        this.#compareTexts(this.#entries[entryNumber] as RunEntry[], bytes, position, [from, to], onFound);
    }
  }

  /** Compares the texts whose run matches the one at a position. */
  #compareTexts(
    entries: readonly RunEntry[],
    bytes: Uint8Array,
    position: number,
    [from, to]: readonly [number, number],
    onFound: (id: number, end: number) => void,
  ): void {
    for (let index = 0; index < entries.length; index++) {
      const { id, bytes: textBytes, runOffset } = entries[index] as RunEntry;
      const start = position - runOffset;
      const end = start + textBytes.length;
      if (start >= from && end <= to && this.#compare(bytes, start, textBytes)) onFound(id, end);
    }
  }

  #addEntry(entry: RunEntry): void {
    const { bytes, runOffset } = entry;
    const [first = 0, second = 0, third = 0] = bytes.subarray(runOffset);
    const slot = computeSlot(first, second, third);
    const entryNumber = this.#slots[slot] || this.#entries.push([]) - 1;
    this.#slots[slot] = entryNumber;
    this.#entries[entryNumber]?.push(entry);
    const next = bytes[runOffset + runLength];
    this.#followingBytes[entryNumber] =
      (this.#followingBytes[entryNumber] ?? 0) | (next === undefined ? -1 : 1 << (next & 31));
  }
}
