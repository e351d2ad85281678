/**
 * Parses YAML sent by users. All YAML input of the product is parsed here, with limits that keep the work proportional
 * to the length of the text.
 */
import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  type YAMLMap,
} from 'yaml';

/** Maximum number of keys in one map. */
const maxKeys = 5000;
const maxAliases = 1000;
/** Maximum number of lexical parts, such as keys, separators and line ends: they determine the time and the memory. */
const maxParts = 400_000;
/** Maximum number of open lists and maps around a value. */
const maxNesting = 500;
/**
 * Maximum number of characters that aliases may repeat, including nested repetition: a few hundred aliases could
 * otherwise expand to an unbounded text.
 */
const maxRepeatedCharacters = 1_000_000;

/**
 * Thrown for a text that is not valid YAML or exceeds the limits. The message describes the error without its position.
 */
export class YamlError extends Error {
  override name = 'YamlError';
  readonly line: number;
  readonly column: number;

  constructor(message: string, { line, col }: { readonly line: number; readonly col: number }) {
    super(message);
    this.line = line;
    this.column = col;
  }

  /** The message with the position. */
  get text(): string {
    return `${this.message} at line ${this.line}, column ${this.column}`;
  }
}

/** A document as nodes and as values. */
export interface YamlText {
  readonly contents: Node | null;
  /** Tags that have no meaning here; their values are read as if they had none. */
  readonly unknownTags: readonly { readonly tag: string; readonly line: number }[];
  /** Returns the line of an offset in the text, starting at 1. */
  line(offset: number): number;
  /** Returns the line of the innermost part of a path that exists; for an entry of a map, the line of its key. */
  getPathLine(path: readonly PropertyKey[]): number;
  /** Returns the target of an alias; undefined if no earlier node has the name. */
  target(alias: Alias): Node | undefined;
  /** Returns maps as objects, lists as arrays. Throws `YamlError` for an alias without a target. */
  value(): unknown;
}

const getMessage = ({ message }: Error): string =>
  message.startsWith('Maximum call stack') ? 'it is nested too deeply' : message;

/** Converts errors of the parser to `YamlError`, such as those for texts nested deeper than the stack. */
const withYamlErrors = <Result>(work: () => Result): Result => {
  try {
    return work();
  } catch (error) {
    if (error instanceof YamlError) throw error;
    throw new YamlError(getMessage(error as Error), { line: 1, col: 1 });
  }
};

/**
 * Parses one document, as `parseDocument` of the library does, but ends at the first error instead of parsing the rest,
 * and at the limits.
 */
const composeDocument = (text: string, lines: LineCounter): Document.Parsed => {
  const reject = (message: string, offset: number): never => {
    throw new YamlError(message, lines.linePos(offset));
  };
  const parser = new Parser(lines.addNewLine);
  // The library compares each key of a map with all others; here they are counted first, and compared in one pass.
  const composer = new Composer({ strict: true, uniqueKeys: false });
  const documents: Document.Parsed[] = [];
  const compose = (tokens: Iterable<CST.Token>): void => {
    for (const token of tokens) {
      if (token.type === 'error')
        reject(token.source ? `${token.message}: ${JSON.stringify(token.source)}` : token.message, token.offset);
      for (const document of composer.next(token)) documents.push(document as Document.Parsed);
    }
  };
  lines.addNewLine(0);
  let parts = 0;
  for (const lexeme of new Lexer().lex(text)) {
    parts++;
    if (parts > maxParts) reject(`it has more than ${maxParts} parts`, parser.offset);
    compose(parser.next(lexeme));
    if (parser.stack.length > maxNesting) reject('it is nested too deeply', parser.offset);
  }
  compose(parser.end());
  for (const document of composer.end(true, text.length)) documents.push(document as Document.Parsed);
  const [document, next] = documents;
  if (document === undefined) return reject('it is empty', 0);
  const [error] = document.errors;
  if (error !== undefined) reject(getMessage(error), error.pos[0]);
  if (next !== undefined) reject('it contains several documents', next.range?.[0] ?? 0);
  return document;
};

const getChildren = (node: Node): unknown[] => {
  if (isMap(node)) return node.items.flatMap(({ key, value }) => [key, value]);
  return isSeq(node) ? node.items : [];
};

/** Called for a node that exceeds the limits. */
type RejectNode = (message: string, node: Node) => never;

const requireValidKeys = (map: YAMLMap, reject: RejectNode): void => {
  if (map.items.length > maxKeys) reject(`a map has more than ${maxKeys} keys`, map);
  const keys = new Set<unknown>();
  for (const { key } of map.items) {
    if (key === null) continue;
    // A key that is a map would be serialized to text as a field name; each nested map would double the time of this.
    if (!isScalar(key)) reject('a key of a map is not a string', isNode(key) ? key : map);
    else if (keys.has(key.value)) reject('keys of a map must be unique', key);
    else keys.add(key.value);
  }
};

const getOffset = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

/** Resolves the aliases of a document and counts their repetition; they must be added in document order. */
class Aliases {
  readonly #anchors = new Map<string, Node>();
  readonly #resolvedAliases: { readonly at: number; readonly length: number }[] = [];
  readonly #reject: RejectNode;
  #length = 0;

  constructor(reject: RejectNode) {
    this.#reject = reject;
  }

  addAnchor(node: Node & { readonly anchor?: string | undefined }): void {
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
  }

