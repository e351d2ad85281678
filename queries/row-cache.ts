/** Bounded in-memory cache of reads, separate per tenant, so that a page need not query them again. */
import type { TenantColumns } from '../schemas/ports/columns.ts';

/** Values by key; above the limit, the least recently used ones are evicted. */
export interface Cache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/** For handles without a source: nothing is cached. */
const nothing: Cache<never> = { get: () => undefined, set: () => undefined };

/** Cached values of one source of columns, and their total size. */
interface Held<Value> {
  readonly values: Map<string, Value>;
  size: number;
}

/**
 * A cache of one kind of values, with a limit per source of columns over all tenants: a number of values, or the sum of
 * `sizeOf`.
 */
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
