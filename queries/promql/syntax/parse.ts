import type { Matcher } from '../series.ts';
import { TypeChecker } from './checks.ts';
import { PromqlSyntaxError } from './errors.ts';
import { syntaxLimits } from './limits.ts';
import { parseVectorSelector } from './parse-selectors.ts';
import { parseBinaryExpression } from './parser.ts';
import { everySyntax, type SyntaxOptions, TokenReader } from './reader.ts';
import { type DurationPart, type Expression, getAllParts } from './tree.ts';

/** Throws if tokens remain or a problem was reported. */
const finishParsing = (reader: TokenReader): void => {
  if (reader.nextName.kind !== 'end') reader.failUnexpected();
  reader.throwFirstProblem();
};

/** Throws if an expression is too deep. Chains such as `1 + 1 + …` are parsed in a loop but are deep. */
const requireMaxDepth = (reader: TokenReader, expression: Expression): void => {
  let level: readonly (Expression | DurationPart)[] = [expression];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > syntaxLimits.maxDepth) throw reader.createDepthError(level[0]);
    level = level.flatMap(getAllParts);
  }
};

/** Parses an expression and checks its types; throws `PromqlSyntaxError` with Prometheus' text if it is invalid. */
export const parseExpression = (text: string, options: SyntaxOptions = everySyntax): Expression => {
  const reader = new TokenReader(text, options);
  if (reader.nextName.kind === 'end')
    throw new PromqlSyntaxError(text, { start: 0, end: 0 }, 'no expression found in input');
  const expression = parseBinaryExpression(reader, 1);
  finishParsing(reader);
  requireMaxDepth(reader, expression);
  new TypeChecker(text).check(expression);
  return expression;
};

/** Parses a selector of the parameter `match[]`: a name, matchers in braces, or both. */
export const parseSelector = (text: string): readonly Matcher[] => {
  const reader = new TokenReader(text, everySyntax);
  const { kind } = reader.nextName;
  if (!reader.isNext('{') && !['identifier', 'metric', 'aggregator', 'keyword', 'preprocessor'].includes(kind))
    reader.failUnexpected();
  const { matchers } = parseVectorSelector(reader);
  finishParsing(reader);
  return matchers;
};
