/** A heap with the smallest element on top. It moves elements like Go's heap, so ties are resolved as in Prometheus. */
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
    for (let index = from; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!this.#isLess(this.items[index] as T, this.items[parent] as T)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #moveDown(): void {
    const { items } = this;
    for (let index = 0; ; ) {
      let child = 2 * index + 1;
      if (child >= items.length) return;
      if (child + 1 < items.length && this.#isLess(items[child + 1] as T, items[child] as T)) child++;
      if (!this.#isLess(items[child] as T, items[index] as T)) return;
      this.#swap(index, child);
      index = child;
    }
  }
}
