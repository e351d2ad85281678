/** Records for each leaf of a source document (a value without members) whether it was converted. */

import { type Fields, isFields } from '../../../runtime/fields.ts';

/** Returns the objects of a list; empty for any other value. */
export const toFieldsList = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

export interface Loss {
  readonly path: string;
  /** Why it is dropped; undefined if the dashboard lacks an equivalent, and the value is stored for an export. */
  readonly reason: string | undefined;
}

/** `carried`: converted. `default`: Grafana's default. Other leaves are reported. */
type Mark = 'carried' | 'default' | { readonly reason: string };

/** A member of a source object: the object and its key. */
type SourcePart = readonly [holder: object, key: string];

/** Returns whether a value is equivalent to a missing one. */
const isEmptyValue = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && everyMember(value, () => false));

const hasObjects = (value: unknown): boolean => Array.isArray(value) && value.some(isFields);

/** Grafana's defaults, relative to the panel or other part: values by name, possibly nested; `*` is any list index. */
export interface Defaults {
  readonly values: readonly unknown[];
  readonly members: ReadonlyMap<string, Defaults>;
}

/** Marks of the members of an object, by name */
interface HolderMarks {
  readonly marks: Map<string, Mark>;
  /** Parts of built objects. */
  parts?: Map<string, SourcePart>;
}

/** Visits each member without allocating a pair: a source is traversed several times. */
const forEachMember = (holder: object, visit: (key: string, member: unknown) => void): void => {
  for (const key of Object.keys(holder)) visit(key, (holder as Fields)[key]);
};
const everyMember = (holder: object, predicate: (key: string, member: unknown) => boolean): boolean =>
  Object.keys(holder).every((key) => predicate(key, (holder as Fields)[key]));

/** Returns the number of leaves in a value. */
export const countLeaves = (value: unknown): number => {
  let sum = 0;
  if (typeof value === 'object' && value !== null)
    forEachMember(value, (_, member) => {
      sum += countLeaves(member);
    });
  return sum === 0 ? 1 : sum;
};

export class Ledger {
  readonly #marksByHolder = new WeakMap<object, HolderMarks>();

  /** Forwards marks on a part of `built` to that part of the source. */
  alias(built: object, key: string, [holder, sourceKey]: SourcePart): void {
    const holderMarks = this.#getOrCreateMarks(built);
    holderMarks.parts ??= new Map();
    holderMarks.parts.set(key, [holder, sourceKey]);
  }

