/** An event as rules read it: its values by name, at any depth and from any source. */
import { type ValueVisitor, visitNestedValues } from '../../schemas/records/nested-values.ts';
import { toPlainText } from '../../schemas/tables/search-text.ts';
import type { FieldTable } from './fields/table.ts';
import { foldName } from './fields/table.ts';
import { foldCase } from './pattern.ts';

/** Position of a value in events, with its folded names */
export interface ValuePosition {
  readonly names: readonly string[];
}

/** A value of an event. Values of the same name form a linked list. */
export interface EventValue extends ValuePosition {
  readonly text: string;
  /** The value in lower case */
  readonly foldedText: string;
  /** Whether the value is JSON `null`: the field exists and has no value */
  readonly isNull: boolean;
  /** Path of the value in the event */
  readonly path: string;
  next: EventValue | undefined;
}

/**
 * Maps names to values of the current event. Building a map for each event would take as long as parsing its values.
 * Instead, each name has a number, by which the table stores the event in which the name last occurred.
 */
class ValueNameTable {
  readonly #numbers = new Map<string, number>();
  /** The last event that has a value of the name, and the index of that value in the event. */
  readonly #events: number[] = [];
  readonly #leafIndexes: number[] = [];
  #event = 0;

  begin(): number {
    return ++this.#event;
  }

  isLast(event: number): boolean {
    return event === this.#event;
  }

  findNumber(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  assignNumber(name: string): number {
    const existing = this.#numbers.get(name);
    if (existing !== undefined) return existing;
    const number = this.#events.push(0) - 1;
    this.#leafIndexes.push(0);
    this.#numbers.set(name, number);
    return number;
  }

  /** Returns the index of the first value of a name in the current event; -1 if it has none. */
  getLeafIndex(number: number): number {
    return this.#events[number] === this.#event ? (this.#leafIndexes[number] as number) : -1;
  }

  setLeafIndex(number: number, index: number): void {
    this.#events[number] = this.#event;
    this.#leafIndexes[number] = index;
  }
}

/** A position in events, shared by all events that have it */
interface PathNode extends ValuePosition {
  readonly path: string;
  /** Numbers of the names */
  readonly numbers: readonly number[];
  readonly children: Map<string, PathNode>;
}

/** Positions shared by consecutive events */
interface SharedPositions {
  readonly top: PathNode;
  readonly names: ValueNameTable;
}

const maxPaths = 20_000;
/** Maximum number of values of one event that are read */
const maxLeaves = 2_000;

/** Caches the names of value positions across events */
export class EventPaths {
  readonly #roots: readonly string[];
  #positions: SharedPositions;
  #count = 0;

  constructor(tables: readonly FieldTable[]) {
    this.#roots = [...new Set(tables.flatMap(({ roots = [] }) => roots))]
      .map((root) => `${foldName(root)}.`)
      .toSorted((left, right) => right.length - left.length);
    this.#positions = this.#newPositions();
  }

