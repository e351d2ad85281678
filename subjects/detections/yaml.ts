/** YAML documents with the line numbers of their nodes */
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import { parseYaml, YamlError, type YamlText } from '../../queries/yaml.ts';
import type { DocumentText } from '../../queries/yaml-documents.ts';
import type { SigmaError, SigmaValue } from './documents.ts';

/** Returns the name of a field; `undefined` for a key that is a list or a map. */
const getKeyName = ({ key }: Pair): string | undefined => (isScalar(key) ? String(key.value ?? '') : undefined);

/** A map of a document with typed access to its fields. Errors are added to the document's errors. */
export class YamlMap {
  readonly #map: YAMLMap;
  readonly #pairs = new Map<string, Pair>();
  readonly #document: YamlDocument;
  readonly path: string;

  constructor(yamlDocument: YamlDocument, map: YAMLMap, path: string) {
    this.#document = yamlDocument;
    this.#map = map;
    this.path = path;
    for (const pair of map.items) {
      const name = getKeyName(pair);
      // For 1 and '1', which are different YAML keys, the first counts.
      if (name !== undefined && !this.#pairs.has(name)) this.#pairs.set(name, pair);
    }
  }

  get keys(): string[] {
    return this.#map.items.map((pair) => getKeyName(pair) ?? '');
  }

  getNode(key: string): Node | undefined {
    return this.#document.resolveAlias(this.#pairs.get(key)?.value as Node | undefined);
  }

  /** Returns the line of a field; the line of the map if it has no field of that name. */
  getLine(key: string): number {
    return this.#document.getNodeLine((this.#pairs.get(key)?.key as Node | undefined) ?? this.#map);
  }

  addError(key: string, message: string): void {
    this.#document.addErrorAt(this.getLine(key), this.toPath(key), message);
  }

  toPath(key: string): string {
    if (key === '') return this.path;
    return this.path === '' ? key : `${this.path}.${key}`;
  }

  /** Returns a text; numbers, booleans and dates as written. Empty if the field is missing. */
  readText(key: string): string {
    const getNode = this.getNode(key);
    if (getNode === undefined || (isScalar(getNode) && getNode.value === null)) return '';
    if (isScalar(getNode)) return getNode.source ?? String(getNode.value);
    this.addError(key, 'expected a text');
    return '';
  }

  /** Returns the texts of a list, or a single text as a list. */
  readTexts(key: string): string[] {
    const getNode = this.getNode(key);
    if (getNode === undefined || (isScalar(getNode) && getNode.value === null)) return [];
    if (isScalar(getNode)) return [this.readText(key)];
    if (isSeq(getNode) && getNode.items.every((item) => isScalar(this.#document.resolveAlias(item as Node))))
      return getNode.items.map((item) => this.#document.scalarText(this.#document.resolveAlias(item as Node) as Node));
    this.addError(key, 'expected a string or a list of strings');
    return [];
  }

  readMap(key: string): YamlMap | undefined {
    const getNode = this.getNode(key);
    if (isMap(getNode)) return new YamlMap(this.#document, getNode, this.toPath(key));
    if (getNode !== undefined) this.addError(key, 'expected a map');
    return undefined;
  }

  /** Returns whether the given number of further values is within the limit. */
  addValues(values: number): boolean {
    return this.#document.addValues(values);
  }

  /** Returns a map inside a list of this map, by its node. */
  innerMap(node: Node, path: string): YamlMap | undefined {
    return isMap(node) ? new YamlMap(this.#document, node, path) : undefined;
  }

  /** Returns the nodes of a list; `undefined` if the field is not a list. */
  readList(key: string): Node[] | undefined {
    const getNode = this.getNode(key);
    return isSeq(getNode) ? getNode.items.map((item) => this.#document.resolveAlias(item as Node) as Node) : undefined;
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
      this.addErrorAt(line + error.line - 1, '', `this is not valid YAML: ${error.message}`);
    }
  }

  /** Returns the root map; `undefined` if the document is not a map or not YAML. */
  root(): YamlMap | undefined {
    if (this.#yaml === undefined) return undefined;
    const { contents } = this.#yaml;
    if (isMap(contents)) return new YamlMap(this, contents, '');
    this.addErrorAt(this.#firstLine, '', 'expected a map with title, logsource and detection');
    return undefined;
  }

  /** Counts values. Returns false if there are more than the limit, which aliases can cause. */
  addValues(values: number): boolean {
    this.#values += values;
    return this.#values <= maxValues;
  }

  resolveAlias(node: Node | undefined): Node | undefined {
    return isAlias(node) ? this.#yaml?.target(node) : node;
  }

  scalarText(node: Node): string {
    return isScalar(node) ? (node.source ?? String(node.value ?? '')) : '';
  }

  getNodeLine(node: Node): number {
    return this.#firstLine + (this.#yaml?.line(node.range?.[0] ?? 0) ?? 1) - 1;
  }

  addErrorAt(line: number, field: string, message: string): void {
    this.#errors.push({ document: this.#number, line, field, message, title: this.title });
  }
}
