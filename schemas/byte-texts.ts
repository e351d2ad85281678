/**
 * Finds which of a few dozen texts occur in UTF-8. Only every few bytes are looked at: a text of six bytes has a run of three that begins
 * at one of four neighbouring positions, whichever of them it is.
 */
import { isRun } from './is-run.ts';

interface Place {
  readonly id: number;
  readonly bytes: Uint8Array;
  /** Where in the text the run begins. */
  readonly at: number;
}

const runLength = 3;
/** More steps would need more runs in the filter, and save little. */
const maxStep = 8;

/** Five bits of each byte of a run. */
const slotOf = (first: number, second: number, third: number): number =>
  ((first & 31) << 10) | ((second & 31) << 5) | (third & 31);

export class ByteTexts {
  /** Number of the places whose run has that slot; 0 for none, which nearly all runs have. */
  readonly #slots = new Uint16Array(2 ** 15);
  readonly #places: Place[][] = [[]];
  /** Bits of the bytes that may follow such a run, by five of theirs: most runs that have the slot of a text's are told apart by it. */
  readonly #following: number[] = [0];
  readonly #step: number;

  /** Texts of three bytes or more; their numbers are those of their order. */
  constructor(texts: Iterable<string>) {
    const all = Array.from(texts, (text) => Buffer.from(text, 'utf8'));
    this.#step = Math.min(maxStep, ...all.map(({ length }) => length - runLength + 1));
    if (this.#step < 1) throw new TypeError('a text of fewer than three bytes cannot be looked for');
    for (const [id, bytes] of all.entries()) for (let at = 0; at < this.#step; at++) this.#post({ id, bytes, at });
  }

  /** Calls `found` with the number of each text that occurs between two positions, perhaps several times. */
  scan(bytes: Uint8Array, from: number, to: number, found: (id: number) => void): void {
    const slots = this.#slots;
    const step = this.#step;
    const last = to - runLength;
    for (let at = from; at <= last; at += step) {
      const number = slots[slotOf(bytes[at] as number, bytes[at + 1] as number, bytes[at + 2] as number)] as number;
      if (number === 0) continue;
      const following = this.#following[number] as number;
      if ((following & (1 << ((bytes[at + runLength] ?? 0) & 31))) !== 0)
        compare(this.#places[number] as Place[], bytes, at, [from, to], found);
    }
  }

  #post(place: Place): void {
    const { bytes, at } = place;
    const [first = 0, second = 0, third = 0] = bytes.subarray(at);
    const slot = slotOf(first, second, third);
    const number = this.#slots[slot] || this.#places.push([]) - 1;
    this.#slots[slot] = number;
    this.#places[number]?.push(place);
    const next = bytes[at + runLength];
    this.#following[number] = (this.#following[number] ?? 0) | (next === undefined ? -1 : 1 << (next & 31));
  }
}

/** Compares texts that have a run like the one which begins at a position. */
const compare = (
  places: readonly Place[],
  bytes: Uint8Array,
  position: number,
  [from, to]: readonly [number, number],
  found: (id: number) => void,
): void => {
  for (let index = 0; index < places.length; index++) {
    const { id, bytes: textBytes, at } = places[index] as Place;
    const start = position - at;
    if (start >= from && start + textBytes.length <= to && isRun(bytes, start, textBytes)) found(id);
  }
};
