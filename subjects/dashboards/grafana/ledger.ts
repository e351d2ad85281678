/** What becomes of each leaf of a source: a value that holds no other. */

export type Fields = Readonly<Record<string, unknown>>;
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** Objects of a list; anything else is none. */
export const fieldsIn = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

export interface Loss {
  readonly path: string;
  readonly message: string;
  /** Whether a dashboard here lacks something for it; otherwise it is of Grafana's own bookkeeping. */
  readonly isMissed: boolean;
}

/** `carried`: it is in the dashboard. `default`: Grafana has it so anyhow. Everything else is named. */
type Mark = 'carried' | 'default' | { readonly why: string };

/** A part of something that was built of the source, and the part of the source that it was. */
type Part = readonly [holder: object, key: string];

const unknown = 'has no place here; it is kept, and comes back on export';

/** Whether a value says nothing that a missing one does not say. */
const isNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const hasObjects = (value: unknown): boolean => Array.isArray(value) && value.some(isFields);

/** Values of Grafana by path, relative to the panel and so on; `*` is any place of a list. */
export type Defaults = ReadonlyMap<string, readonly unknown[]>;

export class Ledger {
  readonly #marks = new WeakMap<object, Map<string, Mark>>();
  readonly #parts = new WeakMap<object, Map<string, Part>>();

  /** What is marked of a part of `built` is marked of that part of the source. */
  alias(built: object, key: string, [holder, sourceKey]: Part): void {
    const parts = this.#parts.get(built) ?? new Map<string, Part>();
    this.#parts.set(built, parts.set(key, [holder, sourceKey]));
  }

  carry(holder: object, ...keys: readonly string[]): void {
    for (const key of keys) this.#mark(holder, key, 'carried');
  }

  usual(holder: object, ...keys: readonly string[]): void {
    for (const key of keys) this.#mark(holder, key, 'default');
  }

  /** Names it with a reason of its own, and keeps it nowhere. */
  drop(holder: object, key: string, why: string): void {
    this.#mark(holder, key, { why });
  }

  /** Takes back every mark within a value: it was understood in part, and is left as a whole. */
  forget(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    this.#marks.delete(value);
    for (const [key, member] of Object.entries(value)) {
      const part = this.#parts.get(value)?.get(key);
      if (part !== undefined) this.#marks.get(part[0])?.delete(part[1]);
      this.forget(member);
    }
  }

  markOf(holder: object, key: string): Mark | undefined {
    const part = this.#parts.get(holder)?.get(key);
    return part === undefined ? this.#marks.get(holder)?.get(key) : this.markOf(...part);
  }

  /** Marks what is left and is Grafana's default. */
  settle(value: unknown, defaults: Defaults, path = ''): void {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      if (this.markOf(value, key) !== undefined) continue;
      const at = path === '' ? key : `${path}.${Array.isArray(value) ? '*' : key}`;
      if (isNothing(member) || defaults.get(at)?.includes(member)) this.usual(value, key);
      else this.settle(member, defaults, at);
    }
  }

  /** What is left of a value, by path: what is to be kept beside it. */
  kept(value: object): Record<string, unknown> {
    const found: Record<string, unknown> = {};
    const keep = (member: unknown, path: string): void => {
      const rest = this.#rest(member);
      if (rest !== undefined && path.length <= 512) found[path] = rest;
    };
    const isKept = (holder: object, member: unknown): boolean =>
      Array.isArray(holder) ? this.#isUntouched(member) : this.#isWhole(member);
    const walk = (holder: object, path: string): void => {
      for (const [key, member] of Object.entries(holder)) {
        if (this.markOf(holder, key) !== undefined) continue;
        const at = path === '' ? key : `${path}.${key}`;
        if (isKept(holder, member)) keep(member, at);
        else walk(member as object, at);
      }
    };
    walk(value, '');
    return found;
  }

  /** Counts leaves, and names those that are neither carried nor Grafana's default. */
  count(value: unknown, tell: (loss: Loss) => void): { carried: number; default: number; named: number } {
    const counts = { carried: 0, default: 0, named: 0 };
    const leaf = (path: string, mark: Mark | undefined): void => {
      if (mark === 'carried' || mark === 'default') counts[mark]++;
      else {
        counts.named++;
        tell({ path, message: mark?.why ?? unknown, isMissed: mark === undefined });
      }
    };
    const walk = (member: unknown, path: string, mark: Mark | undefined): void => {
      const entries = typeof member === 'object' && member !== null ? Object.entries(member) : [];
      for (const [key, inner] of entries)
        walk(inner, path === '' ? key : `${path}.${key}`, mark ?? this.markOf(member as object, key));
      if (entries.length === 0) leaf(path, mark);
    };
    walk(value, '', undefined);
    return counts;
  }

  #mark(holder: object, key: string, mark: Mark): void {
    const part = this.#parts.get(holder)?.get(key);
    if (part !== undefined) {
      this.#mark(...part, mark);
      return;
    }
    const marks = this.#marks.get(holder) ?? new Map<string, Mark>();
    this.#marks.set(holder, marks.set(key, mark));
  }

  /** Whether nothing in it was carried, and it holds no list: members of lists stay apart, so that each comes back at its place. */
  #isWhole(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return true;
    return !hasObjects(value) && this.#isUntouched(value) && Object.values(value).every((one) => this.#isWhole(one));
  }

  /** Whether nothing in it was carried. */
  #isUntouched(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return true;
    return Object.entries(value).every(([key, member]) => {
      const mark = this.markOf(value, key);
      return mark === undefined ? this.#isUntouched(member) : mark !== 'carried';
    });
  }

  /** What is not Grafana's default in it; undefined where that is nothing. */
  #rest(value: unknown): unknown {
    if (Array.isArray(value)) return value.length === 0 ? undefined : value;
    if (!isFields(value)) return isNothing(value) ? undefined : value;
    const entries = Object.entries(value).flatMap(([key, member]) => {
      const rest = this.markOf(value, key) === undefined ? this.#rest(member) : undefined;
      return rest === undefined ? [] : [[key, rest] as const];
    });
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }
}