  /**
   * Resolves an alias from the collected anchors, because the library would scan the entire document for each alias.
   */
  resolveAlias(alias: Alias): void {
    const target = this.#anchors.get(alias.source);
    alias.resolve = () => target as ReturnType<Alias['resolve']>;
    const resolvedAlias = {
      at: getOffset(alias),
      length: target === undefined ? 0 : this.#getExpandedLength(target, alias),
    };
    this.#resolvedAliases.push(resolvedAlias);
    this.#length += resolvedAlias.length;
    if (this.#resolvedAliases.length > maxAliases) this.#reject(`there are more than ${maxAliases} aliases`, alias);
    if (this.#length > maxRepeatedCharacters)
      this.#reject(`aliases repeat more than ${maxRepeatedCharacters} characters`, alias);
  }

  /** Returns the length of a node, including the repetition of nested aliases. */
  #getExpandedLength({ range }: Node, alias: Alias): number {
    const [start = 0, end = start] = range ?? [];
    const isWithin = (at: number): boolean => start <= at && at < end;
    if (isWithin(getOffset(alias))) this.#reject('an alias refers to a node that contains it', alias);
    return this.#resolvedAliases.reduce((sum, { at, length }) => (isWithin(at) ? sum + length : sum), end - start);
  }
}

/** Whether a pair is a merge key: `<<`, without quotes. */
const isMerge = ({ key }: Pair): boolean => isScalar(key) && key.value === '<<' && key.type === 'PLAIN';

const resolveNode = (node: unknown): unknown => (isAlias(node) ? (node.resolve as () => Node | undefined)() : node);

/** Replaces merge keys by the pairs that they stand for, so that all readers of nodes and values know them. */
class Merges {
  readonly #replacedMaps = new Set<YAMLMap>();
  readonly #reject: RejectNode;

  constructor(reject: RejectNode) {
    this.#reject = reject;
  }

  /** Replaces the merge key of a map whose aliases are resolved. */
  replace(map: YAMLMap): void {
    if (this.#replacedMaps.has(map)) return;
    this.#replacedMaps.add(map);
    const merge = map.items.find(isMerge);
    if (merge === undefined) return;
    const own = map.items.filter((pair) => pair !== merge);
    const names = new Set(own.map(getPairName));
    map.items = own;
    for (const source of this.#listSources(merge)) {
      this.replace(source);
      const added = source.items.filter((pair) => !names.has(getPairName(pair)));
      for (const pair of added) names.add(getPairName(pair));
      map.items = [...map.items, ...added];
      if (map.items.length > maxKeys) this.#reject(`a map has more than ${maxKeys} keys`, map);
    }
  }

  #listSources({ key, value }: Pair): readonly YAMLMap[] {
    const merged = resolveNode(value);
    const sources = isSeq(merged) ? merged.items.map(resolveNode) : [merged];
    const maps = sources.filter((source) => isMap(source));
    if (maps.length < sources.length)
      this.#reject('a merge key (<<) takes a map or a list of maps', (isNode(value) ? value : key) as Node);
    return maps;
  }
}

const getPairName = ({ key }: Pair): unknown => (isScalar(key) ? key.value : key);

/** Visits a document in order. */
const visitNodes = (contents: Node | null, reject: RejectNode): void => {
  const aliases = new Aliases(reject);
  const mapsWithMerge: YAMLMap[] = [];
  const pendingNodes: unknown[] = [contents];
  while (pendingNodes.length > 0) {
    const node = pendingNodes.pop();
    if (!isNode(node)) continue;
    if (isAlias(node)) {
      aliases.resolveAlias(node);
      continue;
    }
    aliases.addAnchor(node);
    if (isMap(node)) {
      requireValidKeys(node, reject);
      if (node.items.some(isMerge)) mapsWithMerge.push(node);
    }
    for (const child of getChildren(node).toReversed()) pendingNodes.push(child);
  }
  const merges = new Merges(reject);
  for (const map of mapsWithMerge) merges.replace(map);
};

const findOffset = (
  contents: Node | null,
  path: readonly PropertyKey[],
  resolveTarget: (alias: Alias) => unknown,
): number => {
  let at: unknown = contents;
  let offset = getOffset(contents);
  for (const name of path) {
    if (isAlias(at)) at = resolveTarget(at);
    if (isMap(at)) {
      const pair = at.items.find(({ key }) => isScalar(key) && String(key.value) === String(name));
      if (pair === undefined) break;
      offset = getOffset(pair.key);
      at = pair.value;
    } else if (isSeq(at) && at.items[Number(name)] !== undefined) {
      at = at.items[Number(name)];
      offset = getOffset(at);
    } else break;
  }
  return offset;
};

/** Parses one document. Throws `YamlError`. */
export const parseYaml = (text: string): YamlText => {
  const lines = new LineCounter();
  const document = withYamlErrors(() => composeDocument(text, lines));
  visitNodes(document.contents, (message, { range }) => {
    throw new YamlError(message, lines.linePos(range?.[0] ?? 0));
  });
  const line = (offset: number): number => lines.linePos(offset).line;
  return {
    contents: document.contents,
    unknownTags: document.warnings.flatMap(({ code, message, pos: [offset] }) =>
      code === 'TAG_RESOLVE_FAILED' ? [{ tag: message.replace(/^Unresolved tag: /, ''), line: line(offset) }] : [],
    ),
    line,
    getPathLine: (path) => line(findOffset(document.contents, path, (alias) => alias.resolve(document))),
    target: (alias) => alias.resolve(document),
    // Alias repetition is already limited; the library's count happens during its own resolution, which is not used.
    value: () => withYamlErrors(() => document.toJS({ maxAliasCount: -1 })),
  };
};
