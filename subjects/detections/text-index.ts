/**
 * Finds which of many texts occur in another one, in one pass: of each text the run of three or four characters that is rarest among
 * all texts is looked up at each position, and the text is compared where it is found.
 */

const bits = 18;
const words = 2 ** (bits - 5);
const hashOf = (key: number): number => Math.imul(key, 0x9e37_79b1) >>> (32 - bits);

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

/** Runs of one width, by key. */
class Runs {
  readonly #filter = new Int32Array(words);
  readonly #places = new Map<number, Place[]>();

  add(key: number, place: Place): void {
    const hash = hashOf(key);
    this.#filter[hash >>> 5] = (this.#filter[hash >>> 5] as number) | (1 << (hash & 31));
    const places = this.#places.get(key);
    if (places === undefined) this.#places.set(key, [place]);
    else places.push(place);
  }

  at(key: number): readonly Place[] | undefined {
    const hash = hashOf(key);
    return ((this.#filter[hash >>> 5] as number) & (1 << (hash & 31))) === 0 ? undefined : this.#places.get(key);
  }

  get isEmpty(): boolean {
    return this.#places.size === 0;
  }
}

export class TextIndex {
  readonly #fours = new Runs();
  readonly #threes = new Runs();

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
        this.#threes.add(runOf(text, 2, 3), { id, text, end: 2 });
        continue;
      }
      let end = 3;
      for (let at = 4; at < text.length; at++)
        if ((often.get(runOf(text, at, 4)) ?? 0) < (often.get(runOf(text, end, 4)) ?? 0)) end = at;
      this.#fours.add(runOf(text, end, 4), { id, text, end });
    }
  }

  /** Calls `found` with the number of each text that occurs, perhaps several times. */
  scan(text: string, found: (id: number) => void): void {
    const fours = this.#fours;
    const threes = this.#threes.isEmpty ? undefined : this.#threes;
    let key = 0;
    for (let at = 0; at < text.length; at++) {
      key = (key << 8) | (text.charCodeAt(at) & 0xff);
      if (threes !== undefined && at >= 2) {
        const places = threes.at(key & 0xff_ffff);
        if (places !== undefined) compare(places, text, at, found);
      }
      if (at < 3) continue;
      const places = fours.at(key);
      if (places !== undefined) compare(places, text, at, found);
    }
  }
}

const compare = (places: readonly Place[], text: string, at: number, found: (id: number) => void): void => {
  for (let index = 0; index < places.length; index++) {
    const { id, text: wanted, end } = places[index] as Place;
    if (at >= end && text.startsWith(wanted, at - end)) found(id);
  }
};
