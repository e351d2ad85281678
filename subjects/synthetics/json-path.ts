/** JSONPath (RFC 9535) over answers of targets. Its `match` and `search` are RE2: JavaScript's own expressions backtrack. */
import { FunctionExpressionType, JSONPathEnvironment, type JSONValue } from 'json-p3';
import { type Regex, regexOf } from '../../queries/search/regex.ts';

/** An expression that was read. */
export interface JsonPath {
  /** What it finds, in the order of the document. */
  valuesIn(document: unknown): readonly unknown[];
}

/** So many expressions of filters stay compiled: a filter asks the same one of each element. */
const maxCompiled = 64;
const compiled = new Map<string, Regex | string>();

const regexFor = (pattern: string): Regex | string => {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= maxCompiled) compiled.clear();
  const regex = regexOf(pattern, 0);
  compiled.set(pattern, regex);
  return regex;
};

/** I-Regexp's dot stops at both line breaks, RE2's at one. A dot in a class is a dot. */
const withDots = (pattern: string): string => {
  let isClass = false;
  return pattern.replace(/\\?./gs, (part) => {
    if (part === '.' && !isClass) return '[^\\n\\r]';
    if (part === '[' || part === ']') isClass = part === '[';
    return part;
  });
};

const { ValueType, LogicalType } = FunctionExpressionType;
const regexFunction = (around: (pattern: string) => string) => ({
  argTypes: [ValueType, ValueType],
  returnType: LogicalType,
  call(text: unknown, pattern: unknown): boolean {
    if (typeof text !== 'string' || typeof pattern !== 'string') return false;
    const regex = regexFor(around(withDots(pattern)));
    return typeof regex !== 'string' && regex.test(text);
  },
});

const environment = new JSONPathEnvironment();
environment.functionRegister.set(
  'match',
  regexFunction((pattern) => `\\A(?:${pattern})\\z`),
);
environment.functionRegister.set(
  'search',
  regexFunction((pattern) => pattern),
);

/** Reads an expression; what is wrong with it is the answer if it is none. */
export const readJsonPath = (text: string): JsonPath | string => {
  try {
    const query = environment.compile(text);
    return { valuesIn: (document) => query.query(document as JSONValue).values() };
  } catch (error) {
    return (error as Error).message;
  }
};

/** The expression without quoted names and texts of filters: what stands in them is no syntax. */
const withoutTexts = (path: string): string => {
  let syntax = '';
  let quote = '';
  for (let at = 0; at < path.length; at++) {
    const character = path.charAt(at);
    if (quote === '') {
      if (character === '"' || character === "'") quote = character;
      else syntax += character;
    } else if (character === '\\') at++;
    else if (character === quote) quote = '';
  }
  return syntax;
};

/** Each asks all that lies below all that the one before it found. */
const maxDescents = 2;

/** Why an expression cannot be asked of an answer of any size; nothing if it can. */
export const jsonPathProblem = (text: string): string | undefined => {
  const read = readJsonPath(text);
  if (typeof read === 'string') return `is no JSONPath: ${read}`;
  const syntax = withoutTexts(text);
  // It would be asked of the whole answer for each element.
  if (syntax.indexOf('$', 1) > 0) return 'must not ask `$` within a filter: take what is within the element, with `@`';
  return syntax.split('..').length > maxDescents + 1 ? `must have at most ${maxDescents} \`..\`` : undefined;
};
