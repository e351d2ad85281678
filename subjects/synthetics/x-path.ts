/**
 * A subset of XPath 1.0 over XML responses: absolute paths of children and descendants, attributes, `text()`, `*`,
 * predicates of positions, attributes and children, and `count()`. A name without a prefix matches elements of any
 * namespace, one with a prefix those with that prefix. A path takes time in proportion to the response.
 */
import { getXmlText, parseXml, type XmlElement } from './xml.ts';

type Predicate =
  | { readonly is: 'position'; readonly position: number | 'last' }
  | { readonly is: 'value'; readonly of: string; readonly value: string | undefined };

interface Step {
  readonly isDescendant: boolean;
  /** Name of an element, `*`, `@name` or `text()` */
  readonly test: string;
  readonly predicates: readonly Predicate[];
}

export interface XPath {
  readonly steps: readonly Step[];
  readonly isCount: boolean;
}

const supported =
  'is not a supported XPath: use paths such as /a/b, //b, /a/b[1], /a/b[last()], /a/b[@id="x"], /a/b[c="x"], /a/@id, /a/b/text() and count(//b)';

const stepPattern = /(\/\/?)(text\(\)|@?\*|@?[\p{L}_][\p{L}\p{N}_.:-]{0,255})((?:\[[^[\]]{1,2048}\]){0,8})/uy;
const valuePattern = /^(text\(\)|\.|@?[\p{L}_][\p{L}\p{N}_.:-]{0,255})(?:\s?=\s?(?:"([^"]*)"|'([^']*)'))?$/u;
const maxSteps = 32;

/** Parses the content of brackets; undefined if it is not supported. */
const parsePredicate = (content: string): Predicate | undefined => {
  const text = content.trim();
  if (text === 'last()') return { is: 'position', position: 'last' };
  if (/^\d{1,6}$/.test(text)) return { is: 'position', position: Number(text) };
  const [, of, double, single] = valuePattern.exec(text) ?? [];
  return of === undefined ? undefined : { is: 'value', of, value: double ?? single };
};

const parsePredicates = (text: string): readonly (Predicate | undefined)[] =>
  text === '' ? [] : text.slice(1, -1).split('][').map(parsePredicate);

const isLeaf = ({ test }: Step): boolean => test.startsWith('@') || test === 'text()';

/** Parses an expression; a text says why it cannot be used. */
export const parseXPath = (expression: string): XPath | string => {
  const text = expression.trim();
  const isCount = text.startsWith('count(') && text.endsWith(')');
  const path = isCount ? text.slice(6, -1).trim() : text;
  const steps: Step[] = [];
  for (let at = 0; at < path.length; ) {
    stepPattern.lastIndex = at;
    const [whole, slashes, test = '', predicates = ''] = stepPattern.exec(path) ?? [];
    if (whole === undefined || steps.length === maxSteps) return supported;
    const parsed = parsePredicates(predicates).filter((each) => each !== undefined);
    if (parsed.length < parsePredicates(predicates).length) return supported;
    steps.push({ isDescendant: slashes === '//', test, predicates: parsed });
    at += whole.length;
  }
  return steps.length === 0 || steps.slice(0, -1).some(isLeaf) ? supported : { steps, isCount };
};

export const findXPathProblem = (expression: string): string | undefined => {
  const parsed = parseXPath(expression);
  return typeof parsed === 'string' ? parsed : undefined;
};

const isNamed = (written: string, test: string): boolean =>
  test === '*' || written === test || (!test.includes(':') && written.slice(written.indexOf(':') + 1) === test);

const listElements = ({ children }: XmlElement): readonly XmlElement[] =>
  children.filter((child) => typeof child !== 'string');

const listTexts = ({ children }: XmlElement): readonly string[] =>
  children.filter((child) => typeof child === 'string');

const listAttributes = ({ attributes }: XmlElement, test: string): readonly string[] =>
  [...attributes].flatMap(([written, value]) => (isNamed(written, test.slice(1)) ? [value] : []));

/** Returns the values of a leaf: an attribute, or the texts of an element. */
const listLeaves = (element: XmlElement, test: string): readonly string[] =>
  test === 'text()' ? listTexts(element) : listAttributes(element, test);

const hasValue = (element: XmlElement, { of, value }: Extract<Predicate, { is: 'value' }>): boolean => {
  const values =
    of === '.'
      ? [getXmlText(element)]
      : of === 'text()' || of.startsWith('@')
        ? listLeaves(element, of)
        : listElements(element)
            .filter((child) => isNamed(child.name, of))
            .map(getXmlText);
  return value === undefined ? values.length > 0 : values.includes(value);
};

const filterElements = (elements: readonly XmlElement[], predicates: readonly Predicate[]): readonly XmlElement[] =>
  predicates.reduce(
    (remaining, each) =>
      each.is === 'value'
        ? remaining.filter((element) => hasValue(element, each))
        : remaining.slice(...(each.position === 'last' ? [-1] : [each.position - 1, each.position])),
    elements,
  );

/** Returns elements and those within them, each once. */
const listDescendants = (elements: readonly XmlElement[]): readonly XmlElement[] => {
  const found = new Set<XmlElement>();
  const pending = elements.toReversed();
  for (let element = pending.pop(); element !== undefined; element = pending.pop()) {
    if (found.has(element)) continue;
    found.add(element);
    // One by one: a call takes some 100,000 arguments at most.
    for (const child of listElements(element).toReversed()) pending.push(child);
  }
  return [...found];
};

/** Maximum number of characters of values: elements within each other have the same text. */
const maxValueLength = 10_000_000;

const listValues = (elements: readonly XmlElement[]): readonly string[] => {
  const values: string[] = [];
  let length = 0;
  for (const element of elements) {
    const text = getXmlText(element);
    length += text.length;
    if (length > maxValueLength) break;
    values.push(text);
  }
  return values;
};

/** Returns the values of a path in document order; none if the text is no XML. */
export const findXPathValues = ({ steps, isCount }: XPath, text: string): readonly (string | number)[] => {
  const document = parseXml(text);
  if (document === undefined) return [];
  let elements: readonly XmlElement[] = [document];
  let leaves: readonly string[] | undefined;
  for (const { isDescendant, test, predicates } of steps) {
    const parents = isDescendant ? listDescendants(elements) : elements;
    if (test.startsWith('@') || test === 'text()') leaves = parents.flatMap((parent) => listLeaves(parent, test));
    else
      elements = parents.flatMap((parent) =>
        filterElements(
          listElements(parent).filter((child) => isNamed(child.name, test)),
          predicates,
        ),
      );
  }
  if (isCount) return [(leaves ?? elements).length];
  return leaves ?? listValues(elements);
};
