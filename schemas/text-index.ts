/**
 * Finds which of many texts occur in another one, in one pass: of each text the run of three or four characters that is rarest among
 * all texts is looked up at each position, and the text is compared where it is found.
 */

interface Place {
  readonly id: number;
  readonly text: string;
  /** Where in the text the run ends. */
  readonly end: number;
}

const runOf = (text: string, end: number, width: number): number => {
  let key = 0;
  for (let at = end - width + 1; at <= end; at++) key = (key << 8) | (text.charCodeAt(at) & 0xff);
  return key;
};

/** Texts by their runs of one width. */
type Runs = Map<number, Place[]>;

const post = (runs: Runs, key: number, place: Place): void => {
  const places = runs.get(key);
  if (places === undefined) runs.set(key, [place]);
  else places.push(place);
};

/** Where the run of four characters ends that is rarest. */
const rarestEnd = (text: string, often: ReadonlyMap<number, number>): number => {
  let end = 3;
  for (let at = 4; at < text.length; at++)
    if ((often.get(runOf(text, at, 4)) ?? 0) < (often.get(runOf(text, end, 4)) ?? 0)) end = at;
  return end;
};

/** Five bits of each of four characters. */
const mostBits = 2 ** 20 - 1;

/** What was met in a text in UTF-8, by what `TextIndex.scanBytes` answered of it. */
export const met = {
  /** A character beyond ASCII. */
  wide: (answer: number): boolean => (answer & 1) !== 0,
  /** Perhaps a backslash: another byte of the same low bits is taken for one. */
  backslash: (answer: number): boolean => (answer & (1 << 0x5c)) !== 0,
};

export class TextIndex {
  readonly #fours: Runs = new Map();
  readonly #threes: Runs = new Map();
  /** Whether a run may end with these characters, by their low bits: at nearly all positions none does. */
  readonly #filter = new Int32Array(2 ** 15);

  /** Texts of three characters or more, each with its number. */
  constructor(texts: ReadonlyMap<string, number>) {
    const often = new Map<number, number>();
    for (const text of texts.keys())
      for (let end = 3; end < text.length; end++) {
        const key = runOf(text, end, 4);
        often.set(key, (often.get(key) ?? 0) + 1);
      }
    for (const [text, id] of texts) {
      if (text.length === 3) {
        post(this.#threes, runOf(text, 2, 3), { id, text, end: 2 });
        for (let before = 0; before < 32; before++) this.#mark(before, text, 2);
        continue;
      }
      const end = rarestEnd(text, often);
      post(this.#fours, runOf(text, end, 4), { id, text, end });
      this.#mark(text.charCodeAt(end - 3), text, end);
    }
  }

  /** Calls `found` with the number of each text that occurs, perhaps several times. Characters are looked at by twos, which takes less time. */
  scan(text: string, found: (id: number) => void): void {
    const filter = this.#filter;
    let bits = 0;
    let at = 0;
    for (const last = text.length - 1; at < last; at += 2) {
      const before = ((bits << 5) | (text.charCodeAt(at) & 31)) & mostBits;
      bits = ((before << 5) | (text.charCodeAt(at + 1) & 31)) & mostBits;
      const isBefore = (filter[before >>> 5] as number) >>> before;
      const is = (filter[bits >>> 5] as number) >>> bits;
      if (((isBefore | is) & 1) === 0) continue;
      if ((isBefore & 1) !== 0) this.#look(text, at, found);
      if ((is & 1) !== 0) this.#look(text, at + 1, found);
    }
    if (at === text.length) return;
    bits = ((bits << 5) | (text.charCodeAt(at) & 31)) & mostBits;
    if ((((filter[bits >>> 5] as number) >>> bits) & 1) !== 0) this.#look(text, at, found);
  }

  /**
   * The same of UTF-8, whatever the case of its letters, for texts of ASCII in lower case. Answers what was met, as `met` tells.
   */
  scanBytes(bytes: Uint8Array, from: number, to: number, found: (id: number) => void): number {
    const filter = this.#filter;
    let bits = 0;
    let all = 0;
    let low = 0;
    let at = from;
    for (const last = to - 1; at < last; at += 2) {
      const one = bytes[at] as number;
      const other = bytes[at + 1] as number;
      all |= one | other;
      low |= (1 << one) | (1 << other);
      const before = ((bits << 5) | (one & 31)) & mostBits;
      bits = ((before << 5) | (other & 31)) & mostBits;
      const isBefore = (filter[before >>> 5] as number) >>> before;
      const is = (filter[bits >>> 5] as number) >>> bits;
      if (((isBefore | is) & 1) === 0) continue;
      if ((isBefore & 1) !== 0) this.#lookIn(bytes, from, at, found);
      if ((is & 1) !== 0) this.#lookIn(bytes, from, at + 1, found);
    }
    if (at < to) {
      const one = bytes[at] as number;
      all |= one;
      low |= 1 << one;
      bits = ((bits << 5) | (one & 31)) & mostBits;
      if ((((filter[bits >>> 5] as number) >>> bits) & 1) !== 0) this.#lookIn(bytes, from, at, found);
    }
    return (low & ~1) | (all >>> 7);
  }

  /** Compares the texts of which a run ends here. */
  #lookIn(bytes: Uint8Array, from: number, at: number, found: (id: number) => void): void {
    if (at - from < 2) return;
    let run = 0;
    for (let index = Math.max(from, at - 3); index <= at; index++) run = (run << 8) | lowerOf(bytes[index] as number);
    const threes = this.#threes.get(run & 0xff_ffff);
    if (threes !== undefined) compareBytes(threes, bytes, from, at, found);
    const fours = at - from < 3 ? undefined : this.#fours.get(run);
    if (fours !== undefined) compareBytes(fours, bytes, from, at, found);
  }

  /** Lets a run through that ends here, behind a character. */
  #mark(before: number, text: string, end: number): void {
    let bits = before & 31;
    for (let at = end - 2; at <= end; at++) bits = (bits << 5) | (text.charCodeAt(at) & 31);
    this.#filter[bits >>> 5] = (this.#filter[bits >>> 5] as number) | (1 << (bits & 31));
  }

  /** Compares the texts of which a run ends here. */
  #look(text: string, at: number, found: (id: number) => void): void {
    if (at < 2) return;
    const threes = this.#threes.get(runOf(text, at, 3));
    if (threes !== undefined) compare(threes, text, at, found);
    const fours = at < 3 ? undefined : this.#fours.get(runOf(text, at, 4));
    if (fours !== undefined) compare(fours, text, at, found);
  }
}

const lowerOf = (byte: number): number => (byte >= 65 && byte <= 90 ? byte | 32 : byte);

const stands = (text: string, bytes: Uint8Array, start: number): boolean => {
  for (let index = 0; index < text.length; index++)
    if (lowerOf(bytes[start + index] ?? 0) !== text.charCodeAt(index)) return false;
  return true;
};

const compareBytes = (
  places: readonly Place[],
  bytes: Uint8Array,
  from: number,
  at: number,
  found: (id: number) => void,
): void => {
  for (let index = 0; index < places.length; index++) {
    const { id, text, end } = places[index] as Place;
    if (at - end >= from && stands(text, bytes, at - end)) found(id);
  }
};

const compare = (places: readonly Place[], text: string, at: number, found: (id: number) => void): void => {
  for (let index = 0; index < places.length; index++) {
    const { id, text: wanted, end } = places[index] as Place;
    if (at >= end && text.startsWith(wanted, at - end)) found(id);
  }
};
