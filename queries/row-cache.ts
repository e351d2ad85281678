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
 * values, or the sum of their sizes by `getSize`.
 */
export class RowCache<Value> {
  readonly #sources = new WeakMap<WeakKey, SourceCache<Value>>();
  readonly #maxSize: number;
  readonly #getSize: (value: Value) => number;

  constructor(maxSize: number, getSize: (value: Value) => number = () => 1) {
    this.#maxSize = maxSize;
    this.#getSize = getSize;
  }

  forTenant({ source, tenantId }: TenantColumns): Cache<Value> {
    if (source === undefined) return emptyCache;
    const sourceCache = this.#sources.get(source) ?? { values: new Map<string, Value>(), size: 0 };
    this.#sources.set(source, sourceCache);
    const { values } = sourceCache;
    const remove = (fullKey: string, value: Value): void => {
      values.delete(fullKey);
      sourceCache.size -= this.#getSize(value);
    };
    const toTenantKey = (key: string): string => `${tenantId.length} ${tenantId}${key}`;
    return {
      get(key) {
        const fullKey = toTenantKey(key);
        const value = values.get(fullKey);
        if (value === undefined) return undefined;
        values.delete(fullKey);
        values.set(fullKey, value);
        return value;
      },
      set: (key, value) => {
        const fullKey = toTenantKey(key);
        const previousValue = values.get(fullKey);
        if (previousValue !== undefined) remove(fullKey, previousValue);
        values.set(fullKey, value);
        sourceCache.size += this.#getSize(value);
        for (const [oldest, oldestValue] of values) {
          if (sourceCache.size <= this.#maxSize) break;
          remove(oldest, oldestValue);
        }
      },
    };
  }
}
