/** Cache of values computed from texts. Errors recur with the same stack and the same words. */
export class TextCache<Value extends object> {
  readonly #maxCharacters: number;
  #characters = 0;
  /** When the newer generation is full, the older one is evicted; entries in use move to the newer one. */
  #newer = new Map<string, Value>();
  #older = new Map<string, Value>();

  /** Each of the two generations holds texts of up to `maxCharacters` characters. */
  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  getOrCreate(text: string, createValue: () => Value): Value {
    const cachedValue = this.#newer.get(text);
    if (cachedValue !== undefined) return cachedValue;
    const value = this.#older.get(text) ?? createValue();
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
