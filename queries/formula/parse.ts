/** Parses a formula: numbers, names of queries, + - * / % ^, unary minus and parentheses. */
import { createValidationError, type QueryError } from '../errors.ts';

export type Operator = '+' | '-' | '*' | '/' | '%' | '^';

export type Formula =
  | { readonly is: 'number'; readonly value: number }
  | { readonly is: 'name'; readonly name: string; readonly column: number }
  | { readonly is: 'minus'; readonly part: Formula }
  | { readonly is: 'operation'; readonly operator: Operator; readonly left: Formula; readonly right: Formula };

interface Token {
  readonly kind: 'number' | 'name' | 'sign' | 'end';
  readonly text: string;
  readonly offset: number;
}

const maxDepth = 50;
const tokenPattern = /\s*(?:((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|([-+*/%^()]))/y;

const createParseError = (offset: number, message: string): QueryError =>
  createValidationError('expression', `column ${offset + 1}: ${message}`);

/** Returns the tokens of a formula; the last one is its end. */
export const tokenizeFormula = (text: string): readonly Token[] => {
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  for (let offset = 0; text.slice(offset).trim() !== ''; offset = tokenPattern.lastIndex) {
    const match = tokenPattern.exec(text);
    const space = text.slice(offset).search(/\S/);
    if (match === null)
      throw createParseError(offset + space, 'expected a number, the name of a query, an operator or a parenthesis');
    const [, number, name, sign = ''] = match;
    if (number !== undefined) tokens.push({ kind: 'number', text: number, offset: offset + space });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name, offset: offset + space });
    else tokens.push({ kind: 'sign', text: sign, offset: offset + space });
  }
  tokens.push({ kind: 'end', text: '', offset: text.length });
  return tokens;
};

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Formula {
    const formula = this.#parseSum();
    const { kind, offset } = this.#peek();
    if (kind !== 'end') throw createParseError(offset, 'expected an operator, or the end');
    return formula;
  }

  #peek(): Token {
    return this.#tokens[this.#position] as Token;
  }

  #consumeSign(...signs: string[]): string | undefined {
    const { kind, text } = this.#peek();
    if (kind !== 'sign' || !signs.includes(text)) return undefined;
    this.#position++;
    return text;
  }

  #parseSum(): Formula {
    return this.#parseLeftAssociative(['+', '-'], () => this.#parseProduct());
  }

  #parseProduct(): Formula {
    return this.#parseLeftAssociative(['*', '/', '%'], () => this.#parseSigned());
  }

  #parseLeftAssociative(operators: readonly Operator[], parsePart: () => Formula): Formula {
    let left = parsePart();
    for (;;) {
      const operator = this.#consumeSign(...operators) as Operator | undefined;
      if (operator === undefined) return left;
      left = { is: 'operation', operator, left, right: parsePart() };
    }
  }

  /** Unary minus binds less tightly than a power: -2^2 is -4. */
  #parseSigned(): Formula {
    if (++this.#depth > maxDepth) throw createParseError(this.#peek().offset, `expected at most ${maxDepth} levels`);
    const formula: Formula =
      this.#consumeSign('-') === undefined ? this.#parsePower() : { is: 'minus', part: this.#parseSigned() };
    this.#depth--;
    return formula;
  }

  /** Right-associative: 2^3^2 is 2^9. */
  #parsePower(): Formula {
    const left = this.#parseAtom();
    return this.#consumeSign('^') === undefined
      ? left
      : { is: 'operation', operator: '^', left, right: this.#parseSigned() };
  }

  #parseAtom(): Formula {
    const { kind, text, offset } = this.#peek();
    if (this.#consumeSign('(') !== undefined) {
      const inner = this.#parseSum();
      if (this.#consumeSign(')') === undefined)
        throw createParseError(offset, 'expected a closing parenthesis for this one');
      return inner;
    }
    if (kind !== 'number' && kind !== 'name')
      throw createParseError(offset, 'expected a number, the name of a query or an opening parenthesis');
    this.#position++;
    if (kind === 'name') return { is: 'name', name: text, column: offset + 1 };
    if (!Number.isFinite(Number(text))) throw createParseError(offset, 'expected a number that a double can hold');
    return { is: 'number', value: Number(text) };
  }
}

/** Parses a formula. Throws a `QueryError` with the column and the expected token. */
export const parseFormula = (text: string): Formula => new Parser(tokenizeFormula(text)).parse();

/** Returns the names that a formula references, each once. */
export const collectNames = (formula: Formula): readonly string[] => {
  switch (formula.is) {
    case 'number':
      return [];
    case 'name':
      return [formula.name];
    case 'minus':
      return collectNames(formula.part);
    default:
      return [...new Set([...collectNames(formula.left), ...collectNames(formula.right)])];
  }
};
