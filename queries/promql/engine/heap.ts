/** A heap with the smallest element on top. It moves elements like Go's heap, so ties resolve as in Prometheus. */
export class Heap<T> {
  readonly items: T[] = [];
  readonly #isLess: (left: T, right: T) => boolean;

  constructor(less: (left: T, right: T) => boolean) {
    this.#isLess = less;
  }

  push(item: T): void {
    this.items.push(item);
    this.#moveUp(this.items.length - 1);
  }

  replaceTop(item: T): void {
    this.items[0] = item;
    this.#moveDown();
  }

  #swap(left: number, right: number): void {
    const item = this.items[left] as T;
    this.items[left] = this.items[right] as T;
    this.items[right] = item;
  }

  #moveUp(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#isLess(this.items[at] as T, this.items[parent] as T)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #moveDown(): void {
    const { items } = this;
    for (let at = 0; ; ) {
      let child = 2 * at + 1;
      if (child >= items.length) return;
      if (child + 1 < items.length && this.#isLess(items[child + 1] as T, items[child] as T)) child++;
      if (!this.#isLess(items[child] as T, items[at] as T)) return;
      this.#swap(at, child);
      at = child;
    }
  }
}
