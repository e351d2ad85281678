/**
 * Regular expressions in linear time. RE2 takes microseconds per character in JavaScript, so JavaScript's own engine is
 * used where the number of its steps is bounded for the expression and the text.
 */
import { RE2JS } from 're2js';
import { compileRegex as linearRegexOf } from '../../queries/search/regex.ts';
import {
  countPaths,
  findRequiredTexts,
  parseRegexTree,
  type RegexFlags,
  type RegexNode,
  toJavaScript,
} from './regex-tree.ts';

export interface SigmaRegex {
  readonly source: string;
  /** Returns whether any part of the text matches. */
  test(text: string): boolean;
  /** Sets of texts in lower case; every match contains at least one text of each set */
  readonly requiredTexts: readonly (readonly string[])[];
  /** Cost of RE2 per character, relative to the comparison of a character */
  readonly weight: number;
}

/**
 * Number of characters that expressions have examined since an evaluation set it to 0; RE2 characters are weighted.
 * Depends on the input alone.
 */
export const examinedCharacters = { characters: 0 };
const re2Weight = 20;
/** Maximum size of a compiled program. Larger than the limit for searches, because public rules contain `.{1000,}`. */
const maxInstructions = 4_000;

/** Maximum number of steps of JavaScript's engine: about 1 ms */
const maxSteps = 500_000;

/** Removes `.*` at both ends, which does not affect whether any part of a text matches. */
const trimAnySequences = (source: string): string => {
  let end = source.length;
  for (;;) {
    const length = source.endsWith('.*', end) ? 2 : source.endsWith('.*?', end) ? 3 : 0;
    if (length === 0 || source[end - length - 1] === '\\') break;
    end -= length;
  }
  return source.slice(0, end).replace(/^(?:\.\*\??)+(?!\?)/, '');
};

const beginsWithAnchor = (node: RegexNode): boolean =>
  (node.is === 'anchor' && node.source === '^') ||
  (node.is === 'sequence' && node.parts[0] !== undefined && beginsWithAnchor(node.parts[0]));

/**
 * Compiles an expression with the flags among the modifiers; returns the error message if the expression is invalid.
 */
export const compileRegex = (expression: string, modifiers: readonly string[]): SigmaRegex | string => {
  // Flags at the start are an older Sigma syntax.
  const [, inlineFlags = '', source = expression] = /^\(\?([ims]+)\)(.*)$/s.exec(expression) ?? [];
  const hasFlag = (flag: string): boolean => modifiers.includes(flag) || inlineFlags.includes(flag);
  const flags: RegexFlags = { ignoresCase: hasFlag('i'), multiline: hasFlag('m'), dotAll: hasFlag('s') };
  const linear = linearRegexOf(
    source,
    (flags.ignoresCase ? RE2JS.CASE_INSENSITIVE : 0) |
      (flags.multiline ? RE2JS.MULTILINE : 0) |
      (flags.dotAll ? RE2JS.DOTALL : 0),
    maxInstructions,
  );
  if (typeof linear === 'string') return linear;
  const tree = parseRegexTree(trimAnySequences(source), flags);
  const weight = re2Weight * Math.max(1, linear.instructions / 1_000);
  const testLinear = (text: string): boolean => {
    examinedCharacters.characters += weight * text.length;
    return linear.test(text);
  };
  if (tree === undefined) return { source: expression, test: testLinear, requiredTexts: [], weight: 200 };
  const { factor, degree } = countPaths(tree);
  const searchDegree = degree + (beginsWithAnchor(tree) ? 0 : 1);
  const maxLength = Math.floor((maxSteps / factor) ** (1 / Math.max(1, searchDegree)));
  const nativeRegex = new RegExp(toJavaScript(tree), flags.ignoresCase ? 'i' : '');
  return {
    source: expression,
    test(text) {
      if (text.length > maxLength) return testLinear(text);
      examinedCharacters.characters += text.length;
      return nativeRegex.test(text);
    },
    requiredTexts: findRequiredTexts(tree),
    weight: maxLength > 10_000 ? 5 : 50,
  };
};
