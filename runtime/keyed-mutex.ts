/**
 * Runs work with the same key sequentially, in the order of the calls. A rejection does not stop the following work.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const last = (this.#last.get(key) ?? Promise.resolve()).then(work, work);
    this.#last.set(key, last);
    const forget = (): void => {
      if (this.#last.get(key) === last) this.#last.delete(key);
    };
    last.then(forget, forget);
    return last;
  }

  /** Returns whether work of the key is running or waiting. */
  isBusy(key: string): boolean {
    return this.#last.has(key);
  }
}
