/** Syntax tree of a Go template. */
import { TemplateError } from './errors.ts';
import { lex, type Token } from './lex.ts';

export type Operand =
  | { readonly kind: 'dot' | 'nil' }
  | { readonly kind: 'constant'; readonly value: string | number | bigint | boolean }
  | { readonly kind: 'variable' | 'function'; readonly name: string }
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline }
  | { readonly kind: 'field'; readonly of: Operand; readonly name: string };

export interface Pipeline {
  readonly names: readonly string[];
  /** Whether it assigns to an existing variable. */
  readonly assigns: boolean;
  readonly commands: readonly (readonly Operand[])[];
}

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipeline: Pipeline }
  | { readonly kind: 'break' | 'continue' }
  | {
      readonly kind: 'if' | 'with' | 'range';
      readonly pipeline: Pipeline;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
    };

/** Maximum nesting: parser and evaluator are recursive. */
const deepest = 50;

class Parser {
  readonly #tokens: readonly Token[];
  readonly #known: (name: string) => boolean;
  #at = 0;
  #depth = 0;
  #ranges = 0;
  #variables: string[] = ['$', '$labels', '$externalLabels', '$externalURL', '$value', '$threshold'];

  constructor(tokens: readonly Token[], known: (name: string) => boolean) {
    this.#tokens = tokens;
    this.#known = known;
  }

  run(): readonly Node[] {
    const { nodes, ended } = this.#list();
    if (ended !== '') throw new TemplateError(`{{ ${ended} }} has no opening action`);
    return nodes;
  }

