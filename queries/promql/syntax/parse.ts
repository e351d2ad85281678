import type { Matcher } from '../series.ts';
import { Checks } from './checks.ts';
import { PromqlSyntaxError } from './errors.ts';
import { syntaxLimits } from './limits.ts';
import { selectorFrom } from './parse-selectors.ts';
import { expressionFrom } from './parser.ts';
import { everySyntax, Reader, type SyntaxOptions } from './reader.ts';
import { type DurationPart, type Expression, everyPartOf } from './tree.ts';

/** Throws if tokens remain or a problem was reported. */
const ended = (reader: Reader): void => {
  if (reader.next.kind !== 'end') reader.unexpected();
  reader.finish();
};

/** Throws if an expression is too deep. Chains such as `1 + 1 + …` are parsed in a loop but are deep. */
const requireShallow = (reader: Reader, expression: Expression): void => {
  let level: readonly (Expression | DurationPart)[] = [expression];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > syntaxLimits.depth) throw reader.tooDeep(level[0]);
    level = level.flatMap(everyPartOf);
  }
};

/** Parses an expression and checks its types; throws `PromqlSyntaxError` with Prometheus' text if it is invalid. */
export const parseExpression = (text: string, options: SyntaxOptions = everySyntax): Expression => {
  const reader = new Reader(text, options);
  if (reader.next.kind === 'end')
    throw new PromqlSyntaxError(text, { start: 0, end: 0 }, 'no expression found in input');
  const expression = expressionFrom(reader, 1);
  ended(reader);
  requireShallow(reader, expression);
  new Checks(text).check(expression);
  return expression;
};

/** Parses a selector of the parameter `match[]`: a name, matchers in braces, or both. */
export const parseSelector = (text: string): readonly Matcher[] => {
  const reader = new Reader(text, everySyntax);
  const { kind } = reader.next;
  if (!reader.is('{') && !['identifier', 'metric', 'aggregator', 'keyword', 'preprocessor'].includes(kind))
    reader.unexpected();
  const { matchers } = selectorFrom(reader);
  ended(reader);
  return matchers;
};
