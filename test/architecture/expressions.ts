/** Finds the regular expressions of the product and checks that they run in linear time. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isRegularExpressionLiteral,
  type Node,
} from 'typescript/unstable/ast';
import { visitNodes, visitSources } from './project.ts';

// The JavaScript backend: the native ones are large, and not available for every platform.
process.env['RECHECK_BACKEND'] = 'pure';
const { checkSync } = await import('recheck');

/** A regular expression of the product. */
export interface Expression {
  readonly file: string;
  readonly line: number;
  /** Its source text: `/…/flags`, or a call of `RegExp` whose pattern is only known at run time. */
  readonly text: string;
  readonly isLiteral: boolean;
}

const expressionOf = (node: Node): Pick<Expression, 'text' | 'isLiteral'> | undefined => {
  if (isRegularExpressionLiteral(node)) return { text: node.text, isLiteral: true };
  if (!isNewExpression(node) && !isCallExpression(node)) return undefined;
  if (!isIdentifier(node.expression) || node.expression.text !== 'RegExp') return undefined;
  return { text: node.getText().replace(/\s+/g, ' '), isLiteral: false };
};

/** Returns all regular expressions in the TypeScript of the product, including the page. */
export const expressionsOfProduct = (): Expression[] => {
  const found: Expression[] = [];
  visitSources((file, source) => {
    if (/^(?:test|charts)\//.test(file)) return;
    visitNodes(source, (node) => {
      const expression = expressionOf(node);
      if (expression === undefined) return;
      found.push({ file, line: source.text.slice(0, node.getStart()).split('\n').length, ...expression });
    });
  });
  return found;
};

/** Literals that the checker found linear, one a line. Checking all of them takes minutes. */
export const linearFile = join(import.meta.dirname, 'linear-expressions.txt');
export const linearExpressions = (): ReadonlySet<string> =>
  new Set(existsSync(linearFile) ? readFileSync(linearFile, 'utf8').split('\n').filter(Boolean) : []);

/** Expressions that the checker rejects or cannot check, each with the reason why no input makes it slow. */
export const reviewedExpressions = (): readonly {
  readonly file: string;
  readonly text: string;
  readonly reason: string;
}[] => JSON.parse(readFileSync(join(import.meta.dirname, 'reviewed-expressions.json'), 'utf8'));

/** Returns the problem of a literal; undefined if it runs in linear time. */
export const faultOf = (literal: string): string | undefined => {
  const end = literal.lastIndexOf('/');
  const verdict = checkSync(literal.slice(1, end), literal.slice(end + 1), { timeout: 120_000 });
  if (verdict.status === 'safe') return undefined;
  if (verdict.status === 'unknown') return `the checker could not judge it (${verdict.error.kind})`;
  return `takes ${verdict.complexity.summary} time, as with ${verdict.attack.pattern}`;
};
