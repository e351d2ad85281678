/** What was made of texts lately. Errors come again and again, with the same stack and the same words. */
export class Remembered<Value extends object> {
  readonly #maxCharacters: number;
  #characters = 0;
  /** When the newer ones are too many, the older ones are forgotten: what is asked for stays. */
  #newer = new Map<string, Value>();
  #older = new Map<string, Value>();

  /** Of texts of so many characters, and of as many that were asked for longer ago. */
  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  of(text: string, make: () => Value): Value {
    const known = this.#newer.get(text);
    if (known !== undefined) return known;
    const value = this.#older.get(text) ?? make();
    this.#characters += text.length;
    if (this.#characters > this.#maxCharacters) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#characters = text.length;
    }
    this.#newer.set(text, value);
    return value;
  }
}
