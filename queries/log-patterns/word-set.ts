/** Case-insensitive search for words in the characters of a body, without substrings: a trie */

/** Number of letters: `a` to `z`, `µ` and digits; 0 represents all other characters */
const LETTER_COUNT = 38;
const MICRO_INDEX = 27;
const letterIndexes = new Uint8Array(128);
for (let digit = 0; digit < 10; digit++) letterIndexes[digit + 48] = MICRO_INDEX + 1 + digit;
for (let letter = 1; letter < MICRO_INDEX; letter++) letterIndexes[letter + 64] = letterIndexes[letter + 96] = letter;

/** Returns the number of a letter. The Kelvin sign is an uppercase `k`, as in `toLowerCase`. */
const toLetterIndex = (code: number): number => {
  if (code < 128) return letterIndexes[code] as number;
  return code === 0xb5 ? MICRO_INDEX : code === 0x212a ? 11 : 0;
};

export class WordSet {
  /** Next node by node and letter; 0 if no word continues with the letter */
  readonly #next: Uint16Array;
  /** Whether a word ends, by node */
  readonly #isWordEnd: Uint8Array;

  constructor(words: readonly string[]) {
    const nodes = 1 + words.reduce((sum, { length }) => sum + length, 0);
    this.#next = new Uint16Array(nodes * LETTER_COUNT);
    this.#isWordEnd = new Uint8Array(nodes);
    let nextFreeNode = 1;
    for (const word of words) {
      let node = 0;
      for (let index = 0; index < word.length; index++) {
        const transitionIndex = node * LETTER_COUNT + toLetterIndex(word.charCodeAt(index));
        node = this.#next[transitionIndex] ||= nextFreeNode++;
      }
      this.#isWordEnd[node] = 1;
    }
  }

  has(codes: Uint16Array, from: number, to: number): boolean {
    let node = 0;
    for (let index = from; index < to; index++) {
      node = this.#next[node * LETTER_COUNT + toLetterIndex(codes[index] as number)] as number;
      if (node === 0) return false;
    }
    return this.#isWordEnd[node] === 1;
  }

  /** Returns whether a word begins with a character. */
  hasPrefix(code: number): boolean {
    return this.#next[toLetterIndex(code)] !== 0;
  }
}
