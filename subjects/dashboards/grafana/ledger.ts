/** Records for each leaf of a source document (a value without members) whether it was converted. */

import { type Fields, isFields } from '../../../runtime/fields.ts';

/** Returns the objects of a list; empty for any other value. */
export const toFieldsList = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

export interface Loss {
  readonly path: string;
  readonly message: string;
  /** Whether the dashboard lacks an equivalent; otherwise it is internal data of Grafana. */
  readonly isUnsupported: boolean;
}

/** `carried`: converted. `default`: Grafana's default. Other leaves are reported. */
type Mark = 'carried' | 'default' | { readonly reason: string };

/** Part of an object that was built from the source, and the original part */
type SourcePart = readonly [holder: object, key: string];

const unsupportedMessage = 'is not supported here; it is preserved and restored on export';

/** Returns whether a value is equivalent to a missing one. */
const isNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && everyMember(value, () => false));

const hasObjects = (value: unknown): boolean => Array.isArray(value) && value.some(isFields);

/** Grafana's defaults, relative to the panel or other part: values by name, possibly nested; `*` is any list index. */
export interface Defaults {
  readonly values: readonly unknown[];
  readonly within: ReadonlyMap<string, Defaults>;
}

/** Marks of the members of an object, by name */
interface HolderMarks {
  readonly marks: Map<string, Mark>;
  /** Parts of built objects. */
  parts?: Map<string, SourcePart>;
}

/** Visits each member without allocating a pair: a source is traversed several times. */
const eachMember = (holder: object, visit: (key: string, member: unknown) => void): void => {
  for (const key of Object.keys(holder)) visit(key, (holder as Fields)[key]);
};
const everyMember = (holder: object, holds: (key: string, member: unknown) => boolean): boolean =>
  Object.keys(holder).every((key) => holds(key, (holder as Fields)[key]));

/** Returns the number of leaves in a value. */
export const countLeaves = (value: unknown): number => {
  let sum = 0;
  if (typeof value === 'object' && value !== null)
    eachMember(value, (_, member) => {
      sum += countLeaves(member);
    });
  return sum === 0 ? 1 : sum;
};

export class Ledger {
  readonly #marksByHolder = new WeakMap<object, HolderMarks>();

  /** Forwards marks on a part of `built` to that part of the source. */
  alias(built: object, key: string, [holder, sourceKey]: SourcePart): void {
    const known = this.#marksFor(built);
    known.parts ??= new Map();
    known.parts.set(key, [holder, sourceKey]);
  }

  #marksFor(holder: object): HolderMarks {
    const before = this.#marksByHolder.get(holder);
    if (before !== undefined) return before;
    const known = { marks: new Map<string, Mark>() };
    this.#marksByHolder.set(holder, known);
    return known;
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
  forget(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const known = this.#marksByHolder.get(value);
    known?.marks.clear();
    for (const [key, member] of Object.entries(value)) {
      const part = known?.parts?.get(key);
      if (part !== undefined) this.#marksByHolder.get(part[0])?.marks.delete(part[1]);
      this.forget(member);
    }
  }

  findMark(holder: object, key: string): Mark | undefined {
    return this.#markIn(this.#marksByHolder.get(holder), key);
  }

  #markIn(known: HolderMarks | undefined, key: string): Mark | undefined {
    const part = known?.parts?.get(key);
    return part === undefined ? known?.marks.get(key) : this.findMark(...part);
  }

  /** Marks remaining leaves that have Grafana's default. */
  markDefaults(value: unknown, defaults?: Defaults): void {
    if (typeof value !== 'object' || value === null) return;
    const known = this.#marksByHolder.get(value);
    const isList = Array.isArray(value);
    eachMember(value, (key, member) => {
      if (this.#markIn(known, key) !== undefined) return;
      const memberDefaults = defaults?.within.get(isList ? '*' : key);
      if (isNothing(member) || memberDefaults?.values.includes(member)) this.markDefault(value, key);
      else this.markDefaults(member, memberDefaults);
    });
  }

  /** Returns the unmarked values by path, for storage with the part. */
  unmarked(value: object): Record<string, unknown> {
    const found: Record<string, unknown> = {};
    const collect = (member: unknown, path: string): void => {
      const rest = this.#withoutDefaults(member);
      if (rest !== undefined && path.length <= 512) found[path] = rest;
    };
    const shouldCollect = (holder: object, member: unknown): boolean =>
      Array.isArray(holder) ? this.#isUntouched(member) : this.#isWhole(member);
    const walk = (holder: object, path: string): void => {
      const known = this.#marksByHolder.get(holder);
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
        const known = mark === undefined ? this.#marksByHolder.get(member) : undefined;
        eachMember(member, (key, inner) => {
          isLeaf = false;
          walk(inner, path === '' ? key : `${path}.${key}`, mark ?? this.#markIn(known, key));
        });
      }
      if (!isLeaf) return;
      counts.named++;
      report({ path, message: mark?.reason ?? unsupportedMessage, isUnsupported: mark === undefined });
    };
    walk(value, '', undefined);
    return counts;
  }

  #mark(holder: object, key: string, mark: Mark): void {
    const known = this.#marksFor(holder);
    const part = known.parts?.get(key);
    if (part === undefined) known.marks.set(key, mark);
    else this.#mark(...part, mark);
  }

  /**
   * Returns whether no part was converted, and the value contains no list of objects: members of such lists are stored
   * separately, so that each is restored at its position.
   */
  #isWhole(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return true;
    if (hasObjects(value)) return false;
    const known = this.#marksByHolder.get(value);
    return everyMember(value, (key, member) => this.#markIn(known, key) !== 'carried' && this.#isWhole(member));
  }

  /** Returns whether no part of the value was converted. */
  #isUntouched(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return true;
    const known = this.#marksByHolder.get(value);
    return everyMember(value, (key, member) => {
      const mark = this.#markIn(known, key);
      return mark === undefined ? this.#isUntouched(member) : mark !== 'carried';
    });
  }

  /** Returns the parts that differ from Grafana's default; undefined if there are none. */
  #withoutDefaults(value: unknown): unknown {
    if (Array.isArray(value)) return value.length === 0 ? undefined : value;
    if (!isFields(value)) return isNothing(value) ? undefined : value;
    const known = this.#marksByHolder.get(value);
    const entries = Object.entries(value).flatMap(([key, member]) => {
      const rest = this.#markIn(known, key) === undefined ? this.#withoutDefaults(member) : undefined;
      return rest === undefined ? [] : [[key, rest] as const];
    });
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }
}
