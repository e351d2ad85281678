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
type Mark = 'carried' | 'default' | { readonly reason: string };

/** A part of something that was built of the source, and the part of the source that it was. */
type Part = readonly [holder: object, key: string];

const unknown = 'has no place here; it is kept, and comes back on export';

/** Whether a value says nothing that a missing one does not say. */
const isNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && everyMember(value, () => false));

const hasObjects = (value: unknown): boolean => Array.isArray(value) && value.some(isFields);

/** What Grafana has where nothing is said, relative to the panel and so on: values here, and what is within by name; `*` is any place of a list. */
export interface Defaults {
  readonly values: readonly unknown[];
  readonly within: ReadonlyMap<string, Defaults>;
}

/** What is known of the members of an object, by name. */
interface Known {
  readonly marks: Map<string, Mark>;
  /** Of what was built of the source. */
  parts?: Map<string, Part>;
}

/** Looks at each member without making a pair of it: a source is gone through several times. */
const eachMember = (holder: object, visit: (key: string, member: unknown) => void): void => {
  for (const key of Object.keys(holder)) visit(key, (holder as Fields)[key]);
};
const everyMember = (holder: object, holds: (key: string, member: unknown) => boolean): boolean =>
  Object.keys(holder).every((key) => holds(key, (holder as Fields)[key]));

/** How many leaves are in a value. */
export const leavesIn = (value: unknown): number => {
  let sum = 0;
  if (typeof value === 'object' && value !== null)
    eachMember(value, (_, member) => {
      sum += leavesIn(member);
    });
  return sum === 0 ? 1 : sum;
};

export class Ledger {
  readonly #known = new WeakMap<object, Known>();

  /** What is marked of a part of `built` is marked of that part of the source. */
  alias(built: object, key: string, [holder, sourceKey]: Part): void {
    const known = this.#knownOf(built);
    known.parts ??= new Map();
    known.parts.set(key, [holder, sourceKey]);
  }

  #knownOf(holder: object): Known {
    const before = this.#known.get(holder);
    if (before !== undefined) return before;
    const known = { marks: new Map<string, Mark>() };
    this.#known.set(holder, known);
    return known;
  }

  carry(holder: object, ...keys: readonly string[]): void {
    for (const key of keys) this.#mark(holder, key, 'carried');
  }

  markDefault(holder: object, ...keys: readonly string[]): void {
    for (const key of keys) this.#mark(holder, key, 'default');
  }

  /** Names it with a reason of its own, and keeps it nowhere. */
  drop(holder: object, key: string, reason: string): void {
    this.#mark(holder, key, { reason });
  }

  /** Takes back every mark within a value: it was understood in part, and is left as a whole. */
  forget(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const known = this.#known.get(value);
    known?.marks.clear();
    for (const [key, member] of Object.entries(value)) {
      const part = known?.parts?.get(key);
      if (part !== undefined) this.#known.get(part[0])?.marks.delete(part[1]);
      this.forget(member);
    }
  }

  markOf(holder: object, key: string): Mark | undefined {
    return this.#markIn(this.#known.get(holder), key);
  }

  #markIn(known: Known | undefined, key: string): Mark | undefined {
    const part = known?.parts?.get(key);
    return part === undefined ? known?.marks.get(key) : this.markOf(...part);
  }

  /** Marks what is left and is Grafana's default. */
  settle(value: unknown, defaults?: Defaults): void {
    if (typeof value !== 'object' || value === null) return;
    const known = this.#known.get(value);
    const isList = Array.isArray(value);
    eachMember(value, (key, member) => {
      if (this.#markIn(known, key) !== undefined) return;
      const memberDefaults = defaults?.within.get(isList ? '*' : key);
      if (isNothing(member) || memberDefaults?.values.includes(member)) this.markDefault(value, key);
      else this.settle(member, memberDefaults);
    });
  }

  /** What is left of a value, by path: what is to be kept beside it. */
  unmarked(value: object): Record<string, unknown> {
    const found: Record<string, unknown> = {};
    const collect = (member: unknown, path: string): void => {
      const rest = this.#rest(member);
      if (rest !== undefined && path.length <= 512) found[path] = rest;
    };
    const shouldCollect = (holder: object, member: unknown): boolean =>
      Array.isArray(holder) ? this.#isUntouched(member) : this.#isWhole(member);
    const walk = (holder: object, path: string): void => {
      const known = this.#known.get(holder);
      eachMember(holder, (key, member) => {
        if (this.#markIn(known, key) !== undefined) return;
        const at = path === '' ? key : `${path}.${key}`;
        if (shouldCollect(holder, member)) collect(member, at);
        else walk(member as object, at);
      });
    };
    walk(value, '');
    return found;
  }

  /** Counts leaves, and names those that are neither carried nor Grafana's default. */
  count(value: unknown, report: (loss: Loss) => void): { carried: number; default: number; named: number } {
    const counts = { carried: 0, default: 0, named: 0 };
    const walk = (member: unknown, path: string, mark: Mark | undefined): void => {
      if (mark === 'carried' || mark === 'default') {
        counts[mark] += leavesIn(member);
        return;
      }
      let isLeaf = true;
      if (typeof member === 'object' && member !== null) {
        const known = mark === undefined ? this.#known.get(member) : undefined;
        eachMember(member, (key, inner) => {
          isLeaf = false;
          walk(inner, path === '' ? key : `${path}.${key}`, mark ?? this.#markIn(known, key));
        });
      }
      if (!isLeaf) return;
      counts.named++;
      report({ path, message: mark?.reason ?? unknown, isMissed: mark === undefined });
    };
    walk(value, '', undefined);
    return counts;
  }

  #mark(holder: object, key: string, mark: Mark): void {
    const known = this.#knownOf(holder);
    const part = known.parts?.get(key);
    if (part === undefined) known.marks.set(key, mark);
    else this.#mark(...part, mark);
  }

  /** Whether nothing in it was carried, and it holds no list of objects: members of lists stay apart, so that each comes back at its place. */
  #isWhole(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return true;
    if (hasObjects(value)) return false;
    const known = this.#known.get(value);
    return everyMember(value, (key, member) => this.#markIn(known, key) !== 'carried' && this.#isWhole(member));
  }

  /** Whether nothing in it was carried. */
  #isUntouched(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return true;
    const known = this.#known.get(value);
    return everyMember(value, (key, member) => {
      const mark = this.#markIn(known, key);
      return mark === undefined ? this.#isUntouched(member) : mark !== 'carried';
    });
  }

  /** What is not Grafana's default in it; undefined where that is nothing. */
  #rest(value: unknown): unknown {
    if (Array.isArray(value)) return value.length === 0 ? undefined : value;
    if (!isFields(value)) return isNothing(value) ? undefined : value;
    const known = this.#known.get(value);
    const entries = Object.entries(value).flatMap(([key, member]) => {
      const rest = this.#markIn(known, key) === undefined ? this.#rest(member) : undefined;
      return rest === undefined ? [] : [[key, rest] as const];
    });
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }
}
