/** Rules for code that the linter does not have. */
import test from 'ava';
import {
  isArrowFunction,
  isAsExpression,
  isBlock,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isGetAccessorDeclaration,
  isJsxSpreadAttribute,
  isMethodDeclaration,
  isObjectLiteralExpression,
  isParenthesizedExpression,
  isSpreadAssignment,
  isStatement,
  type Node,
} from 'typescript/unstable/ast';
import { visitNodes, visitSources } from './project.ts';

/** Maximum number of statements of a function, without nested functions. */
const maxStatements = 45;

/** Decoders with one case per field of a message: a call per field would cost a tenth of the scan. */
const longFunctions: readonly string[] = [
  'schemas/records/log-row.ts',
  'sinks/scan/log-scanner.ts',
  'sinks/scan/span-scanner.ts',
];

const isFunction = (node: Node): boolean =>
  isArrowFunction(node) ||
  isConstructorDeclaration(node) ||
  isFunctionDeclaration(node) ||
  isFunctionExpression(node) ||
  isGetAccessorDeclaration(node) ||
  isMethodDeclaration(node);

const statementsOf = (node: Node): number => {
  let count = 0;
  node.forEachChild((child) => {
    if (isFunction(child)) return;
    if (isStatement(child) && !isBlock(child)) count++;
    count += statementsOf(child);
  });
  return count;
};

/** Returns the expression without parentheses and `as`. */
const bare = (node: Node): Node =>
  isParenthesizedExpression(node) || isAsExpression(node) ? bare(node.expression) : node;

const long = new Set<string>();
const spreads: string[] = [];
visitSources((file, source) =>
  visitNodes(source, (node) => {
    if ((isSpreadAssignment(node) || isJsxSpreadAttribute(node)) && isObjectLiteralExpression(bare(node.expression)))
      spreads.push(`${file}: ${node.getText(source).slice(0, 80)}`);
    if (!file.startsWith('test/') && isFunction(node) && statementsOf(node) > maxStatements) long.add(file);
  }),
);

test(`a function has at most ${maxStatements} statements, except scanners on hot paths`, (t) => {
  t.deepEqual([...long].toSorted(), longFunctions);
});

test('no object literal is spread into another object literal to group fields', (t) => {
  t.deepEqual(spreads, []);
});
