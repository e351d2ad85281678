/**
 * JSONPath (RFC 9535) over responses of targets. `match` and `search` use RE2, because JavaScript's expressions
 * backtrack.
 */
import { FunctionExpressionType, JSONPathEnvironment, type JSONValue } from 'json-p3';
import { compileRegex, type Regex } from '../../queries/search/regex.ts';
import { hasLongNumbers, parseExactJson } from './json.ts';

/** A parsed JSON text */
export interface JsonDocument {
  readonly value: JSONValue;
  /** The same value with exact integers; omitted if all integers of `value` are exact */
  readonly exactValue?: unknown;
}

/** Parses a JSON text; `undefined` if it is not JSON. */
export const parseJsonDocument = (text: string): JsonDocument | undefined => {
  try {
    const value = JSON.parse(text) as JSONValue;
    return hasLongNumbers(text) ? { value, exactValue: parseExactJson(text) } : { value };
  } catch {
    return undefined;
  }
};

/** A parsed expression */
export interface JsonPath {
  /** Returns the matching values in document order, with exact integers. Throws if they are nested too deeply. */
  findValues(document: JsonDocument): readonly unknown[];
}

const valueAt = (document: unknown, location: readonly (string | number)[]): unknown =>
  location.reduce<unknown>((value, key) => (value as Readonly<Record<string | number, unknown>>)[key], document);

/** Maximum number of cached filter expressions; a filter evaluates the same one for each element */
const maxCompiled = 64;
const compiledRegexes = new Map<string, Regex | string>();

const getRegex = (pattern: string): Regex | string => {
  const cached = compiledRegexes.get(pattern);
  if (cached !== undefined) return cached;
  if (compiledRegexes.size >= maxCompiled) compiledRegexes.clear();
  const regex = compileRegex(pattern, 0);
  compiledRegexes.set(pattern, regex);
  return regex;
};

/**
 * Translates dots: the dot of I-Regexp excludes both line break characters, that of RE2 only one. A dot in a class is
 * literal.
 */
const translateDots = (pattern: string): string => {
  let isInClass = false;
  return pattern.replace(/\\?./gs, (part) => {
    if (part === '.' && !isInClass) return '[^\\n\\r]';
    if (part === '[' || part === ']') isInClass = part === '[';
    return part;
  });
};

const { ValueType, LogicalType } = FunctionExpressionType;
const createRegexFunction = (toAnchored: (pattern: string) => string) => ({
  argTypes: [ValueType, ValueType],
  returnType: LogicalType,
  call(text: unknown, pattern: unknown): boolean {
    if (typeof text !== 'string' || typeof pattern !== 'string') return false;
    const regex = getRegex(toAnchored(translateDots(pattern)));
    return typeof regex !== 'string' && regex.test(text);
  },
});

const environment = new JSONPathEnvironment();
environment.functionRegister.set(
  'match',
  createRegexFunction((pattern) => `\\A(?:${pattern})\\z`),
);
environment.functionRegister.set(
  'search',
  createRegexFunction((pattern) => pattern),
);

/** Parses an expression; returns the error message if it is invalid. */
export const parseJsonPath = (text: string): JsonPath | string => {
  try {
    const query = environment.compile(text);
    return {
      findValues({ value, exactValue }) {
        // Filters compare numbers; the values are those of the exact document.
        const nodes = query.query(value);
        return exactValue === undefined
          ? nodes.values()
          : nodes.nodes.map(({ location }) => valueAt(exactValue, location));
      },
    };
  } catch (error) {
    return (error as Error).message;
  }
};

/** Returns the expression without quoted names and filter texts, which contain no syntax. */
const stripQuotedText = (path: string): string => {
  let syntax = '';
  let quote = '';
  for (let index = 0; index < path.length; index++) {
    const character = path.charAt(index);
    if (quote === '') {
      if (character === '"' || character === "'") quote = character;
      else syntax += character;
    } else if (character === '\\') index++;
    else if (character === quote) quote = '';
  }
  return syntax;
};

/** Maximum number of descendant segments, each of which visits all descendants of the previous matches */
const maxDescendantSegments = 2;

/** Returns why an expression cannot be evaluated on a response of any size; `undefined` if it can. */
export const findJsonPathProblem = (text: string): string | undefined => {
  const parsed = parseJsonPath(text);
  if (typeof parsed === 'string') return `is not a valid JSONPath: ${parsed}`;
  const syntax = stripQuotedText(text);
  // It would be evaluated on the complete response for each element.
  if (syntax.indexOf('$', 1) > 0) return 'must not use `$` in a filter: select values of the element with `@`';
  return syntax.split('..').length > maxDescendantSegments + 1
    ? `must have at most ${maxDescendantSegments} \`..\``
    : undefined;
};
