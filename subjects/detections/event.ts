/** An event as rules look at it: its values by name, however deep they lie and whatever wrote it. */
import type { FieldTable } from './fields/table.ts';
import { foldName } from './fields/table.ts';
import { lowered } from './pattern.ts';

/** A value of an event. Several of one name are a chain. */
export interface Leaf {
  readonly text: string;
  /** In lower case. */
  readonly low: string;
  /** JSON's null: the field is there and has no value. */
  readonly isNull: boolean;
  /** Where it lies, as the event names it. */
  readonly path: string;
  readonly names: readonly string[];
  next: Leaf | undefined;
}

/** A place in events, known once for all that have it. */
interface PathNode {
  readonly path: string;
  /** Folded names of a value that lies here. */
  readonly names: readonly string[];
  readonly children: Map<string, PathNode>;
}

const mostPaths = 20_000;
const mostDepth = 32;
/** Values of one event that are looked at. */
const mostLeaves = 2_000;

/** Names by which places of events go. */
export class EventPaths {
  readonly #roots: readonly string[];
  #top = this.#node('');
  #count = 0;

  constructor(tables: readonly FieldTable[]) {
    this.#roots = [...new Set(tables.flatMap(({ roots = [] }) => roots))]
      .map((root) => `${foldName(root)}.`)
      .toSorted((left, right) => right.length - left.length);
    this.#top = this.#node('');
  }

  get top(): PathNode {
    if (this.#count > mostPaths) {
      this.#top = this.#node('');
      this.#count = 0;
    }
    return this.#top;
  }

  child(node: PathNode, key: string): PathNode {
    const known = node.children.get(key);
    if (known !== undefined) return known;
    const made = this.#node(node.path === '' ? key : `${node.path}.${key}`);
    this.#count++;
    node.children.set(key, made);
    return made;
  }

  /** The whole path, and what is left of it below a root. What XML writers put around values and attributes is left out. */
  #node(path: string): PathNode {
    const whole = foldName(path);
    const plain = whole
      .replaceAll(/\.(?:#text|#attributes|@attributes|_attributes|value)(?=\.|$)/g, '')
      .replaceAll('.@', '.');
    const names = new Set([whole, plain]);
    for (const root of this.#roots ?? []) {
      const below = belowRoot(plain, root);
      if (below !== undefined) names.add(below);
    }
    return { path, names: [...names].filter((name) => name !== ''), children: new Map() };
  }
}

/** What follows a root, in which `*` is one part of a path. */
const belowRoot = (path: string, root: string): string | undefined => {
  if (!root.includes('*'))
    return path.startsWith(root) && path.length > root.length ? path.slice(root.length) : undefined;
  const wanted = root.split('.').slice(0, -1);
  const found = path.split('.');
  if (found.length <= wanted.length) return undefined;
  return wanted.every((part, at) => part === '*' || part === found[at])
    ? found.slice(wanted.length).join('.')
    : undefined;
};

const nameKeys = ['Name', '@Name', 'name', 'key'];
const valueKeys = ['#text', 'Value', 'value', 'text', '_'];

/** `{"Name": "Image", "#text": "…"}`, as some write the fields of Windows events. */
const namedValue = (value: object): readonly [string, unknown] | undefined => {
  const keys = Object.keys(value);
  if (keys.length !== 2) return undefined;
  const name = nameKeys.find((key) => key in value);
  const text = valueKeys.find((key) => key in value);
  if (name === undefined || text === undefined) return undefined;
  const named = (value as Record<string, unknown>)[name];
  return typeof named === 'string' ? [named, (value as Record<string, unknown>)[text]] : undefined;
};

export class SigmaEvent {
  readonly #paths: EventPaths;
  readonly #byName = new Map<string, Leaf>();
  readonly leaves: Leaf[] = [];

  constructor(paths: EventPaths) {
    this.#paths = paths;
  }

  /** The first of a chain of values of a folded name. */
  get(name: string): Leaf | undefined {
    return this.#byName.get(name);
  }

  /** Adds what an object holds, as the source logs it. */
  addObject(value: object): this {
    this.#walk(value, this.#paths.top, 0);
    return this;
  }

  /** Adds one value by its name, in which dots part names. */
  add(name: string, value: unknown): this {
    this.#walk(value, this.#paths.child(this.#paths.top, name), 0);
    return this;
  }

  /** Adds one value by its name, unless there is one of that name. */
  addIfAbsent(name: string, value: unknown): void {
    const node = this.#paths.child(this.#paths.top, name);
    const [whole] = node.names;
    if (whole === undefined || !this.#byName.has(whole)) this.#walk(value, node, 0);
  }

  #walk(value: unknown, node: PathNode, depth: number): void {
    if (typeof value !== 'object' || value === null) {
      this.#leaf(value, node);
      return;
    }
    if (depth >= mostDepth) return;
    if (Array.isArray(value)) {
      for (const each of value) {
        const named = typeof each === 'object' && each !== null ? namedValue(each) : undefined;
        if (named === undefined) this.#walk(each, node, depth + 1);
        else this.#walk(named[1], this.#paths.child(node, named[0]), depth + 1);
      }
      return;
    }
    for (const key in value)
      this.#walk((value as Record<string, unknown>)[key], this.#paths.child(node, key), depth + 1);
  }

  #leaf(value: unknown, { path, names }: PathNode): void {
    if (value === undefined || this.leaves.length >= mostLeaves) return;
    const isNull = value === null;
    const text = isNull ? '' : typeof value === 'string' ? value : String(value);
    const leaf: Leaf = { text, low: lowered(text), isNull, path, names, next: undefined };
    this.leaves.push(leaf);
    for (const name of names) {
      const first = this.#byName.get(name);
      if (first === undefined) this.#byName.set(name, leaf);
      // Of one place: a list. Another place of the same name is hidden by the first.
      else if (first.path === path && name === names[0]) chain(first, leaf);
    }
  }
}

const chain = (first: Leaf, leaf: Leaf): void => {
  let last = first;
  while (last.next !== undefined) last = last.next;
  last.next = leaf;
};
