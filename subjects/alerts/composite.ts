/** Boolean expressions over the states of other rules, such as `a && (b || !c)`. */

type Node =
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'not'; readonly operand: Node }
  | { readonly kind: 'and' | 'or'; readonly left: Node; readonly right: Node };

const tokenPattern = /\s*(&&|\|\||!|\(|\)|[A-Za-z_]\w*|\S)/gy;

class CompositeError extends Error {}

const parseExpression = (expression: string): Node => {
  const tokens = [...expression.matchAll(tokenPattern)].map(([, tokenText = '']) =>
    tokenText.replace(/^and$/i, '&&').replace(/^or$/i, '||').replace(/^not$/i, '!'),
  );
  let position = 0;
  const parsePrimary = (): Node => {
    const next = tokens[position++];
    if (next === '!') return { kind: 'not', operand: parsePrimary() };
    if (next === '(') {
      const inner = parseOr();
      if (tokens[position++] !== ')') throw new CompositeError('a closing parenthesis is missing');
      return inner;
    }
    if (next !== undefined && /^[A-Za-z_]/.test(next)) return { kind: 'rule', name: next };
    throw new CompositeError(`the name of a rule is missing ${next === undefined ? 'at the end' : `before ${next}`}`);
  };
  const parseAnd = (): Node => {
    let left = parsePrimary();
    while (tokens[position] === '&&') {
      position++;
      left = { kind: 'and', left, right: parsePrimary() };
    }
    return left;
  };
  const parseOr = (): Node => {
    let left = parseAnd();
    while (tokens[position] === '||') {
      position++;
      left = { kind: 'or', left, right: parseAnd() };
    }
    return left;
  };
  const root = parseOr();
  if (position < tokens.length)
    throw new CompositeError(`${tokens[position]} is unexpected: expected && or || between rules`);
  return root;
};

const collectRuleNames = (node: Node): string[] => {
  if (node.kind === 'rule') return [node.name];
  return node.kind === 'not'
    ? collectRuleNames(node.operand)
    : [...collectRuleNames(node.left), ...collectRuleNames(node.right)];
};

/** Returns the names of the rules in an expression, and its problem if it is invalid. */
export const findRuleNames = (expression: string): { readonly names: readonly string[]; readonly problem?: string } => {
  try {
    return { names: [...new Set(collectRuleNames(parseExpression(expression)))] };
  } catch (error) {
    if (!(error instanceof CompositeError)) throw error;
    return { names: [], problem: error.message };
  }
};

/** Returns whether the expression holds, given which rules fire. Throws for an invalid expression. */
export const doesExpressionHold = (expression: string, isFiring: (name: string) => boolean): boolean => {
  const evaluateNode = (node: Node): boolean => {
    if (node.kind === 'rule') return isFiring(node.name);
    if (node.kind === 'not') return !evaluateNode(node.operand);
    return node.kind === 'and'
      ? evaluateNode(node.left) && evaluateNode(node.right)
      : evaluateNode(node.left) || evaluateNode(node.right);
  };
  return evaluateNode(parseExpression(expression));
};
