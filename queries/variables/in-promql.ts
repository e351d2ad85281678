/**
 * Replaces variables in PromQL. A value becomes exactly one string, number, duration or name, so it cannot inject
 * syntax.
 */
import { createValidationError, type QueryError } from '../errors.ts';
import { type Token, type TokenKind, tokenize } from '../promql/syntax/lexer.ts';
import { quoteText, unquoteText } from '../promql/syntax/quotes.ts';
import { buildRegexChoice, formatValue } from './formats.ts';
import { classifyTokens, type TokenPosition } from './promql-positions.ts';
import { createTemplate, findReferences, type Reference, splitTemplate, type Template } from './references.ts';
import type { Scope, VariableValue } from './scope.ts';

/** Tokens that replace a token with variables. */
type ReplacementTokens = readonly string[];

/** A reason why an expression cannot be queried: `variable x does not exist` has the problem `does not exist`. */
export interface VariableProblem {
  readonly name: string;
  readonly problem: string;
}

/** Returns the text of a problem for people. */
export const formatVariableProblem = ({ name, problem }: VariableProblem): string => `variable ${name} ${problem}`;

const createVariableError = ({ name }: Pick<Reference, 'name'>, problem: string): QueryError =>
  createValidationError('expression', formatVariableProblem({ name, problem }));

const isName = (text: string): boolean => /^[A-Za-z_:][\w:]*$/.test(text);
const isLabel = (text: string): boolean => /^[A-Za-z_]\w*$/.test(text);
const isNumberOrDuration = (text: string): boolean => {
  const [word, end] = tokenize(text);
  return (word?.kind === 'number' || word?.kind === 'duration') && end?.kind === 'end';
};

/**
 * Scans the template up to a variable, to choose its mark: a variable in a comment is unchanged, and one in brackets
 * becomes a number.
 */
class TemplateScanner {
  #quote = '';
  #isComment = false;
  #isBracket = false;

