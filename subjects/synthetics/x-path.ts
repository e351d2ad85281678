/**
 * A subset of XPath 1.0 over XML responses: absolute paths of children and descendants, attributes, `text()`, `*`,
 * predicates of positions, attributes and children, and `count()`. A name without a prefix matches elements of any
 * namespace, one with a prefix those with that prefix.
 */

export type Predicate =
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

const leafPredicate =
  'has a predicate on an attribute or text(), which is not supported: write it on the element, such as /a[@id="x"]/@id or /a[text()="x"]/text()';

/** Maximum length of a predicate, and so of a text that it compares with */
export const maxPredicateLength = 2048;
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

/** Returns whether a step selects texts: attributes or `text()`. */
export const isLeaf = ({ test }: Pick<Step, 'test'>): boolean => test.startsWith('@') || test === 'text()';

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
    if (isLeaf({ test }) && parsed.length > 0) return leafPredicate;
    steps.push({ isDescendant: slashes === '//', test, predicates: parsed });
    at += whole.length;
  }
  return steps.length === 0 || steps.slice(0, -1).some(isLeaf) ? supported : { steps, isCount };
};

export const findXPathProblem = (expression: string): string | undefined => {
  const parsed = parseXPath(expression);
  return typeof parsed === 'string' ? parsed : undefined;
};
