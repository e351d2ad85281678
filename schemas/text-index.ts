/**
 * Finds which of many texts occur in another text, in one pass. It looks up runs of four characters at every second
 * position, and compares a text when it finds one of its runs. Each text has two runs: the rarest that ends at an odd
 * position, and the rarest at an even one. So one of them is found wherever the text begins. For texts of three and
 * four characters, a run may have one wildcard character at its beginning or end. Runs that match in vain, as for words
 * that all logs contain, are counted and replaced.
 */

interface RunEntry {
  readonly id: number;
  readonly text: string;
  /** End of the run in the text. */
  readonly end: number;
}

const encodeRun = (text: string, end: number, width: number): number => {
  let key = 0;
  for (let at = end - width + 1; at <= end; at++) key = (key << 8) | (text.charCodeAt(at) & 0xff);
  return key;
};

/** Five bits of each character between two positions */
const lowBits = (text: string, from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => text.charCodeAt(from + at) & 31);

/** Texts by their runs of one width */
type Runs = Map<number, RunEntry[]>;

const addEntry = (runs: Runs, key: number, place: RunEntry): void => {
  const places = runs.get(key);
  if (places === undefined) runs.set(key, [place]);
  else places.push(place);
};

/** Frequency of each run of four */
const countRuns = (texts: Iterable<string>): ReadonlyMap<number, number> => {
  const counts = new Map<number, number>();
  for (const text of texts)
    for (let end = 3; end < text.length; end++) {
      const key = encodeRun(text, end, 4);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  return counts;
};

/**
 * Returns the end of the cheapest run of four characters, among every second position from `first` on; `undefined` if
 * there is none.
 */
const findCheapestEnd = (text: string, first: number, costOf: (run: number) => number): number | undefined => {
  let end: number | undefined;
  let minCost = Number.POSITIVE_INFINITY;
  for (let at = first; at < text.length; at += 2) {
    const cost = costOf(encodeRun(text, at, 4));
    if (cost >= minCost) continue;
    end = at;
    minCost = cost;
  }
  return end;
};

/** One of this many comparisons is sampled if it found nothing. */
const comparisonsPerSample = 64;
/** Runs are chosen again after this many samples, and whenever their number has doubled. */
const firstMaxSamples = 64;
/** Cost of a comparison in vain, relative to texts that share a run. */
const missCost = 4;

/** Five bits of each of four characters. */
const bitMask = 2 ** 20 - 1;

/** Reads the properties of a UTF-8 text from the result of `TextIndex.scanBytes`. */
export const scanResult = {
  /** Returns whether the text has a non-ASCII character. */
  wide: (answer: number): boolean => (answer & 1) !== 0,
  /** Returns whether the text may have a backslash: another byte with the same low bits gives the same result. */
  backslash: (answer: number): boolean => (answer & (1 << 0x5c)) !== 0,
};

export class TextIndex {
  readonly #texts: ReadonlyMap<string, number>;
  /** Texts by runs of four, and by the first or last three characters of runs with a wildcard */
  readonly #fourCharacterRuns: Runs = new Map();
  readonly #lastThreeRuns: Runs = new Map();
  readonly #firstThreeRuns: Runs = new Map();
  /** Whether a run may end with these characters, by their low bits: at nearly all positions none does. */
  readonly #filter = new Int32Array(2 ** 15);
  /** Number of comparisons in bytes, the sampled runs without a match, and the threshold for choosing runs again */
  #comparisons = 0;
  readonly #misses = new Map<number, number>();
  #sampled = 0;
  #maxSampled = firstMaxSamples;

  /** Texts of three characters or more, with their numbers. */
  constructor(texts: ReadonlyMap<string, number>) {
    this.#texts = texts;
    this.#chooseRuns();
  }

  /** Number of comparisons after a run was found in bytes. For measurements. */
  get comparisons(): number {
    return this.#comparisons;
  }

  /** Chooses runs: first those with the fewest comparisons in vain, then those that the fewest texts share. */
  #chooseRuns(): void {
    const often = countRuns(this.#texts.keys());
    const costOf = (run: number): number => (often.get(run) ?? 0) + missCost * (this.#misses.get(run) ?? 0);
    for (const runs of [this.#fourCharacterRuns, this.#lastThreeRuns, this.#firstThreeRuns]) runs.clear();
    this.#filter.fill(0);
    for (const [text, id] of this.#texts)
      for (const first of [3, 4]) {
        const end = findCheapestEnd(text, first, costOf);
        if (end === undefined) this.#addShort(text, id, first);
        else {
          addEntry(this.#fourCharacterRuns, encodeRun(text, end, 4), { id, text, end });
          this.#mark(...lowBits(text, end - 3, end));
        }
      }
  }

  /** Adds a text of three or four characters for positions without a run of four. */
  #addShort(text: string, id: number, first: number): void {
    const three = lowBits(text, 0, 2);
    const hasWildcardEnd = first === 3;
    addEntry(hasWildcardEnd ? this.#firstThreeRuns : this.#lastThreeRuns, encodeRun(text, 2, 3), {
      id,
      text,
      end: hasWildcardEnd ? 3 : 2,
    });
    for (let any = 0; any < 32; any++) this.#mark(...(hasWildcardEnd ? [...three, any] : [any, ...three]));
  }

  /** Calls `found` with the number of each text that occurs, possibly several times. */
  scan(text: string, found: (id: number) => void): void {
    const filter = this.#filter;
    let bits = 0;
    let at = 1;
    for (; at < text.length; at += 2) {
      bits = ((bits << 10) | ((text.charCodeAt(at - 1) & 31) << 5) | (text.charCodeAt(at) & 31)) & bitMask;
      if ((((filter[bits >>> 5] as number) >>> bits) & 1) !== 0) this.#compareAt(text, at, found);
    }
    // The last position is always checked: a text that ends there has no following character.
    if (at > text.length) return;
    const last = text.length - 1;
    bits = ((bits << 5) | (text.charCodeAt(last) & 31)) & bitMask;
    if ((((filter[bits >>> 5] as number) >>> bits) & 1) !== 0) this.#compareAt(text, last, found);
  }

  /**
   * Scans UTF-8 ignoring case, for lowercase ASCII texts. `found` also receives the end of each match. `scanResult`
   * reads properties of the scanned text from the returned number.
   */
  scanBytes(bytes: Uint8Array, from: number, to: number, found: (id: number, end: number) => void): number {
    if (this.#sampled >= this.#maxSampled) {
      this.#maxSampled *= 2;
      this.#chooseRuns();
    }
    const filter = this.#filter;
    let bits = 0;
    let all = 0;
    let low = 0;
    let at = from + 1;
    for (; at < to; at += 2) {
      const one = bytes[at - 1] as number;
      const other = bytes[at] as number;
      all |= one | other;
      low |= (1 << one) | (1 << other);
      bits = ((bits << 10) | ((one & 31) << 5) | (other & 31)) & bitMask;
      if ((((filter[bits >>> 5] as number) >>> bits) & 1) !== 0) this.#compareBytesAt(bytes, from, to, at, found);
    }
    if (at === to) {
      const one = bytes[to - 1] as number;
      all |= one;
      low |= 1 << one;
      bits = ((bits << 5) | (one & 31)) & bitMask;
      if ((((filter[bits >>> 5] as number) >>> bits) & 1) !== 0) this.#compareBytesAt(bytes, from, to, to - 1, found);
    }
    return (low & ~1) | (all >>> 7);
  }

  /** Compares the texts with a run that ends at this position. */
  #compareBytesAt(
    bytes: Uint8Array,
    from: number,
    to: number,
    at: number,
    found: (id: number, end: number) => void,
  ): void {
    if (at - from < 2) return;
    let run = 0;
    for (let index = Math.max(from, at - 3); index <= at; index++) run = (run << 8) | lowerByte(bytes[index] as number);
    const lasts = this.#lastThreeRuns.get(run & 0xff_ffff);
    if (lasts !== undefined) compareBytes(lasts, bytes, from, to, at, found);
    if (at - from < 3) return;
    const firsts = this.#firstThreeRuns.get(run >>> 8);
    if (firsts !== undefined) compareBytes(firsts, bytes, from, to, at, found);
    const fours = this.#fourCharacterRuns.get(run);
    if (fours === undefined) return;
    const isFound = compareBytes(fours, bytes, from, to, at, found);
    if ((++this.#comparisons & (comparisonsPerSample - 1)) !== 0 || isFound) return;
    this.#sampled++;
    this.#misses.set(run, (this.#misses.get(run) ?? 0) + 1);
  }

  /** Marks a run with these low bits in the filter. */
  #mark(...four: number[]): void {
    const bits = four.reduce((before, each) => (before << 5) | each, 0);
    this.#filter[bits >>> 5] = (this.#filter[bits >>> 5] as number) | (1 << (bits & 31));
  }

  /** Compares the texts with a run that ends at this position. */
  #compareAt(text: string, at: number, found: (id: number) => void): void {
    if (at < 2) return;
    const lasts = this.#lastThreeRuns.get(encodeRun(text, at, 3));
    if (lasts !== undefined) compare(lasts, text, at, found);
    if (at < 3) return;
    const firsts = this.#firstThreeRuns.get(encodeRun(text, at - 1, 3));
    if (firsts !== undefined) compare(firsts, text, at, found);
    const fours = this.#fourCharacterRuns.get(encodeRun(text, at, 4));
    if (fours !== undefined) compare(fours, text, at, found);
  }
}

const lowerByte = (byte: number): number => (byte >= 65 && byte <= 90 ? byte | 32 : byte);

const isTextAt = (text: string, bytes: Uint8Array, start: number): boolean => {
  for (let index = 0; index < text.length; index++)
    if (lowerByte(bytes[start + index] ?? 0) !== text.charCodeAt(index)) return false;
  return true;
};

const compareBytes = (
  places: readonly RunEntry[],
  bytes: Uint8Array,
  from: number,
  to: number,
  at: number,
  found: (id: number, end: number) => void,
): boolean => {
  let isFound = false;
  for (let index = 0; index < places.length; index++) {
    const { id, text, end } = places[index] as RunEntry;
    const start = at - end;
    const past = start + text.length;
    if (start < from || past > to || !isTextAt(text, bytes, start)) continue;
    isFound = true;
    found(id, past);
  }
  return isFound;
};

const compare = (places: readonly RunEntry[], text: string, at: number, found: (id: number) => void): void => {
  for (let index = 0; index < places.length; index++) {
    const { id, text: indexedText, end } = places[index] as RunEntry;
    if (at >= end && text.startsWith(indexedText, at - end)) found(id);
  }
};
