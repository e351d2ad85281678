/** Expressions over rules, such as `a && (b || !c)`. */

type Node =
  | { readonly is: 'rule'; readonly name: string }
  | { readonly is: 'not'; readonly of: Node }
  | { readonly is: 'and' | 'or'; readonly left: Node; readonly right: Node };

const token = /\s*(&&|\|\||!|\(|\)|[A-Za-z_]\w*|\S)/gy;

class CompositeError extends Error {}

const parse = (expression: string): Node => {
  const tokens = [...expression.matchAll(token)].map(([, each = '']) =>
    each.replace(/^and$/i, '&&').replace(/^or$/i, '||').replace(/^not$/i, '!'),
  );
  let at = 0;
  const primary = (): Node => {
    const next = tokens[at++];
    if (next === '!') return { is: 'not', of: primary() };
    if (next === '(') {
      const inner = or();
      if (tokens[at++] !== ')') throw new CompositeError('a closing parenthesis is missing');
      return inner;
    }
    if (next !== undefined && /^[A-Za-z_]/.test(next)) return { is: 'rule', name: next };
    throw new CompositeError(`the name of a rule is missing ${next === undefined ? 'at the end' : `before ${next}`}`);
  };
  const and = (): Node => {
    let left = primary();
    while (tokens[at] === '&&') {
      at++;
      left = { is: 'and', left, right: primary() };
    }
    return left;
  };
  const or = (): Node => {
    let left = and();
    while (tokens[at] === '||') {
      at++;
      left = { is: 'or', left, right: and() };
    }
    return left;
  };
  const whole = or();
  if (at < tokens.length) throw new CompositeError(`${tokens[at]} is unexpected: expected && or || between rules`);
  return whole;
};

const namesOf = (node: Node): string[] => {
  if (node.is === 'rule') return [node.name];
  return node.is === 'not' ? namesOf(node.of) : [...namesOf(node.left), ...namesOf(node.right)];
};

/** Returns the names of the rules in an expression, and its problem if it is invalid. */
export const rulesIn = (expression: string): { readonly names: readonly string[]; readonly problem?: string } => {
  try {
    return { names: [...new Set(namesOf(parse(expression)))] };
  } catch (error) {
    if (!(error instanceof CompositeError)) throw error;
    return { names: [], problem: error.message };
  }
};

/** Returns whether the expression holds, given which rules fire. Throws for an invalid expression. */
export const holds = (expression: string, fires: (name: string) => boolean): boolean => {
  const value = (node: Node): boolean => {
    if (node.is === 'rule') return fires(node.name);
    if (node.is === 'not') return !value(node.of);
    return node.is === 'and' ? value(node.left) && value(node.right) : value(node.left) || value(node.right);
  };
  return value(parse(expression));
};
