/** Rewrites PromQL expressions of counters to expressions of their increase over a slice */
import { PromqlSyntaxError } from '../../../queries/promql/syntax/errors.ts';
import { parseExpression } from '../../../queries/promql/syntax/parse.ts';
import { printExpression } from '../../../queries/promql/syntax/print.ts';
import { type Expression, visitExpressions } from '../../../queries/promql/syntax/tree.ts';

/**
 * Shortest alert window of Sloth and Pyrra, and the default slice of counters in PromQL: with a scrape each minute, a
 * shorter window could contain less than two points, and an increase needs two.
 */
export const minScrapedWindow = '5m';

const windowPlaceholder = /\{\{\s*\.window\s*\}\}/g;

/** Returns whether an expression contains the window placeholder of Sloth. */
export const hasWindowPlaceholder = (text: string): boolean => text.search(windowPlaceholder) !== -1;

/** Returns the expression with the window inserted. */
export const insertWindow = (text: string, duration: string): string => text.replaceAll(windowPlaceholder, duration);

/** An expression, or the reason why there is none */
export type RewriteResult = { readonly expression: string } | { readonly problem: string };

const rewriteExpression = (
  text: string,
  rewrite: (tree: Expression, texts: Map<Expression, string>) => string | undefined,
): RewriteResult => {
  try {
    const tree = parseExpression(text);
    const texts = new Map<Expression, string>();
    const problem = rewrite(tree, texts);
    return problem === undefined ? { expression: printExpression(tree, texts) } : { problem };
  } catch (error) {
    if (!(error instanceof PromqlSyntaxError)) throw error;
    return { problem: error.message };
  }
};

/** Returns an expression with the increase over a slice of each counter. */
export const rewriteAsIncrease = (text: string, sliceMs: number): RewriteResult =>
  rewriteExpression(text, (tree, texts) => {
    let problem: string | undefined;
    visitExpressions(tree, (node) => {
      if (node.kind === 'range' || node.kind === 'subquery')
        problem =
          'does not select a counter but a range vector: with counter: true the query must be a counter, whose increase is calculated';
      if (node.kind !== 'selector') return;
      const { start, end } = node;
      texts.set(node, `increase(${printExpression({ kind: 'range', selector: node, rangeMs: sliceMs, start, end })})`);
    });
    return problem;
  });

/** Rewrites rates over a slice to increases over it: event counts instead of events per second. */
export const rewriteRates = (text: string, sliceMs: number): RewriteResult =>
  rewriteExpression(text, (tree, texts) => {
    visitExpressions(tree, (node) => {
      const [range] = node.kind === 'call' && node.signature.name === 'rate' ? node.args : [];
      if (range?.kind === 'range' && range.rangeMs === sliceMs) texts.set(node, `increase(${printExpression(range)})`);
    });
    return undefined;
  });
