/**
 * Finds which of many texts occur in another text, in one pass. It looks up runs of four characters at every second
 * position, and compares a text when it finds one of its runs. Each text has two runs: the rarest that ends at an odd
 * position, and the rarest at an even one. So one of them is found wherever the text begins. For texts of three and
 * four characters, a run may have one wildcard character at its beginning or end. Runs whose comparisons fail often,
 * as for words that all logs contain, are counted and replaced.
 */

interface RunEntry {
  readonly id: number;
  readonly text: string;
  /** End of the run in the text. */
  readonly end: number;
}

const encodeRun = (text: string, end: number, width: number): number => {
  let key = 0;
  for (let position = end - width + 1; position <= end; position++)
    key = (key << 8) | (text.charCodeAt(position) & 0xff);
  return key;
};

/** Five bits of each character between two positions */
const getLowBits = (text: string, from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => text.charCodeAt(from + at) & 31);

/** Texts by their runs of one width */
type EntriesByRun = Map<number, RunEntry[]>;

const addEntry = (runs: EntriesByRun, key: number, entry: RunEntry): void => {
  const entries = runs.get(key);
  if (entries === undefined) runs.set(key, [entry]);
  else entries.push(entry);
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
const findCheapestEnd = (text: string, firstEnd: number, getCost: (run: number) => number): number | undefined => {
  let end: number | undefined;
  let minCost = Number.POSITIVE_INFINITY;
  for (let position = firstEnd; position < text.length; position += 2) {
    const cost = getCost(encodeRun(text, position, 4));
    if (cost >= minCost) continue;
    end = position;
    minCost = cost;
  }
  return end;
};

/** One of this many comparisons is sampled if it found nothing. */
const comparisonsPerSample = 64;
/** Runs are chosen again after this many samples, and whenever their number has doubled. */
const firstMaxSamples = 64;
/** Cost of a failed comparison, relative to texts that share a run. */
const missCost = 4;

/** Five bits of each of four characters. */
const bitMask = 2 ** 20 - 1;

/** Reads the properties of a UTF-8 text from the result of `TextIndex.scanBytes`. */
export const scanResult = {
  /** Returns whether the text has a non-ASCII character. */
  wide: (scanned: number): boolean => (scanned & 1) !== 0,
  /** Returns whether the text may have a backslash: another byte with the same low bits gives the same result. */
  backslash: (answer: number): boolean => (answer & (1 << 0x5c)) !== 0,
  /** Returns whether the text may have an escape character, with the same reservation. */
  escape: (answer: number): boolean => (answer & (1 << 0x1b)) !== 0,
};

export class TextIndex {
  readonly #texts: ReadonlyMap<string, number>;
  /** Texts by runs of four, and by the first or last three characters of runs with a wildcard */
  readonly #fourCharacterRuns: EntriesByRun = new Map();
  readonly #lastThreeRuns: EntriesByRun = new Map();
  readonly #firstThreeRuns: EntriesByRun = new Map();
  /** Whether a run may end with these characters, by their low bits: at nearly all positions none does. */
  readonly #filter = new Int32Array(2 ** 15);
  /** Number of comparisons in bytes, the sampled runs without a match, and the threshold for choosing runs again */
  #comparisons = 0;
  readonly #misses = new Map<number, number>();
  #sampleCount = 0;
  #maxSampleCount = firstMaxSamples;

  /** Texts of three characters or more, with their numbers. */
  constructor(texts: ReadonlyMap<string, number>) {
    this.#texts = texts;
    this.#chooseRuns();
  }

  /** Number of comparisons after a run was found in bytes. For measurements. */
  get comparisons(): number {
    return this.#comparisons;
  }

  /** Chooses runs: first those with the fewest failed comparisons, then those that the fewest texts share. */
  #chooseRuns(): void {
    const runCounts = countRuns(this.#texts.keys());
    const getCost = (run: number): number => (runCounts.get(run) ?? 0) + missCost * (this.#misses.get(run) ?? 0);
    for (const runs of [this.#fourCharacterRuns, this.#lastThreeRuns, this.#firstThreeRuns]) runs.clear();
    this.#filter.fill(0);
    for (const [text, id] of this.#texts)
      for (const first of [3, 4]) {
        const end = findCheapestEnd(text, first, getCost);
        if (end === undefined) this.#addShortText(text, id, first);
        else {
          addEntry(this.#fourCharacterRuns, encodeRun(text, end, 4), { id, text, end });
          this.#mark(...getLowBits(text, end - 3, end));
        }
      }
  }

  /** Adds a text of three or four characters for positions without a run of four. */
  #addShortText(text: string, id: number, first: number): void {
    const textBits = getLowBits(text, 0, 2);
    const hasWildcardEnd = first === 3;
    addEntry(hasWildcardEnd ? this.#firstThreeRuns : this.#lastThreeRuns, encodeRun(text, 2, 3), {
      id,
      text,
      end: hasWildcardEnd ? 3 : 2,
    });
    for (let wildcardBits = 0; wildcardBits < 32; wildcardBits++)
      this.#mark(...(hasWildcardEnd ? [...textBits, wildcardBits] : [wildcardBits, ...textBits]));
  }

  /** Calls `onFound` with the number of each text that occurs, possibly several times. */
  scan(text: string, onFound: (id: number) => void): void {
    const filter = this.#filter;
    let bits = 0;
    let position = 1;
    for (; position < text.length; position += 2) {
      bits = ((bits << 10) | ((text.charCodeAt(position - 1) & 31) << 5) | (text.charCodeAt(position) & 31)) & bitMask;
      if ((((filter[bits >>> 5] as number) >>> bits) & 1) !== 0) this.#compareAt(text, position, onFound);
    }
    // The last position is always checked: a text that ends there has no following character.
    if (position > text.length) return;
    const last = text.length - 1;
    bits = ((bits << 5) | (text.charCodeAt(last) & 31)) & bitMask;
    if ((((filter[bits >>> 5] as number) >>> bits) & 1) !== 0) this.#compareAt(text, last, onFound);
  }

  /**
   * Scans UTF-8 ignoring case, for lowercase ASCII texts. `onFound` also receives the end of each match. `scanResult`
   * reads properties of the scanned text from the returned number.
   */
  scanBytes(bytes: Uint8Array, from: number, to: number, onFound: (id: number, end: number) => void): number {
    if (this.#sampleCount >= this.#maxSampleCount) {
      this.#maxSampleCount *= 2;
      this.#chooseRuns();
    }
    const filter = this.#filter;
    let bits = 0;
    let combinedBytes = 0;
    let seenLowBits = 0;
    let position = from + 1;
    for (; position < to; position += 2) {
      const firstByte = bytes[position - 1] as number;
      const secondByte = bytes[position] as number;
      combinedBytes |= firstByte | secondByte;
      seenLowBits |= (1 << firstByte) | (1 << secondByte);
      bits = ((bits << 10) | ((firstByte & 31) << 5) | (secondByte & 31)) & bitMask;
      if ((((filter[bits >>> 5] as number) >>> bits) & 1) !== 0)
        this.#compareBytesAt(bytes, from, to, position, onFound);
    }
    if (position === to) {
      const lastByte = bytes[to - 1] as number;
      combinedBytes |= lastByte;
      seenLowBits |= 1 << lastByte;
      bits = ((bits << 5) | (lastByte & 31)) & bitMask;
      if ((((filter[bits >>> 5] as number) >>> bits) & 1) !== 0) this.#compareBytesAt(bytes, from, to, to - 1, onFound);
    }
    return (seenLowBits & ~1) | (combinedBytes >>> 7);
  }

  /** Compares the texts with a run that ends at this position. */
  #compareBytesAt(
    bytes: Uint8Array,
    from: number,
    to: number,
    position: number,
    onFound: (id: number, end: number) => void,
  ): void {
    if (position - from < 2) return;
    let run = 0;
    for (let index = Math.max(from, position - 3); index <= position; index++)
      run = (run << 8) | lowerByte(bytes[index] as number);
    const lastThreeEntries = this.#lastThreeRuns.get(run & 0xff_ffff);
    if (lastThreeEntries !== undefined) compareBytes(lastThreeEntries, bytes, from, to, position, onFound);
    if (position - from < 3) return;
    const firstThreeEntries = this.#firstThreeRuns.get(run >>> 8);
    if (firstThreeEntries !== undefined) compareBytes(firstThreeEntries, bytes, from, to, position, onFound);
    const fourCharacterEntries = this.#fourCharacterRuns.get(run);
    if (fourCharacterEntries === undefined) return;
    const isFound = compareBytes(fourCharacterEntries, bytes, from, to, position, onFound);
    if ((++this.#comparisons & (comparisonsPerSample - 1)) !== 0 || isFound) return;
    this.#sampleCount++;
    this.#misses.set(run, (this.#misses.get(run) ?? 0) + 1);
  }

  /** Marks a run with these low bits in the filter. */
  #mark(...bitGroups: number[]): void {
    const bits = bitGroups.reduce((before, bitGroup) => (before << 5) | bitGroup, 0);
    this.#filter[bits >>> 5] = (this.#filter[bits >>> 5] as number) | (1 << (bits & 31));
  }

  /** Compares the texts with a run that ends at this position. */
  #compareAt(text: string, at: number, onFound: (id: number) => void): void {
    if (at < 2) return;
    const lastThreeEntries = this.#lastThreeRuns.get(encodeRun(text, at, 3));
    if (lastThreeEntries !== undefined) compareTexts(lastThreeEntries, text, at, onFound);
    if (at < 3) return;
    const firstThreeEntries = this.#firstThreeRuns.get(encodeRun(text, at - 1, 3));
    if (firstThreeEntries !== undefined) compareTexts(firstThreeEntries, text, at, onFound);
    const fourCharacterEntries = this.#fourCharacterRuns.get(encodeRun(text, at, 4));
    if (fourCharacterEntries !== undefined) compareTexts(fourCharacterEntries, text, at, onFound);
  }
}

const lowerByte = (byte: number): number => (byte >= 65 && byte <= 90 ? byte | 32 : byte);

const isTextAt = (text: string, bytes: Uint8Array, start: number): boolean => {
  for (let index = 0; index < text.length; index++)
    if (lowerByte(bytes[start + index] ?? 0) !== text.charCodeAt(index)) return false;
  return true;
};

const compareBytes = (
  entries: readonly RunEntry[],
  bytes: Uint8Array,
  from: number,
  to: number,
  at: number,
  onFound: (id: number, end: number) => void,
): boolean => {
  let isFound = false;
  for (let index = 0; index < entries.length; index++) {
    const { id, text, end } = entries[index] as RunEntry;
    const start = at - end;
    const matchEnd = start + text.length;
    if (start < from || matchEnd > to || !isTextAt(text, bytes, start)) continue;
    isFound = true;
    onFound(id, matchEnd);
  }
  return isFound;
};

const compareTexts = (entries: readonly RunEntry[], text: string, at: number, onFound: (id: number) => void): void => {
  for (let index = 0; index < entries.length; index++) {
    const { id, text: indexedText, end } = entries[index] as RunEntry;
    if (at >= end && text.startsWith(indexedText, at - end)) onFound(id);
  }
};