  #getOrCreateMarks(holder: object): HolderMarks {
    const existing = this.#marksByHolder.get(holder);
    if (existing !== undefined) return existing;
    const holderMarks = { marks: new Map<string, Mark>() };
    this.#marksByHolder.set(holder, holderMarks);
    return holderMarks;
  }

  carry(holder: object, ...keys: readonly string[]): void {
    for (const key of keys) this.#mark(holder, key, 'carried');
  }

  markDefault(holder: object, ...keys: readonly string[]): void {
    for (const key of keys) this.#mark(holder, key, 'default');
  }

  /** Reports a part with its own reason, without storing it. */
  drop(holder: object, key: string, reason: string): void {
    this.#mark(holder, key, { reason });
  }

  /** Removes all marks within a value that was only partly understood and is left as a unit. */
  clearMarks(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const holderMarks = this.#marksByHolder.get(value);
    holderMarks?.marks.clear();
    for (const [key, member] of Object.entries(value)) {
      const part = holderMarks?.parts?.get(key);
      if (part !== undefined) this.#marksByHolder.get(part[0])?.marks.delete(part[1]);
      this.clearMarks(member);
    }
  }

  findMark(holder: object, key: string): Mark | undefined {
    return this.#getMark(this.#marksByHolder.get(holder), key);
  }

  #getMark(holderMarks: HolderMarks | undefined, key: string): Mark | undefined {
    const part = holderMarks?.parts?.get(key);
    return part === undefined ? holderMarks?.marks.get(key) : this.findMark(...part);
  }

  /** Marks remaining leaves that have Grafana's default. */
  markDefaults(value: unknown, defaults?: Defaults): void {
    if (typeof value !== 'object' || value === null) return;
    const holderMarks = this.#marksByHolder.get(value);
    const isList = Array.isArray(value);
    forEachMember(value, (key, member) => {
      if (this.#getMark(holderMarks, key) !== undefined) return;
      const memberDefaults = defaults?.members.get(isList ? '*' : key);
      if (isEmptyValue(member) || memberDefaults?.values.includes(member)) this.markDefault(value, key);
      else this.markDefaults(member, memberDefaults);
    });
  }

  /** Returns the unmarked values by path, for storage with the part. */
  collectUnmarked(value: object): Record<string, unknown> {
    const unmarkedValues: Record<string, unknown> = {};
    const collect = (member: unknown, path: string): void => {
      const cleanedValue = this.#withoutDefaults(member);
      if (cleanedValue !== undefined && path.length <= 512) unmarkedValues[path] = cleanedValue;
    };
    const shouldCollect = (holder: object, member: unknown): boolean =>
      Array.isArray(holder) ? this.#isUntouched(member) : this.#canStoreWhole(member);
    const walk = (holder: object, path: string): void => {
      const holderMarks = this.#marksByHolder.get(holder);
      forEachMember(holder, (key, member) => {
        if (this.#getMark(holderMarks, key) !== undefined) return;
        const memberPath = path === '' ? key : `${path}.${key}`;
        if (shouldCollect(holder, member)) collect(member, memberPath);
        else walk(member as object, memberPath);
      });
    };
    walk(value, '');
    return unmarkedValues;
  }

  /** Counts leaves, and reports those that are neither converted nor Grafana's default. */
  count(value: unknown, report: (loss: Loss) => void): { carried: number; default: number; named: number } {
    const counts = { carried: 0, default: 0, named: 0 };
    const walk = (member: unknown, path: string, mark: Mark | undefined): void => {
      if (mark === 'carried' || mark === 'default') {
        counts[mark] += countLeaves(member);
        return;
      }
      let isLeaf = true;
      if (typeof member === 'object' && member !== null) {
        const holderMarks = mark === undefined ? this.#marksByHolder.get(member) : undefined;
        forEachMember(member, (key, inner) => {
          isLeaf = false;
          walk(inner, path === '' ? key : `${path}.${key}`, mark ?? this.#getMark(holderMarks, key));
        });
      }
      if (!isLeaf) return;
      counts.named++;
      report({ path, reason: mark?.reason });
    };
    walk(value, '', undefined);
    return counts;
  }

  #mark(holder: object, key: string, mark: Mark): void {
    const holderMarks = this.#getOrCreateMarks(holder);
    const part = holderMarks.parts?.get(key);
    if (part === undefined) holderMarks.marks.set(key, mark);
    else this.#mark(...part, mark);
  }

  /**
   * Returns whether no part was converted, and the value contains no list of objects: members of such lists are stored
   * separately, so that each is restored at its position.
   */
  #canStoreWhole(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return true;
    if (hasObjects(value)) return false;
    const holderMarks = this.#marksByHolder.get(value);
    return everyMember(
      value,
      (key, member) => this.#getMark(holderMarks, key) !== 'carried' && this.#canStoreWhole(member),
    );
  }

  /** Returns whether no part of the value was converted. */
  #isUntouched(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return true;
    const holderMarks = this.#marksByHolder.get(value);
    return everyMember(value, (key, member) => {
      const mark = this.#getMark(holderMarks, key);
      return mark === undefined ? this.#isUntouched(member) : mark !== 'carried';
    });
  }

  /** Returns the parts that differ from Grafana's default; undefined if there are none. */
  #withoutDefaults(value: unknown): unknown {
    if (Array.isArray(value)) return value.length === 0 ? undefined : value;
    if (!isFields(value)) return isEmptyValue(value) ? undefined : value;
    const holderMarks = this.#marksByHolder.get(value);
    const entries = Object.entries(value).flatMap(([key, member]) => {
      const rest = this.#getMark(holderMarks, key) === undefined ? this.#withoutDefaults(member) : undefined;
      return rest === undefined ? [] : [[key, rest] as const];
    });
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }
}
