/** Bounded in-memory cache of reads, separate per tenant, so that a page need not query them again. */
import type { TenantColumns } from '../schemas/ports/columns.ts';

/** Values by key; above the limit, the least recently used ones are evicted. */
export interface Cache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/** Cache for column handles without a source; it stores nothing. */
const emptyCache: Cache<never> = { get: () => undefined, set: () => undefined };

/** Cached values of one source of columns, and their total size. */
interface SourceCache<Value> {
  readonly values: Map<string, Value>;
  size: number;
}

/**
 * A cache of one kind of values. The limit applies per source of columns, to all tenants together; it is a number of
 * values, or the sum of their sizes by `sizeOf`.
 */
export class RowCache<Value> {
  readonly #sources = new WeakMap<WeakKey, SourceCache<Value>>();
  readonly #maxSize: number;
  readonly #sizeOf: (value: Value) => number;

  constructor(maxSize: number, sizeOf: (value: Value) => number = () => 1) {
    this.#maxSize = maxSize;
    this.#sizeOf = sizeOf;
  }

  forTenant({ source, tenantId }: TenantColumns): Cache<Value> {
    if (source === undefined) return emptyCache;
    const sourceCache = this.#sources.get(source) ?? { values: new Map<string, Value>(), size: 0 };
    this.#sources.set(source, sourceCache);
    const { values } = sourceCache;
    const remove = (at: string, value: Value): void => {
      values.delete(at);
      sourceCache.size -= this.#sizeOf(value);
    };
    const tenantKey = (key: string): string => `${tenantId.length} ${tenantId}${key}`;
    return {
      get(key) {
        const at = tenantKey(key);
        const value = values.get(at);
        if (value === undefined) return undefined;
        values.delete(at);
        values.set(at, value);
        return value;
      },
      set: (key, value) => {
        const at = tenantKey(key);
        const before = values.get(at);
        if (before !== undefined) remove(at, before);
        values.set(at, value);
        sourceCache.size += this.#sizeOf(value);
        for (const [oldest, oldestValue] of values) {
          if (sourceCache.size <= this.#maxSize) break;
          remove(oldest, oldestValue);
        }
      },
    };
  }
}
