/** What reads keep in memory, so that a page need not ask for it again: bounded, and of one tenant each. */
import type { TenantColumns } from '../schemas/ports/columns.ts';

/** Values by key; where there are more than it may hold, those that were used longest ago go. */
export interface Cache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/** For handles that name no source: nothing is kept. */
const nothing: Cache<never> = { get: () => undefined, set: () => undefined };

/** What is kept of one source of columns, and how much it counts. */
interface Held<Value> {
  readonly values: Map<string, Value>;
  size: number;
}

/** One kind of what is kept, up to so much of each source of columns, all tenants together: so many values, unless `sizeOf` counts otherwise. */
export class RowCache<Value> {
  readonly #sources = new WeakMap<WeakKey, Held<Value>>();
  readonly #maxSize: number;
  readonly #sizeOf: (value: Value) => number;

  constructor(maxSize: number, sizeOf: (value: Value) => number = () => 1) {
    this.#maxSize = maxSize;
    this.#sizeOf = sizeOf;
  }

  of({ source, tenantId }: TenantColumns): Cache<Value> {
    if (source === undefined) return nothing;
    const held = this.#sources.get(source) ?? { values: new Map<string, Value>(), size: 0 };
    this.#sources.set(source, held);
    const { values } = held;
    const drop = (at: string, value: Value): void => {
      values.delete(at);
      held.size -= this.#sizeOf(value);
    };
    const keyOf = (key: string): string => `${tenantId.length} ${tenantId}${key}`;
    return {
      get(key) {
        const at = keyOf(key);
        const value = values.get(at);
        if (value === undefined) return undefined;
        values.delete(at);
        values.set(at, value);
        return value;
      },
      set: (key, value) => {
        const at = keyOf(key);
        const before = values.get(at);
        if (before !== undefined) drop(at, before);
        values.set(at, value);
        held.size += this.#sizeOf(value);
        for (const [oldest, its] of values) {
          if (held.size <= this.#maxSize) break;
          drop(oldest, its);
        }
      },
    };
  }
}