  /** Continues to scan the template; returns the mark for the next position. */
  scanAndGetMark(template: string, from: number): string | undefined {
    for (let at = from; at < template.length; at++)
      if (this.#quote !== '' && this.#quote !== '`' && template[at] === '\\') at++;
      else this.#read(template[at] as string);
    if (this.#isComment) return undefined;
    if (this.#quote !== '') return 'v';
    return this.#isBracket || /(?:^|[^\w.:])[\d.]{1,64}$/.test(template.slice(-64)) ? '1' : 'v';
  }

  #read(character: string): void {
    if (this.#isComment) this.#isComment = character !== '\n' && character !== '\r';
    else if (this.#quote !== '') this.#quote = character === this.#quote ? '' : this.#quote;
    else if (`"'\``.includes(character)) this.#quote = character;
    else if (character === '#') this.#isComment = true;
    else if (character === '[' || character === ']') this.#isBracket = character === '[';
  }
}

/**
 * Returns the text of a variable within a string. If the string is a regular expression, the text is a regular
 * expression of one or several values; otherwise it is the value.
 */
const replaceInString = (
  value: VariableValue,
  reference: Reference,
  position: TokenPosition,
  isAlone: boolean,
): string => {
  if (reference.format !== undefined) return formatValue(value, reference.name, reference.format);
  if (position.is === 'regex' && value.includesEveryValue === true && isAlone) return '.+';
  if (value.values.length === 0) return '';
  if (position.is === 'regex' && value.isList && value.isDefinedByAuthor !== true)
    return buildRegexChoice(value.values);
  return value.values.length === 1 ? (value.values[0] as string) : `(${value.values.join('|')})`;
};

class TokenReplacer {
  readonly #template: Template;
  readonly #scope: Scope;

  constructor(template: Template, scope: Scope) {
    this.#template = template;
    this.#scope = scope;
  }

  /** Returns the tokens that replace a token with variables. */
  write(token: Token, position: TokenPosition): ReplacementTokens {
    const pieces = splitTemplate(this.#template, token.start, token.end);
    if (token.kind === 'string') return [this.#replaceString(token.text[0] as string, pieces, position)];
    const first = pieces.find((piece) => typeof piece !== 'string') as Reference;
    if (position.is === 'group') return this.#replaceLabels(pieces, first);
    const text = pieces.map((piece) => (typeof piece === 'string' ? piece : this.#getOnlyValue(piece))).join('');
    if (position.is === 'label') return [isLabel(text) ? text : quoteText(text.toWellFormed())];
    if (position.is === 'condition')
      throw createVariableError(first, 'cannot replace conditions, only their names and values');
    return this.#replaceAmountOrName(text.trim(), first, position);
  }

  #getValue(reference: Reference): VariableValue {
    return this.#scope.get(reference.name) as VariableValue;
  }

  /** Returns the value where only one is permitted. */
  #getOnlyValue(reference: Reference): string {
    const value = this.#getValue(reference);
    if (reference.format !== undefined && value.values.length < 2)
      return formatValue(value, reference.name, reference.format);
    if (value.values.length === 1) return value.values[0] as string;
    throw createVariableError(
      reference,
      `has ${value.values.length === 0 ? 'no value' : 'several values'} where one is expected`,
    );
  }

  #replaceString(quote: string, pieces: readonly (string | Reference)[], position: TokenPosition): string {
    let text = '';
    for (const [index, piece] of pieces.entries()) {
      if (typeof piece !== 'string') {
        text += replaceInString(this.#getValue(piece), piece, position, pieces.length === 3 && pieces[0] === pieces[2]);
        continue;
      }
      const from = index === 0 ? 1 : 0;
      const to = index === pieces.length - 1 ? piece.length - 1 : piece.length;
      const literal = unquoteText(quote + piece.slice(from, to) + quote);
      if (literal === undefined)
        throw createValidationError('expression', `a variable is inside an escape sequence: ${piece}`);
      text += literal;
    }
    return quoteText(text.toWellFormed());
  }

  #replaceLabels(pieces: readonly (string | Reference)[], first: Reference): ReplacementTokens {
    const { values } = this.#getValue(first);
    const names =
      pieces.length === 1
        ? values
        : [pieces.map((piece) => (typeof piece === 'string' ? piece : this.#getOnlyValue(piece))).join('')];
    if (names.includes('')) throw createVariableError(first, 'is empty where the name of a label is expected');
    return names.flatMap((name, index) => [
      ...(index === 0 ? [] : [',']),
      isLabel(name) && getTokenKind(name) !== 'number' ? name : quoteText(name.toWellFormed()),
    ]);
  }

  #replaceAmountOrName(text: string, first: Reference, position: TokenPosition): ReplacementTokens {
    const sign = /^[+-]/.exec(text)?.[0] ?? '';
    if (isNumberOrDuration(text.slice(sign.length))) {
      if (sign === '') return [text];
      const tokens = [sign, text.slice(sign.length)];
      if (position.is === 'shift') return tokens;
      if (position.is !== 'range') return ['(', ...tokens, ')'];
    }
    if (position.is === 'range' || position.is === 'shift')
      throw createVariableError(first, `must be a duration there, such as 5m: ${quoteText(text)}`);
    if (text === '') throw createVariableError(first, 'is empty where a name or a number is expected');
    if (isName(text) && ['identifier', 'metric', 'aggregator'].includes(getTokenKind(text))) return [text];
    if (position.hasParenthesis)
      throw createVariableError(first, `must be the name of a function there: ${quoteText(text)}`);
    const name = quoteText(text.toWellFormed());
    return position.hasBraces ? [name] : ['{', name, '}'];
  }
}

const getTokenKind = (text: string): TokenKind => (tokenize(text)[0] as Token).kind;

/** Joins tokens with the text between them. */
class ExpressionBuilder {
  readonly words: string[] = [];
  #text = '';
  #from = 0;
  /** A quoted metric name, which is moved into the following braces. */
  #pendingName: string | undefined;
  readonly #template: Template;

  constructor(template: Template) {
    this.#template = template;
  }

  add(token: Token, replacement: ReplacementTokens, hasBraces: boolean, nextToken: Token | undefined): void {
    this.#text += this.#template.text.slice(this.#from, token.start);
    this.#from = token.end;
    if (hasBraces && replacement[0]?.startsWith('"') === true) {
      this.#pendingName = replacement[0];
      return;
    }
    const words =
      this.#pendingName === undefined
        ? replacement
        : ['{', this.#pendingName, ...(nextToken?.text === '}' ? [] : [','])];
    this.#pendingName = undefined;
    this.#text += words.join(' ');
    this.words.push(...words);
  }

  get text(): string {
    return this.#text + this.#template.text.slice(this.#from);
  }
}

/** An expression with marks in place of its variables, and its tokens. */
interface ExpressionTemplate {
  readonly template: Template;
  readonly tokens: readonly Token[];
  readonly positions: readonly TokenPosition[];
}

/** Returns whether a name is a group of a regular expression, which `label_replace` refers to as `$name`. */
const isCaptureGroup = (expression: string, name: string): boolean => expression.includes(`<${name}>`);

/** Returns the references of an expression to variables, which may not exist. */
const findVariableReferences = (expression: string, names: Pick<Scope, 'has'>): readonly Reference[] =>
  findReferences(expression, {
    has: (name) => names.has(name) || (isLabel(name) && !isCaptureGroup(expression, name)),
  });

const parseTemplate = (expression: string, references: readonly Reference[]): ExpressionTemplate => {
  const scanner = new TemplateScanner();
  const template = createTemplate(expression, references, (before, from) => scanner.scanAndGetMark(before, from));
  const tokens = tokenize(template.text);
  return { template, tokens, positions: classifyTokens(tokens) };
};

/** Returns the marks of the variables in a token. */
const listMarks = ({ marks }: Template, token: Token): Template['marks'] =>
  marks.filter(({ at }) => at >= token.start && at < token.end);

const findProblems = (
  { template, tokens, positions }: ExpressionTemplate,
  names: Pick<Scope, 'has'>,
): readonly VariableProblem[] => {
  const unknown = template.marks
    .filter(({ name }) => !names.has(name))
    .map(({ name }) => ({ name, problem: 'does not exist' }));
  const operators = tokens
    .filter((_, index) => positions[index]?.is === 'operator')
    .flatMap((token) => listMarks(template, token))
    .map(({ name }) => ({ name, problem: 'cannot replace an operator, only names, values, numbers and durations' }));
  return [...unknown, ...operators];
};

/** Returns the variables of an expression that do not have one of these names, or are in place of an operator. */
export const findVariableProblems = (expression: string, names: Pick<Scope, 'has'>): readonly VariableProblem[] => {
  const references = findVariableReferences(expression, names);
  return references.length === 0 ? [] : findProblems(parseTemplate(expression, references), names);
};

const buildExpression = ({ template, tokens, positions }: ExpressionTemplate, scope: Scope): ExpressionBuilder => {
  const writer = new TokenReplacer(template, scope);
  const builder = new ExpressionBuilder(template);
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'end') break;
    const position = positions[index] as TokenPosition;
    const isUsed = listMarks(template, token).length > 0;
    const replacement = isUsed ? writer.write(token, position) : [token.text];
    builder.add(token, replacement, isUsed && position.hasBraces, tokens[index + 1]);
  }
  return builder;
};

/**
 * Returns an expression with its variables replaced. Throws a `QueryError` for an unknown variable, and if a value is
 * not valid at its position. Other tokens never change, whatever the values contain, and each variable becomes only as
 * many tokens as its position permits.
 */
export const replaceInPromql = (expression: string, scope: Scope): string => {
  const references = findVariableReferences(expression, scope);
  if (references.length === 0) return expression;
  const parsed = parseTemplate(expression, references);
  if (parsed.template.marks.length === 0) return expression;
  const [problem] = findProblems(parsed, scope);
  if (problem !== undefined) throw createVariableError(problem, problem.problem);
  const last = parsed.tokens.at(-1) as Token;
  if (last.kind === 'error') throw createValidationError('expression', `is not valid PromQL: ${last.name}`);
  const { text, words } = buildExpression(parsed, scope);
  const resultTokens = tokenize(text).filter(({ kind }) => kind !== 'end');
  if (resultTokens.length !== words.length || resultTokens.some((word, index) => word.text !== words[index]))
    throw createValidationError('expression', 'has a variable whose value would change the meaning of the expression');
  return text;
};
