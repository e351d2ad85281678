/** Reads values of XPaths from one XML response, in bounded time and memory. */
import { isLeaf, maxPredicateLength, type Predicate, type XPath } from './x-path.ts';
import { getXmlText, type XmlElement } from './xml.ts';

/** Maximum number of characters of values: elements within each other have the same text. */
const maxValueLength = 10_000_000;
/** Maximum number of nodes that all paths of a response read together: probes run other checks at the same time. */
const defaultMaxReadNodes = 10_000_000;

/** Says what is too large. */
class LimitError extends Error {}

const isNamed = (written: string, test: string): boolean =>
  test === '*' || written === test || (!test.includes(':') && written.slice(written.indexOf(':') + 1) === test);

const listValues = (elements: readonly XmlElement[]): readonly string[] => {
  const values: string[] = [];
  let length = 0;
  for (const element of elements) {
    const text = getXmlText(element);
    length += text.length;
    if (length > maxValueLength)
      throw new LimitError(
        `has too much text: its elements have more than ${maxValueLength} characters, so use a path to fewer elements`,
      );
    values.push(text);
  }
  return values;
};

export class XPathReader {
  readonly #document: XmlElement;
  readonly #maxReadNodes: number;
  readonly #shortTexts = new Map<XmlElement, string | undefined>();
  #readNodes = 0;

  /** `document` is the element without a name of a parsed text. */
  constructor(document: XmlElement, maxReadNodes = defaultMaxReadNodes) {
    this.#document = document;
    this.#maxReadNodes = maxReadNodes;
  }

  /**
   * Returns the values of a path in document order, at most `maxValues` of them. A text says why they cannot be read: the
   * response is too large for the path.
   */
  findValues(path: XPath, maxValues = Number.POSITIVE_INFINITY): readonly (string | number)[] | string {
    try {
      return this.#readValues(path, maxValues);
    } catch (error) {
      if (error instanceof LimitError) return error.message;
      throw error;
    }
  }

  #readValues({ steps, isCount }: XPath, maxValues: number): readonly (string | number)[] {
    let elements: readonly XmlElement[] = [this.#document];
    let leaves: readonly string[] | undefined;
    for (const step of steps) {
      const { isDescendant, test, predicates } = step;
      const parents = isDescendant ? this.#listDescendants(elements) : elements;
      if (isLeaf(step)) leaves = parents.flatMap((parent) => this.#listLeaves(parent, test));
      else
        elements = parents.flatMap((parent) => this.#filterElements(this.#listNamedElements(parent, test), predicates));
    }
    if (isCount) return [(leaves ?? elements).length];
    return leaves?.slice(0, maxValues) ?? listValues(elements.slice(0, maxValues));
  }

  #addReadNodes(count: number): void {
    this.#readNodes += count;
    if (this.#readNodes > this.#maxReadNodes)
      throw new LimitError(
        `is too much to read: the XPaths of this response read more than ${this.#maxReadNodes} parts of it, so use fewer paths, and without //`,
      );
  }

  #listElements({ children }: XmlElement): readonly XmlElement[] {
    this.#addReadNodes(children.length + 1);
    return children.filter((child) => typeof child !== 'string');
  }

  #listNamedElements(parent: XmlElement, test: string): readonly XmlElement[] {
    return this.#listElements(parent).filter((child) => isNamed(child.name, test));
  }

  /** Returns the values of a leaf: an attribute, or the texts of an element. */
  #listLeaves({ attributes, children }: XmlElement, test: string): readonly string[] {
    if (test === 'text()') {
      this.#addReadNodes(children.length + 1);
      return children.filter((child) => typeof child === 'string');
    }
    this.#addReadNodes(attributes.size + 1);
    return [...attributes].flatMap(([written, value]) => (isNamed(written, test.slice(1)) ? [value] : []));
  }

  /** Returns elements and those within them, each once. */
  #listDescendants(elements: readonly XmlElement[]): readonly XmlElement[] {
    const matchedElements = new Set<XmlElement>();
    const pending = elements.toReversed();
    for (let element = pending.pop(); element !== undefined; element = pending.pop()) {
      if (matchedElements.has(element)) continue;
      matchedElements.add(element);
      // One by one: a call takes some 100,000 arguments at most.
      for (const child of this.#listElements(element).toReversed()) pending.push(child);
    }
    return [...matchedElements];
  }

  #filterElements(elements: readonly XmlElement[], predicates: readonly Predicate[]): readonly XmlElement[] {
    return predicates.reduce(
      (remaining, predicate) =>
        predicate.is === 'value'
          ? remaining.filter((element) => this.#hasValue(element, predicate))
          : remaining.slice(...(predicate.position === 'last' ? [-1] : [predicate.position - 1, predicate.position])),
      elements,
    );
  }

  #hasValue(element: XmlElement, { of, value }: Extract<Predicate, { is: 'value' }>): boolean {
    if (isLeaf({ test: of })) {
      const leaves = this.#listLeaves(element, of);
      return value === undefined ? leaves.length > 0 : leaves.includes(value);
    }
    const elements = of === '.' ? [element] : this.#listNamedElements(element, of);
    return value === undefined
      ? elements.length > 0
      : elements.some((xmlElement) => this.#findShortText(xmlElement) === value);
  }

  /**
   * Returns the text of an element and of those within it; `undefined` if it is longer than that of a predicate. Each
   * element is read once: elements within each other share their text.
   */
  #findShortText(element: XmlElement): string | undefined {
    if (this.#shortTexts.has(element)) return this.#shortTexts.get(element);
    this.#addReadNodes(element.children.length + 1);
    let text: string | undefined = '';
    for (const child of element.children) {
      const part: string | undefined = typeof child === 'string' ? child : this.#findShortText(child);
      text = part === undefined || text.length + part.length > maxPredicateLength ? undefined : text + part;
      if (text === undefined) break;
    }
    this.#shortTexts.set(element, text);
    return text;
  }
}