  /** Returns the positions for one event. If the cache is too large, the next event starts with an empty one. */
  get positions(): SharedPositions {
    if (this.#count > maxPaths) this.#positions = this.#newPositions();
    return this.#positions;
  }

  getChild(names: ValueNameTable, node: PathNode, key: string): PathNode {
    const existing = node.children.get(key);
    if (existing !== undefined) return existing;
    const createdNode = this.#node(names, node.path === '' ? key : `${node.path}.${key}`);
    this.#count++;
    node.children.set(key, createdNode);
    return createdNode;
  }

  /** Returns the folded names of a value by its name in the event. */
  getNames(key: string): readonly string[] {
    const { names, top } = this.positions;
    return this.getChild(names, top, key).names;
  }

  #newPositions(): SharedPositions {
    const names = new ValueNameTable();
    this.#count = 0;
    return { names, top: this.#node(names, '') };
  }

  /**
   * Returns the node of a path, with the full path and the remainder below each root as names. The wrappers that XML
   * writers add around values and attributes are omitted.
   */
  #node(table: ValueNameTable, path: string): PathNode {
    const foldedPath = foldName(path);
    const unwrappedPath = foldedPath
      .replaceAll(/\.(?:#text|#attributes|@attributes|_attributes|value)(?=\.|$)/g, '')
      .replaceAll('.@', '.');
    const foldedNames = new Set([foldedPath, unwrappedPath]);
    for (const root of this.#roots) {
      const pathBelowRoot = removeRoot(unwrappedPath, root);
      if (pathBelowRoot !== undefined) foldedNames.add(pathBelowRoot);
    }
    const names = [...foldedNames].filter((name) => name !== '');
    return { path, names, numbers: names.map((name) => table.assignNumber(name)), children: new Map() };
  }
}

/** Returns the part of a path that follows a root, in which `*` matches one segment. */
const removeRoot = (path: string, root: string): string | undefined => {
  if (!root.includes('*'))
    return path.startsWith(root) && path.length > root.length ? path.slice(root.length) : undefined;
  const prefix = root.split('.').slice(0, -1);
  const segments = path.split('.');
  if (segments.length <= prefix.length) return undefined;
  return prefix.every((part, index) => part === '*' || part === segments[index])
    ? segments.slice(prefix.length).join('.')
    : undefined;
};

const nameKeys = ['Name', '@Name', 'name', 'key'];
const valueKeys = ['#text', 'Value', 'value', 'text', '_'];

/**
 * Returns the name and value of an object such as `{"Name": "Image", "#text": "…"}`, the form of some Windows event
 * fields.
 */
const parseNamedValue = (value: object): readonly [string, unknown] | undefined => {
  const keys = Object.keys(value);
  if (keys.length !== 2) return undefined;
  const name = nameKeys.find((key) => key in value);
  const text = valueKeys.find((key) => key in value);
  if (name === undefined || text === undefined) return undefined;
  const nameValue = (value as Record<string, unknown>)[name];
  return typeof nameValue === 'string' ? [nameValue, (value as Record<string, unknown>)[text]] : undefined;
};

/** Returns a text as people read it: rules find no escape sequences. In JSON, they have been parsed. */
export const withoutEscapes = (text: string): string => (text.includes('\u001b') ? toPlainText(text) : text);

export class SigmaEvent {
  readonly #paths: EventPaths;
  readonly #names: ValueNameTable;
  readonly #top: PathNode;
  readonly #event: number;
  /** First values by name, built once another event has started */
  #byName: Map<string, EventValue> | undefined;
  readonly leaves: EventValue[] = [];
  readonly #visitor: ValueVisitor<PathNode> = {
    enter: (node, key) => this.#getChild(node, key),
    visit: (node, value) => this.#addLeaf(value, node),
    readNamedItem: parseNamedValue,
  };

  constructor(paths: EventPaths) {
    this.#paths = paths;
    const { names, top } = paths.positions;
    this.#names = names;
    this.#top = top;
    this.#event = names.begin();
  }

  /** Returns the first value of a folded name; further values are linked from it. */
  get(name: string): EventValue | undefined {
    if (!this.#isLast()) return this.#buildOwnNames().get(name);
    const number = this.#names.findNumber(name);
    return number === undefined ? undefined : this.#findByNumber(number);
  }

  /** Adds the fields of an object as the source logs it. */
  addObject(value: object): this {
    visitNestedValues(value, this.#top, this.#visitor);
    return this;
  }

  /** Adds one value by its name, in which dots separate segments. */
  add(name: string, value: unknown): this {
    visitNestedValues(value, this.#getChild(this.#top, name), this.#visitor);
    return this;
  }

  /** Adds one value by its name, unless the event has a value of that name. */
  addIfAbsent(name: string, value: unknown): void {
    const node = this.#getChild(this.#top, name);
    if (node.names.length === 0 || this.#findFirst(node, 0) === undefined)
      visitNestedValues(value, node, this.#visitor);
  }

  #getChild(node: PathNode, key: string): PathNode {
    return this.#paths.getChild(this.#names, node, key);
  }

  #addLeaf(value: unknown, node: PathNode): void {
    if (value === undefined || this.leaves.length >= maxLeaves) return;
    const { path, names, numbers } = node;
    const isNull = value === null;
    const text = isNull ? '' : typeof value === 'string' ? withoutEscapes(value) : String(value);
    const leaf: EventValue = { text, foldedText: foldCase(text), isNull, path, names, next: undefined };
    for (let index = 0; index < names.length; index++) {
      const first = this.#findFirst(node, index);
      // Values of the same position form a list. A different position with the same name is hidden by the first.
      if (first !== undefined) {
        if (index === 0 && first.path === path) appendValue(first, leaf);
      } else if (this.#byName === undefined) this.#names.setLeafIndex(numbers[index] as number, this.leaves.length);
      else this.#byName.set(names[index] as string, leaf);
    }
    this.leaves.push(leaf);
  }

  /** Returns the first value of one of the names of a position. */
  #findFirst({ names, numbers }: PathNode, index: number): EventValue | undefined {
    return this.#isLast()
      ? this.#findByNumber(numbers[index] as number)
      : this.#buildOwnNames().get(names[index] as string);
  }

  #isLast(): boolean {
    return this.#byName === undefined && this.#names.isLast(this.#event);
  }

  #findByNumber(number: number): EventValue | undefined {
    const leafPosition = this.#names.getLeafIndex(number);
    return leafPosition < 0 ? undefined : this.leaves[leafPosition];
  }

  /** Returns a map of this event's own, for use after another event has replaced it in the shared table. */
  #buildOwnNames(): Map<string, EventValue> {
    if (this.#byName !== undefined) return this.#byName;
    const byName = new Map<string, EventValue>();
    for (const leaf of this.leaves) for (const name of leaf.names) if (!byName.has(name)) byName.set(name, leaf);
    this.#byName = byName;
    return byName;
  }
}

const appendValue = (first: EventValue, leaf: EventValue): void => {
  let last = first;
  while (last.next !== undefined) last = last.next;
  last.next = leaf;
};
