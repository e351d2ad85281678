/** A heap with the smallest element on top. It moves elements like Go's heap, so ties resolve as in Prometheus. */
export class Heap<T> {
  readonly items: T[] = [];
  readonly #less: (left: T, right: T) => boolean;

  constructor(less: (left: T, right: T) => boolean) {
    this.#less = less;
  }

  push(item: T): void {
    this.items.push(item);
    this.#up(this.items.length - 1);
  }

  replaceTop(item: T): void {
    this.items[0] = item;
    this.#down();
  }

  #swap(left: number, right: number): void {
    const item = this.items[left] as T;
    this.items[left] = this.items[right] as T;
    this.items[right] = item;
  }

  #up(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#less(this.items[at] as T, this.items[parent] as T)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #down(): void {
    const { items } = this;
    for (let at = 0; ; ) {
      let child = 2 * at + 1;
      if (child >= items.length) return;
      if (child + 1 < items.length && this.#less(items[child + 1] as T, items[child] as T)) child++;
      if (!this.#less(items[child] as T, items[at] as T)) return;
      this.#swap(at, child);
      at = child;
    }
  }
}
