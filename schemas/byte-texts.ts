/**
 * Finds which of a few dozen texts occur in UTF-8 bytes, checking only every few positions. A text of six bytes, for
 * example, contains a run of three bytes at four consecutive positions, so checking every fourth position finds one.
 */
import { equalsAt } from './is-run.ts';

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

export class ByteTexts {
  /** Number of the entry for the slot of a run; 0 for none, as for nearly all runs */
  readonly #slots = new Uint16Array(2 ** 15);
  readonly #entries: RunEntry[][] = [[]];
  /**
   * Bit sets of the bytes that may follow the run, by five of their bits. They reject most runs that share a slot with
   * a text.
   */
  readonly #followingBytes: number[] = [0];
  readonly #step: number;

  /** Texts must have at least three bytes. Their numbers are their indexes. */
  constructor(texts: Iterable<string>) {
    const all = Array.from(texts, (text) => Buffer.from(text, 'utf8'));
    this.#step = Math.min(maxStep, ...all.map(({ length }) => length - runLength + 1));
    if (this.#step < 1) throw new TypeError('a text of fewer than three bytes cannot be searched for');
    for (const [id, bytes] of all.entries())
      for (let runOffset = 0; runOffset < this.#step; runOffset++) this.#addEntry({ id, bytes, runOffset });
  }

  /** Calls `found` with the number of each text that occurs between two positions, possibly several times. */
  scan(bytes: Uint8Array, from: number, to: number, onFound: (id: number) => void): void {
    const slots = this.#slots;
    const step = this.#step;
    const last = to - runLength;
    for (let at = from; at <= last; at += step) {
      const number = slots[
        computeSlot(bytes[at] as number, bytes[at + 1] as number, bytes[at + 2] as number)
      ] as number;
      if (number === 0) continue;
      const following = this.#followingBytes[number] as number;
      if ((following & (1 << ((bytes[at + runLength] ?? 0) & 31))) !== 0)
        compareTexts(this.#entries[number] as RunEntry[], bytes, at, [from, to], onFound);
    }
  }

  #addEntry(place: RunEntry): void {
    const { bytes, runOffset } = place;
    const [first = 0, second = 0, third = 0] = bytes.subarray(runOffset);
    const slot = computeSlot(first, second, third);
    const number = this.#slots[slot] || this.#entries.push([]) - 1;
    this.#slots[slot] = number;
    this.#entries[number]?.push(place);
    const next = bytes[runOffset + runLength];
    this.#followingBytes[number] = (this.#followingBytes[number] ?? 0) | (next === undefined ? -1 : 1 << (next & 31));
  }
}

/** Compares the texts whose run matches the one at a position. */
const compareTexts = (
  places: readonly RunEntry[],
  bytes: Uint8Array,
  position: number,
  [from, to]: readonly [number, number],
  found: (id: number) => void,
): void => {
  for (let index = 0; index < places.length; index++) {
    const { id, bytes: textBytes, runOffset } = places[index] as RunEntry;
    const start = position - runOffset;
    if (start >= from && start + textBytes.length <= to && equalsAt(bytes, start, textBytes)) found(id);
  }
};
