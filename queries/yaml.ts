/** Reads YAML that people send. All YAML of the product is read here, within bounds that hold its work to the length of the text. */
import {
  type Alias,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
} from 'yaml';

/** Keys of one map. */
const maxKeys = 5000;
const maxAliases = 1000;
/** Characters that aliases may repeat, with what is repeated in these: a few hundred could stand for a text without end. */
const maxRepeatedCharacters = 1_000_000;

/** A text that is no YAML, or more than is read. The message says what is wrong, without the place. */
export class YamlError extends Error {
  override name = 'YamlError';
  readonly line: number;
  readonly column: number;

  constructor(message: string, { line, col }: { readonly line: number; readonly col: number }) {
    super(message);
    this.line = line;
    this.column = col;
  }

  /** The message with the place. */
  get text(): string {
    return `${this.message} at line ${this.line}, column ${this.column}`;
  }
}

/** A document as its nodes, and as values. */
export interface YamlText {
  readonly contents: Node | null;
  /** Line of a place in the text, from 1. */
  line(offset: number): number;
  /** Line of the innermost part on a path that there is: of its name, where it has one. */
  lineAt(path: readonly PropertyKey[]): number;
  /** What an alias stands for; undefined where nothing before it has the name. */
  target(alias: Alias): Node | undefined;
  /** Maps as objects, lists as arrays. Throws `YamlError` where an alias stands for nothing. */
  value(): unknown;
}

const messageOf = ({ message }: Error): string =>
  message.startsWith('Maximum call stack') ? 'it is nested too deeply' : message;

/** Throws `YamlError` at what a parser throws, such as texts that are nested deeper than the stack. */
const withYamlErrors = <Result>(work: () => Result): Result => {
  try {
    return work();
  } catch (error) {
    throw new YamlError(messageOf(error as Error), { line: 1, col: 1 });
  }
};

const childrenOf = (node: Node): unknown[] => {
  if (isMap(node)) return node.items.flatMap(({ key, value }) => [key, value]);
  return isSeq(node) ? node.items : [];
};

/** Told where a node is more than is read. */
type Refuse = (message: string, node: Node) => never;

const checkKeys = (map: YAMLMap, refuse: Refuse): void => {
  if (map.items.length > maxKeys) refuse(`a map has more than ${maxKeys} keys`, map);
  const keys = new Set<unknown>();
  for (const { key } of map.items) {
    if (key === null) continue;
    // As a name of a field such a key would be written as text, which takes twice as long with each map in it.
    if (!isScalar(key)) refuse('a key of a map is no text', isNode(key) ? key : map);
    else if (keys.has(key.value)) refuse('keys of a map must be unique', key);
    else keys.add(key.value);
  }
};

const offsetOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

/** What aliases of a document stand for, and how much they repeat; they are met in their order. */
class Aliases {
  readonly #anchors = new Map<string, Node>();
  readonly #met: { readonly at: number; readonly length: number }[] = [];
  readonly #refuse: Refuse;
  #length = 0;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  name(node: Node & { readonly anchor?: string | undefined }): void {
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
  }

  /** Gives it what it stands for: the library looks through the whole document for each. */
  meet(alias: Alias): void {
    const target = this.#anchors.get(alias.source);
    alias.resolve = () => target as ReturnType<Alias['resolve']>;
    const one = { at: offsetOf(alias), length: target === undefined ? 0 : this.#lengthOf(target, alias) };
    this.#met.push(one);
    this.#length += one.length;
    if (this.#met.length > maxAliases) this.#refuse(`there are more than ${maxAliases} aliases`, alias);
    if (this.#length > maxRepeatedCharacters)
      this.#refuse(`aliases repeat more than ${maxRepeatedCharacters} characters`, alias);
  }

  /** How long it is, with what aliases within it repeat. */
  #lengthOf({ range }: Node, alias: Alias): number {
    const [start = 0, end = start] = range ?? [];
    const isWithin = (at: number): boolean => start <= at && at < end;
    if (isWithin(offsetOf(alias))) this.#refuse('an alias stands for what it is part of', alias);
    return this.#met.reduce((sum, { at, length }) => (isWithin(at) ? sum + length : sum), end - start);
  }
}

/** Follows a document in its order. */
const follow = (contents: Node | null, refuse: Refuse): void => {
  const aliases = new Aliases(refuse);
  const ahead: unknown[] = [contents];
  while (ahead.length > 0) {
    const node = ahead.pop();
    if (!isNode(node)) continue;
    if (isAlias(node)) {
      aliases.meet(node);
      continue;
    }
    aliases.name(node);
    if (isMap(node)) checkKeys(node, refuse);
    for (const child of childrenOf(node).toReversed()) ahead.push(child);
  }
};

const offsetAt = (contents: Node | null, path: readonly PropertyKey[], targetOf: (alias: Alias) => unknown): number => {
  let at: unknown = contents;
  let offset = offsetOf(contents);
  for (const name of path) {
    if (isAlias(at)) at = targetOf(at);
    if (isMap(at)) {
      const pair = at.items.find(({ key }) => isScalar(key) && String(key.value) === String(name));
      if (pair === undefined) break;
      offset = offsetOf(pair.key);
      at = pair.value;
    } else if (isSeq(at) && at.items[Number(name)] !== undefined) {
      at = at.items[Number(name)];
      offset = offsetOf(at);
    } else break;
  }
  return offset;
};

/** Reads one document. Throws `YamlError`. */
export const readYaml = (text: string): YamlText => {
  const lines = new LineCounter();
  // The library holds each key of a map against all others: here they are counted first, and compared in one pass.
  const document = withYamlErrors(() =>
    parseDocument(text, { lineCounter: lines, prettyErrors: false, strict: true, uniqueKeys: false }),
  );
  const [error] = document.errors;
  if (error !== undefined) throw new YamlError(messageOf(error), lines.linePos(error.pos[0]));
  follow(document.contents, (message, { range }) => {
    throw new YamlError(message, lines.linePos(range?.[0] ?? 0));
  });
  const line = (offset: number): number => lines.linePos(offset).line;
  return {
    contents: document.contents,
    line,
    lineAt: (path) => line(offsetAt(document.contents, path, (alias) => alias.resolve(document))),
    target: (alias) => alias.resolve(document),
    // What aliases repeat was counted before: the library counts where it resolves them, which it does not.
    value: () => withYamlErrors(() => document.toJS({ maxAliasCount: -1 })),
  };
};
