/** Runs work of one key one after the other, in the order of the calls. Work that rejects does not stop the next. */
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

  /** Whether work of the key runs or waits. */
  isBusy(key: string): boolean {
    return this.#last.has(key);
  }
}
