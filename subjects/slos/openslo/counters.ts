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

/** Returns an expression with a function over a slice of each selector. */
export const rewriteAsCall = (text: string, functionName: string, sliceMs: number): RewriteResult =>
  rewriteExpression(text, (tree, texts) => {
    let problem: string | undefined;
    visitExpressions(tree, (node) => {
      if (node.kind === 'range' || node.kind === 'subquery')
        problem =
          'does not select a counter but a range vector: with counter: true the query must be a counter, whose increase is calculated';
      if (node.kind !== 'selector') return;
      const { start, end } = node;
      const range = printExpression({ kind: 'range', selector: node, rangeMs: sliceMs, start, end });
      texts.set(node, `${functionName}(${range})`);
    });
    return problem;
  });

/** Returns an expression with the increase over a slice of each counter. */
export const rewriteAsIncrease = (text: string, sliceMs: number): RewriteResult =>
  rewriteAsCall(text, 'increase', sliceMs);

/** Returns a result with another expression; a problem stays. */
export const mapExpression = (result: RewriteResult, map: (expression: string) => string): RewriteResult =>
  'problem' in result ? result : { expression: map(result.expression) };

/** Rewrites rates over a slice to increases over it: event counts instead of events per second. */
export const rewriteRates = (text: string, sliceMs: number): RewriteResult =>
  rewriteExpression(text, (tree, texts) => {
    visitExpressions(tree, (node) => {
      const [range] = node.kind === 'call' && node.signature.name === 'rate' ? node.args : [];
      if (range?.kind === 'range' && range.rangeMs === sliceMs) texts.set(node, `increase(${printExpression(range)})`);
    });
    return undefined;
  });

/** A ratio of events, as expressions of its two counts over a slice */
export type RatioSplit =
  | { readonly part: 'good' | 'bad'; readonly count: string; readonly total: string }
  | { readonly problem: string };

const notCountableProblem =
  'cannot be imported: an SLO counts events, so it must be a ratio of two sums of increases, such as sum(rate(bad[{{.window}}])) / sum(rate(all[{{.window}}]))';

/** Functions over a range whose results over consecutive slices add up to that of their window. */
const additiveFunctions = new Set(['rate', 'increase', 'sum_over_time', 'count_over_time']);

/** Returns whether an expression is a sum of counts over a slice. */
const isCount = (node: Expression, sliceMs: number): boolean => {
  if (node.kind === 'parentheses') return isCount(node.innerExpression, sliceMs);
  if (node.kind === 'aggregation')
    return node.operator === 'sum' && node.grouping.length === 0 && isCount(node.innerExpression, sliceMs);
  if (node.kind === 'binary')
    return (
      (node.operator === '+' || node.operator === '-') && isCount(node.left, sliceMs) && isCount(node.right, sliceMs)
    );
  if (node.kind !== 'call' || !additiveFunctions.has(node.signature.name)) return false;
  const [range] = node.args;
  return range?.kind === 'range' && range.rangeMs === sliceMs;
};

const unwrap = (node: Expression): Expression => (node.kind === 'parentheses' ? unwrap(node.innerExpression) : node);

/** Splits the ratio of errors (`a / b` or `1 - c / b`) into its two counts, for a window of one slice. */
export const splitErrorRatio = (text: string, sliceMs: number): RatioSplit => {
  try {
    const tree = unwrap(parseExpression(text));
    const isComplement =
      tree.kind === 'binary' && tree.operator === '-' && tree.left.kind === 'number' && tree.left.value === 1;
    const ratio = isComplement ? unwrap(tree.right) : tree;
    if (ratio.kind !== 'binary' || ratio.operator !== '/') return { problem: notCountableProblem };
    const [count, total] = [ratio.left, ratio.right];
    if (!isCount(count, sliceMs) || !isCount(total, sliceMs)) return { problem: notCountableProblem };
    return {
      part: isComplement ? 'good' : 'bad',
      count: printExpression(unwrap(count)),
      total: printExpression(unwrap(total)),
    };
  } catch (error) {
    if (!(error instanceof PromqlSyntaxError)) throw error;
    return { problem: error.message };
  }
};
