/** Variables in PromQL: a value becomes exactly one string, number, duration or name, so it cannot inject syntax. */
import { invalid, type QueryError } from '../errors.ts';
import { type Kind, type Token, wordsOf } from '../promql/syntax/lexer.ts';
import { quoted, unquoted } from '../promql/syntax/quotes.ts';
import { formatted, regexChoice } from './formats.ts';
import { type Place, placesOf } from './promql-positions.ts';
import { piecesOf, type Reference, referencesIn, type Template, templateOf } from './references.ts';
import type { Scope, VariableValue } from './scope.ts';

/** Keywords and tokens that replaced a token with variables. */
type Written = readonly string[];

const refused = (reference: Pick<Reference, 'name'>, what: string): QueryError =>
  invalid('expression', `variable ${reference.name} ${what}`);

const isName = (text: string): boolean => /^[A-Za-z_:][\w:]*$/.test(text);
const isLabel = (text: string): boolean => /^[A-Za-z_]\w*$/.test(text);
const isAmount = (text: string): boolean => {
  const [word, end] = wordsOf(text);
  return (word?.kind === 'number' || word?.kind === 'duration') && end?.kind === 'end';
};

/** Parsing state before a variable: within a comment it is text, and within brackets a number. */
class Reading {
  #quote = '';
  #isComment = false;
  #isBracket = false;

