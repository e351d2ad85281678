/** Words that are looked for among the characters of a body whatever their case, without cutting any out: a tree of letters. */

/** `a` to `z` and `µ`; 0 is none of them. */
const LETTERS = 28;
const MICRO = 27;
const letterCodes = new Uint8Array(128);
for (let letter = 1; letter < MICRO; letter++) letterCodes[letter + 64] = letterCodes[letter + 96] = letter;

/** The number of a letter. The sign of Kelvin is a capital `k`, as `toLowerCase` has it. */
const letterCodeOf = (code: number): number => {
  if (code < 128) return letterCodes[code] as number;
  return code === 0xb5 ? MICRO : code === 0x212a ? 11 : 0;
};

export class WordSet {
  /** By node and letter the next node; 0 where no word goes on like that. */
  readonly #next: Uint16Array;
  /** By node, whether a word ends there. */
  readonly #ends: Uint8Array;

  constructor(words: readonly string[]) {
    const nodes = 1 + words.reduce((sum, { length }) => sum + length, 0);
    this.#next = new Uint16Array(nodes * LETTERS);
    this.#ends = new Uint8Array(nodes);
    let free = 1;
    for (const word of words) {
      let node = 0;
      for (let index = 0; index < word.length; index++) {
        const at = node * LETTERS + letterCodeOf(word.charCodeAt(index));
        node = this.#next[at] ||= free++;
      }
      this.#ends[node] = 1;
    }
  }

  has(codes: Uint16Array, from: number, to: number): boolean {
    let node = 0;
    for (let index = from; index < to; index++) {
      node = this.#next[node * LETTERS + letterCodeOf(codes[index] as number)] as number;
      if (node === 0) return false;
    }
    return this.#ends[node] === 1;
  }

  /** Whether some word begins with a character. */
  begins(code: number): boolean {
    return this.#next[letterCodeOf(code)] !== 0;
  }
}
