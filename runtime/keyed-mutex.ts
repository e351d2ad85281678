/**
 * Runs work with the same key sequentially, in the order of the calls. A rejection does not stop the following work.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const current = (this.#last.get(key) ?? Promise.resolve()).then(work, work);
    this.#last.set(key, current);
    const removeIfLast = (): void => {
      if (this.#last.get(key) === current) this.#last.delete(key);
    };
    current.then(removeIfLast, removeIfLast);
    return current;
  }

  /** Returns whether work of the key is running or waiting. */
  isBusy(key: string): boolean {
    return this.#last.has(key);
  }
}