  get #token(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '' };
  }

  #next(): Token {
    const token = this.#token;
    this.#at++;
    return token;
  }

  #skipSpace(): void {
    while (this.#token.kind === 'space') this.#at++;
  }

  #isSign(text: string): boolean {
    return this.#token.kind === 'sign' && this.#token.text === text;
  }

  #nested<Result>(parse: () => Result): Result {
    if (++this.#depth > deepest) throw new TemplateError(`it is nested more than ${deepest} levels deep`);
    const result = parse();
    this.#depth--;
    return result;
  }

  /** Parses nodes up to `end` or `else`, whose keyword is consumed, or to the end of the template. */
  #list(): { readonly nodes: readonly Node[]; readonly ended: string } {
    const nodes: Node[] = [];
    for (;;) {
      const { kind, text } = this.#next();
      if (kind === 'end') return { nodes, ended: '' };
      if (kind === 'text') {
        nodes.push({ kind, text });
        continue;
      }
      this.#skipSpace();
      const word = this.#token.kind === 'word' ? this.#token.text : '';
      if (word === 'end' || word === 'else') {
        this.#at++;
        return { nodes, ended: word };
      }
      nodes.push(this.#nested(() => this.#action(word)));
    }
  }

  #action(word: string): Node {
    switch (word) {
      case 'if':
      case 'with':
      case 'range':
        this.#at++;
        return this.#control(word);
      case 'break':
      case 'continue':
        this.#at++;
        if (this.#ranges === 0) throw new TemplateError(`{{ ${word} }} is outside of range`);
        this.#close();
        return { kind: word };
      case 'define':
      case 'template':
      case 'block':
        throw new TemplateError(`${word} is unknown here`);
      default:
        return { kind: 'action', pipeline: this.#pipeline('close') };
    }
  }

  #close(): void {
    this.#skipSpace();
    if (this.#next().kind !== 'close') throw new TemplateError('}} is missing');
  }

  #control(kind: 'if' | 'with' | 'range'): Node {
    const variables = [...this.#variables];
    const pipeline = this.#pipeline('close', kind === 'range' ? 2 : 1);
    if (kind === 'range') this.#ranges++;
    const { nodes: body, ended } = this.#list();
    if (kind === 'range') this.#ranges--;
    const otherwise = ended === 'else' ? this.#otherwise() : [];
    if (ended === '') throw new TemplateError(`{{ ${kind} }} has no {{ end }}`);
    if (ended === 'end') this.#close();
    this.#variables = variables;
    return { kind, pipeline, body, otherwise };
  }

  #otherwise(): readonly Node[] {
    this.#skipSpace();
    const { kind, text } = this.#token;
    if (kind === 'word' && (text === 'if' || text === 'with')) {
      this.#at++;
      return [this.#nested(() => this.#control(text))];
    }
    this.#close();
    const { nodes, ended } = this.#list();
    if (ended !== 'end') throw new TemplateError('{{ else }} has no {{ end }}');
    this.#close();
    return nodes;
  }

  /** Parses up to and including `}}` or the parenthesis. */
  #pipeline(end: 'close' | ')', maxNames = 1): Pipeline {
    const { names, assigns } = this.#declaration(maxNames);
    const commands: (readonly Operand[])[] = [];
    for (;;) {
      commands.push(this.#command());
      if (this.#isSign('|')) {
        this.#at++;
        continue;
      }
      this.#ended(end);
      break;
    }
    if (!assigns) this.#variables.push(...names);
    return { names, assigns, commands };
  }

  #ended(end: 'close' | ')'): void {
    const { kind, text } = this.#next();
    if (end === 'close' ? kind === 'close' : kind === 'sign' && text === end) return;
    throw new TemplateError(end === ')' && kind === 'close' ? ') is missing' : `${JSON.stringify(text)} is unexpected`);
  }

  #declaration(maxNames: number): { readonly names: readonly string[]; readonly assigns: boolean } {
    const from = this.#at;
    const names = this.#names(maxNames);
    if (names.length === 0 || !(this.#isSign(':=') || this.#isSign('='))) {
      this.#at = from;
      return { names: [], assigns: false };
    }
    const assigns = this.#next().text === '=';
    if (assigns) for (const name of names) this.#declared(name);
    return { names, assigns };
  }

  /** Parses variables separated by commas; none if a comma is not followed by a variable. */
  #names(maxNames: number): readonly string[] {
    const names: string[] = [];
    for (;;) {
      this.#skipSpace();
      if (this.#token.kind !== 'variable' || names.length === maxNames) return [];
      names.push(this.#next().text);
      this.#skipSpace();
      if (!this.#isSign(',')) return names;
      this.#at++;
    }
  }

  #declared(name: string): string {
    if (!this.#variables.includes(name)) throw new TemplateError(`the variable ${name} is unknown`);
    return name;
  }

  #command(): readonly Operand[] {
    const operands: Operand[] = [];
    for (;;) {
      this.#skipSpace();
      if (this.#token.kind === 'close' || this.#isSign('|') || this.#isSign(')')) break;
      operands.push(this.#nested(() => this.#operand()));
      if (!this.#isBehindOperand()) throw new TemplateError(`${JSON.stringify(this.#token.text)} is unexpected`);
    }
    if (operands.length === 0) throw new TemplateError('a value is missing');
    return operands;
  }

  #isBehindOperand(): boolean {
    const { kind } = this.#token;
    return kind === 'space' || kind === 'close' || this.#isSign('|') || this.#isSign(')');
  }

  #operand(): Operand {
    let operand = this.#term();
    for (let count = 0; this.#token.kind === 'field'; count++) {
      if (count >= deepest) throw new TemplateError(`it is nested more than ${deepest} levels deep`);
      operand = { kind: 'field', of: operand, name: this.#next().text };
    }
    return operand;
  }

  #term(): Operand {
    const { kind, text } = this.#next();
    switch (kind) {
      case 'string':
        return { kind: 'constant', value: text };
      case 'int':
        return {
          kind: 'constant',
          value: text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text.replace('+', '')),
        };
      case 'float':
        return { kind: 'constant', value: Number(text) };
      case 'variable':
        return { kind, name: this.#declared(text) };
      case 'field':
        return { kind, of: { kind: 'dot' }, name: text };
      case 'word':
        return this.#named(text);
      default:
        if (text === '.') return { kind: 'dot' };
        if (text === '(') return { kind: 'pipeline', pipeline: this.#pipeline(')') };
        throw new TemplateError(kind === 'end' ? '}} is missing' : `${JSON.stringify(text)} is unexpected`);
    }
  }

  #named(name: string): Operand {
    if (name === 'true' || name === 'false') return { kind: 'constant', value: name === 'true' };
    if (name === 'nil') return { kind: 'nil' };
    if (!this.#known(name)) throw new TemplateError(`the function ${name} is unknown here`);
    return { kind: 'function', name };
  }
}

/** Parses a template. Throws `TemplateError` for an invalid template. */
export const parseTemplate = (source: string, known: (name: string) => boolean): readonly Node[] =>
  new Parser(lex(source), known).run();
