/** What reads keep in memory, so that a page need not ask for it again: bounded, and of one tenant each. */
import type { TenantColumns } from '../schemas/ports/columns.ts';

/** Values by key; where there are more than it may hold, those that were used longest ago go. */
export interface Kept<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/** For handles that name no source: nothing is kept. */
const nothing: Kept<never> = { get: () => undefined, set: () => undefined };

/** One kind of what is kept, up to so many of each source of columns, all tenants together. */
export class KeptRows<Value> {
  readonly #sources = new WeakMap<WeakKey, Map<string, Value>>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  of({ source, tenantId }: TenantColumns): Kept<Value> {
    if (source === undefined) return nothing;
    const values = this.#sources.get(source) ?? new Map<string, Value>();
    this.#sources.set(source, values);
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
        values.set(keyOf(key), value);
        if (values.size > this.#most) values.delete(values.keys().next().value ?? '');
      },
    };
  }
}
