/** YAML documents with the line numbers of their nodes */
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import { parseYaml, YamlError, type YamlText } from '../../queries/yaml.ts';
import type { DocumentText } from '../../queries/yaml-documents.ts';
import type { SigmaError, SigmaValue } from './documents.ts';

/** Returns the name of a field; `undefined` for a key that is a list or a map. */
const keyName = ({ key }: Pair): string | undefined => (isScalar(key) ? String(key.value ?? '') : undefined);

/** A map of a document with typed access to fields; errors are added to `errors` */
export class YamlMap {
  readonly #map: YAMLMap;
  readonly #pairs = new Map<string, Pair>();
  readonly #document: YamlDocument;
  readonly path: string;

  constructor(of: YamlDocument, map: YAMLMap, path: string) {
    this.#document = of;
    this.#map = map;
    this.path = path;
    for (const pair of map.items) {
      const name = keyName(pair);
      // For 1 and '1', which are different YAML keys, the first counts.
      if (name !== undefined && !this.#pairs.has(name)) this.#pairs.set(name, pair);
    }
  }

  get keys(): string[] {
    return this.#map.items.map((pair) => keyName(pair) ?? '');
  }

  node(key: string): Node | undefined {
    return this.#document.resolveAlias(this.#pairs.get(key)?.value as Node | undefined);
  }

  /** Returns the line of a field; the line of the map if it has no field of that name. */
  line(key: string): number {
    return this.#document.line((this.#pairs.get(key)?.key as Node | undefined) ?? this.#map);
  }

  fail(key: string, message: string): void {
    this.#document.fail(this.line(key), this.pathOf(key), message);
  }

  pathOf(key: string): string {
    if (key === '') return this.path;
    return this.path === '' ? key : `${this.path}.${key}`;
  }

  /** Returns a text; numbers, booleans and dates as written. Empty if the field is missing. */
  text(key: string): string {
    const node = this.node(key);
    if (node === undefined || (isScalar(node) && node.value === null)) return '';
    if (isScalar(node)) return node.source ?? String(node.value);
    this.fail(key, 'expected a text');
    return '';
  }

  /** Returns the texts of a list, or a single text as a list. */
  texts(key: string): string[] {
    const node = this.node(key);
    if (node === undefined || (isScalar(node) && node.value === null)) return [];
    if (isScalar(node)) return [this.text(key)];
    if (isSeq(node) && node.items.every((item) => isScalar(this.#document.resolveAlias(item as Node))))
      return node.items.map((item) => this.#document.scalarText(this.#document.resolveAlias(item as Node) as Node));
    this.fail(key, 'expected a string or a list of strings');
    return [];
  }

  map(key: string): YamlMap | undefined {
    const node = this.node(key);
    if (isMap(node)) return new YamlMap(this.#document, node, this.pathOf(key));
    if (node !== undefined) this.fail(key, 'expected a map');
    return undefined;
  }

  /** Returns whether the given number of further values is within the limit. */
  hasRoom(values: number): boolean {
    return this.#document.hasRoom(values);
  }

  /** Returns a map inside a list of this map, by its node. */
  innerMap(node: Node, path: string): YamlMap | undefined {
    return isMap(node) ? new YamlMap(this.#document, node, path) : undefined;
  }

  /** Returns the nodes of a list; `undefined` if the field is not a list. */
  list(key: string): Node[] | undefined {
    const node = this.node(key);
    return isSeq(node) ? node.items.map((item) => this.#document.resolveAlias(item as Node) as Node) : undefined;
  }

  /** Returns the value of a scalar; `undefined` for a list or map. */
  value(node: Node | undefined): SigmaValue | undefined {
    if (!isScalar(node)) return undefined;
    const { value, source } = node;
    if (typeof value === 'number')
      return Number.isSafeInteger(value) || !/^\d+$/.test(source ?? '') ? value : (source ?? value);
    if (typeof value === 'bigint') return String(value);
    return typeof value === 'string' || typeof value === 'boolean' || value === null ? value : String(value);
  }
}

/** Maximum number of values of one document, including those repeated by aliases */
const maxValues = 50_000;

/** A parsed document */
export class YamlDocument {
  readonly #yaml: YamlText | undefined;
  readonly #firstLine: number;
  readonly #errors: SigmaError[];
  readonly #number: number;
  #values = 0;
  title = '';

  constructor({ text, line }: DocumentText, number: number, errors: SigmaError[]) {
    this.#firstLine = line;
    this.#number = number;
    this.#errors = errors;
    try {
      this.#yaml = parseYaml(text);
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      this.fail(line + error.line - 1, '', `this is not valid YAML: ${error.message}`);
    }
  }

  /** Returns the root map; `undefined` if the document is not a map or not YAML. */
  root(): YamlMap | undefined {
    if (this.#yaml === undefined) return undefined;
    const { contents } = this.#yaml;
    if (isMap(contents)) return new YamlMap(this, contents, '');
    this.fail(this.#firstLine, '', 'expected a map with title, logsource and detection');
    return undefined;
  }

  /** Counts values. Returns false if there are more than the limit, which aliases can cause. */
  hasRoom(values: number): boolean {
    this.#values += values;
    return this.#values <= maxValues;
  }

  resolveAlias(node: Node | undefined): Node | undefined {
    return isAlias(node) ? this.#yaml?.target(node) : node;
  }

  scalarText(node: Node): string {
    return isScalar(node) ? (node.source ?? String(node.value ?? '')) : '';
  }

  line(node: Node): number {
    return this.#firstLine + (this.#yaml?.line(node.range?.[0] ?? 0) ?? 1) - 1;
  }

  fail(line: number, field: string, message: string): void {
    this.#errors.push({ document: this.#number, line, field, message, title: this.title });
  }
}
