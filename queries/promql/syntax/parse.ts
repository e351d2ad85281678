import type { Matcher } from '../series.ts';
import { Checks } from './checks.ts';
import { PromqlSyntaxError } from './errors.ts';
import { syntaxLimits } from './limits.ts';
import { selectorFrom } from './parse-selectors.ts';
import { expressionFrom } from './parser.ts';
import { everySyntax, Reader, type SyntaxOptions } from './reader.ts';
import { type DurationPart, type Expression, everyPartOf } from './tree.ts';

/** Nothing may stand behind, and nothing may have been wrong. */
const ended = (reader: Reader): void => {
  if (reader.next.kind !== 'end') reader.unexpected();
  reader.finish();
};

/** Chains such as `1 + 1 + …` are read in a loop and are deep nevertheless. */
const requireShallow = (reader: Reader, expression: Expression): void => {
  let level: readonly (Expression | DurationPart)[] = [expression];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > syntaxLimits.depth) throw reader.tooDeep(level[0]);
    level = level.flatMap(everyPartOf);
  }
};

/** Reads an expression and checks its types; throws `PromqlSyntaxError` with Prometheus' text if it is none. */
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

/** Reads a selector as parameter `match[]` has it: a name, conditions in braces, or both. */
export const parseSelector = (text: string): readonly Matcher[] => {
  const reader = new Reader(text, everySyntax);
  const { kind } = reader.next;
  if (!reader.is('{') && !['identifier', 'metric', 'aggregator', 'keyword', 'preprocessor'].includes(kind))
    reader.unexpected();
  const { matchers } = selectorFrom(reader);
  ended(reader);
  return matchers;
};