  /** Continues to scan the template; returns the mark for the next position. */
  markBehind(template: string, from: number): string | undefined {
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
 * Returns the text of a use within a string: a regular expression of one or several texts if the string is one,
 * otherwise the value.
 */
const inText = (value: VariableValue, reference: Reference, place: Place, isAlone: boolean): string => {
  if (reference.format !== undefined) return formatted(value, reference.name, reference.format);
  if (place.is === 'regex' && value.isEvery === true && isAlone) return '.+';
  if (value.values.length === 0) return '';
  if (place.is === 'regex' && value.isList && value.isWritten !== true) return regexChoice(value.values);
  return value.values.length === 1 ? (value.values[0] as string) : `(${value.values.join('|')})`;
};

class Writer {
  readonly #template: Template;
  readonly #scope: Scope;

  constructor(template: Template, scope: Scope) {
    this.#template = template;
    this.#scope = scope;
  }

  /** Returns the tokens that replace a token with variables. */
  write(token: Token, place: Place): Written {
    const pieces = piecesOf(this.#template, token.start, token.end);
    if (token.kind === 'string') return [this.#string(token.text[0] as string, pieces, place)];
    const first = pieces.find((piece) => typeof piece !== 'string') as Reference;
    if (place.is === 'group') return this.#labels(pieces, first);
    const text = pieces.map((piece) => (typeof piece === 'string' ? piece : this.#one(piece))).join('');
    if (place.is === 'label') return [isLabel(text) ? text : quoted(text.toWellFormed())];
    if (place.is === 'condition') throw refused(first, 'cannot replace conditions, only their names and values');
    return this.#amountOrName(text.trim(), first, place);
  }

  #value(reference: Reference): VariableValue {
    return this.#scope.get(reference.name) as VariableValue;
  }

  /** Returns the value where only one is permitted. */
  #one(reference: Reference): string {
    const value = this.#value(reference);
    if (reference.format !== undefined && value.values.length < 2)
      return formatted(value, reference.name, reference.format);
    if (value.values.length === 1) return value.values[0] as string;
    throw refused(reference, `has ${value.values.length === 0 ? 'no value' : 'several values'} where one is expected`);
  }

  #string(quote: string, pieces: readonly (string | Reference)[], place: Place): string {
    let text = '';
    for (const [index, piece] of pieces.entries()) {
      if (typeof piece !== 'string') {
        text += inText(this.#value(piece), piece, place, pieces.length === 3 && pieces[0] === pieces[2]);
        continue;
      }
      const from = index === 0 ? 1 : 0;
      const to = index === pieces.length - 1 ? piece.length - 1 : piece.length;
      const literal = unquoted(quote + piece.slice(from, to) + quote);
      if (literal === undefined) throw invalid('expression', `a variable is inside an escape sequence: ${piece}`);
      text += literal;
    }
    return quoted(text.toWellFormed());
  }

  #labels(pieces: readonly (string | Reference)[], first: Reference): Written {
    const { values } = this.#value(first);
    const names =
      pieces.length === 1
        ? values
        : [pieces.map((piece) => (typeof piece === 'string' ? piece : this.#one(piece))).join('')];
    if (names.includes('')) throw refused(first, 'is empty where the name of a label is expected');
    return names.flatMap((name, index) => [
      ...(index === 0 ? [] : [',']),
      isLabel(name) && kindOf(name) !== 'number' ? name : quoted(name.toWellFormed()),
    ]);
  }

  #amountOrName(text: string, first: Reference, place: Place): Written {
    const sign = /^[+-]/.exec(text)?.[0] ?? '';
    if (isAmount(text.slice(sign.length))) {
      if (sign === '') return [text];
      const words = [sign, text.slice(sign.length)];
      if (place.is === 'shift') return words;
      if (place.is !== 'range') return ['(', ...words, ')'];
    }
    if (place.is === 'range' || place.is === 'shift')
      throw refused(first, `must be a duration there, such as 5m: ${quoted(text)}`);
    if (text === '') throw refused(first, 'is empty where a name or a number is expected');
    if (isName(text) && ['identifier', 'metric', 'aggregator'].includes(kindOf(text))) return [text];
    if (place.isCalled) throw refused(first, `must be the name of a function there: ${quoted(text)}`);
    const name = quoted(text.toWellFormed());
    return place.hasBraces ? [name] : ['{', name, '}'];
  }
}

const kindOf = (text: string): Kind => (wordsOf(text)[0] as Token).kind;

/** Joins tokens with the text between them. */
class Assembly {
  readonly words: string[] = [];
  #text = '';
  #from = 0;
  /** A quoted metric name, which is moved into the following braces. */
  #waiting: string | undefined;
  readonly #template: Template;

  constructor(template: Template) {
    this.#template = template;
  }

  add(token: Token, written: Written, hasBraces: boolean, behind: Token | undefined): void {
    this.#text += this.#template.text.slice(this.#from, token.start);
    this.#from = token.end;
    if (hasBraces && written[0]?.startsWith('"') === true) {
      this.#waiting = written[0];
      return;
    }
    const words = this.#waiting === undefined ? written : ['{', this.#waiting, ...(behind?.text === '}' ? [] : [','])];
    this.#waiting = undefined;
    this.#text += words.join(' ');
    this.words.push(...words);
  }

  get text(): string {
    return this.#text + this.#template.text.slice(this.#from);
  }
}

const assembled = (template: Template, tokens: readonly Token[], scope: Scope): Assembly => {
  const writer = new Writer(template, scope);
  const places = placesOf(tokens);
  const assembly = new Assembly(template);
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'end') break;
    const place = places[index] as Place;
    const isUsed = template.marks.some(({ at }) => at >= token.start && at < token.end);
    const written = isUsed ? writer.write(token, place) : [token.text];
    assembly.add(token, written, isUsed && place.hasBraces, tokens[index + 1]);
  }
  return assembly;
};

/**
 * Returns an expression with its variables replaced. Throws a `QueryError` if a value is not valid at its position.
 * Whatever the values contain, other tokens are unchanged, and each variable becomes only as many tokens as its
 * position permits.
 */
export const inPromql = (expression: string, scope: Scope): string => {
  const references = referencesIn(expression, scope);
  if (references.length === 0) return expression;
  const reading = new Reading();
  const template = templateOf(expression, references, (before, from) => reading.markBehind(before, from));
  const tokens = wordsOf(template.text);
  const last = tokens.at(-1) as Token;
  if (last.kind === 'error') throw invalid('expression', `is not valid PromQL: ${last.name}`);
  const { text, words } = assembled(template, tokens, scope);
  const read = wordsOf(text).filter(({ kind }) => kind !== 'end');
  if (read.length !== words.length || read.some((word, index) => word.text !== words[index]))
    throw invalid('expression', 'has a variable whose value would change the meaning of the expression');
  return text;
};
